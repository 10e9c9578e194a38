/// An answer for one thread, which blocks until it is given. Only the first answer counts.
package final class BlockingAnswer<Value: Sendable>: Sendable {
    private let answer = Monitor<Value?>(nil)

    package init() {}

    package func give(_ answer: Value) {
        self.answer.withLock { if $0 == nil { $0 = answer } }
    }

    /// Waits for the answer; blocks. Only one thread may call it, once.
    package func value() -> Value { answer.wait { $0 } }
}
