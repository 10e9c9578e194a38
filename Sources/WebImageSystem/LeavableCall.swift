import CShimSystem
import Synchronization

/// A long library call that cannot be interrupted: it runs on a thread of its own, and its caller can abandon it.
///
/// An abandoned call continues until it ends by itself, with all that it retains. To limit their number, no call is
/// begun while ``LeftCalls`` has reached its maximum.
package final class LeavableCall<Result: Sendable>: Sendable {
    package enum Outcome {
        case ended(Result)
        /// The caller has abandoned the call, which is still running.
        case left
        /// The call was not begun, because too many abandoned calls are running.
        case refused
        /// The call was not begun, because the system has no thread left.
        case noThread
    }

    private let body: @Sendable () -> Result
    private let left: LeftCalls
    private let state = Monitor(State())

    private struct State {
        var result: Result?
        var isLeft = false
    }

    private init(_ left: LeftCalls, _ body: @escaping @Sendable () -> Result) {
        self.left = left
        self.body = body
    }

    /// Blocks until `body` has ended or is abandoned.
    ///
    /// - Parameters:
    ///   - left: counts the call if it is abandoned.
    ///   - stackSize: the stack size of its thread, in bytes; only the used part takes memory.
    ///   - leaves: called every 20 milliseconds; returns whether to abandon the call.
    package static func run(
        among left: LeftCalls = .ofProcess, stackSize: Int, leaves: () -> Bool,
        _ body: @escaping @Sendable () -> Result
    ) -> Outcome {
        guard left.hasRoom else { return .refused }
        let call = LeavableCall(left, body)
        let context = Unmanaged.passRetained(Begun(call)).toOpaque()
        let hasBegun = wi_start_on_stack(
            stackSize,
            { context in
                guard let context else { return nil }
                wi_name_thread("webimage-draw")
                Unmanaged<Begun>.fromOpaque(context).takeRetainedValue().call.run()
                return nil
            }, context)
        guard hasBegun == 0 else {
            Unmanaged<Begun>.fromOpaque(context).release()
            return .noThread
        }
        return call.wait(leaves)
    }

    private func wait(_ leaves: () -> Bool) -> Outcome {
        while true {
            if let result = state.wait(atMost: .milliseconds(20), for: \.result) { return .ended(result) }
            guard leaves() else { continue }
            return state.withLock { state in
                if let result = state.result { return .ended(result) }
                state.isLeft = true
                left.add(1)
                return .left
            }
        }
    }
}

extension LeavableCall: RunningCall {
    fileprivate func run() {
        let result = body()
        state.withLock { state in
            state.result = result
            if state.isLeft { left.add(-1) }
        }
    }
}

/// A call with any type of result, which a C function can begin.
private protocol RunningCall: AnyObject {
    func run()
}

private final class Begun {
    let call: any RunningCall
    init(_ call: any RunningCall) { self.call = call }
}

/// The number of abandoned calls that are still running, and its maximum.
package final class LeftCalls: Sendable {
    /// Two, because each occupies a thread and the memory of its drawing.
    package static let ofProcess = LeftCalls(most: 2)

    package let most: Int
    private let count = Guarded(0)

    package init(most: Int) { self.most = most }

    package var hasRoom: Bool { current < most }
    package var current: Int { count.withLock { $0 } }

    fileprivate func add(_ change: Int) { count.withLock { $0 += change } }
}
