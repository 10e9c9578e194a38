/// Idle threads that help with one piece of work.
package protocol IdleThreads: AnyObject, Sendable {
    /// The number of idle threads; 0 while any work is waiting.
    var idleCount: Int { get }

    /// Calls `part` once for each number below `count`, on this thread and on idle ones. Returns when all calls have
    /// ended.
    ///
    /// Parts begin in order. The other threads begin no part while other work is waiting.
    func share(_ count: Int, _ part: @escaping @Sendable (Int) -> Void)

    /// Calls `work` on this thread and, while it runs, `help` on an idle thread. Returns when both have ended. `help`
    /// is not called if no thread is idle.
    ///
    /// - Parameter help: gets a closure that says whether it may continue, which is false once other work is waiting.
    func share(_ work: () -> Void, with help: @escaping @Sendable (_ goesOn: @escaping () -> Bool) -> Void)
}
