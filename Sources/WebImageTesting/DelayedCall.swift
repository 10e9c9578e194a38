/// A call to a ``FaultyFileSystem`` that waits: the test knows when it has come, and lets it go on.
package struct DelayedCall: Sendable {
    private let arrival = Gate()
    private let end = Gate()

    /// Blocks until the call is made.
    package func waitUntilMade() { arrival.wait() }

    /// Returns once the call is made; takes no thread.
    package func made() async { await arrival.opened() }

    package var isMade: Bool { arrival.isOpen }

    /// Lets the call go on, or pass when it comes later.
    package func release() { end.open() }

    func pass() {
        arrival.open()
        end.wait()
    }
}
