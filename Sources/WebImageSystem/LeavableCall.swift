import CShimSystem
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A long call of a library that cannot be interrupted: it runs on a thread of its own, and its caller can leave it.
///
/// What is left goes on until it ends by itself, with all that the call holds. So that they do not add up, there are
/// never more than ``LeftCalls/most`` of them in the process: while there are as many, none is begun.
package final class LeavableCall<Result: Sendable>: @unchecked Sendable {
    // Sendable: everything mutable is guarded by `mutex`; a condition variable needs a pthread mutex.
    package enum Outcome {
        case ended(Result)
        /// It still runs.
        case left
        /// It was not begun, because there are as many that were left as there may be.
        case refused
        /// It was not begun, because there is no thread to be had.
        case noThread
    }

    private let body: @Sendable () -> Result
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let ended = MonotonicCondition()
    // Unchecked for the reason told in ThreadPool.
    @exclusivity(unchecked) private var result: Result?
    @exclusivity(unchecked) private var isLeft = false

    private init(_ body: @escaping @Sendable () -> Result) {
        self.body = body
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        ended.destroy()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Blocks until `body` has ended or is left.
    ///
    /// - Parameters:
    ///   - stackSize: of its thread, in bytes; memory is taken for the part that is used.
    ///   - leaves: asked every 20 milliseconds whether to leave it.
    package static func run(
        stackSize: Int, leaves: () -> Bool, _ body: @escaping @Sendable () -> Result
    ) -> Outcome {
        guard LeftCalls.hasRoom else { return .refused }
        let call = LeavableCall(body)
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
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result { return .ended(result) }
            guard !ended.wait(mutex, atMost: .milliseconds(20)), result == nil else { continue }
            pthread_mutex_unlock(mutex)
            let isEnough = leaves()
            pthread_mutex_lock(mutex)
            guard isEnough, result == nil else { continue }
            isLeft = true
            LeftCalls.add(1)
            return .left
        }
    }
}

extension LeavableCall: RunningCall {
    fileprivate func run() {
        let result = body()
        pthread_mutex_lock(mutex)
        self.result = result
        if isLeft { LeftCalls.add(-1) }
        ended.signal()
        pthread_mutex_unlock(mutex)
    }
}

/// A call whatever its result is, which a C function can begin.
private protocol RunningCall: AnyObject {
    func run()
}

private final class Begun {
    let call: any RunningCall
    init(_ call: any RunningCall) { self.call = call }
}

/// How many calls in the process were left and still run.
package enum LeftCalls {
    /// Each holds a thread that burns, and the memory of its drawing.
    package static let most = 2

    private static let count = Guarded(0)

    package static var hasRoom: Bool { count.withLock { $0 < most } }
    package static var current: Int { count.withLock { $0 } }

    fileprivate static func add(_ change: Int) { count.withLock { $0 += change } }
}
