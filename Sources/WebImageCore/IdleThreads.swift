/// Idle threads that help with one piece of work.
package protocol IdleThreads: AnyObject, Sendable {
    /// How many have nothing to do; 0 while any work waits.
    var idleCount: Int { get }

    /// Calls `part` once for each number below `count`, on this thread and on idle ones, and returns when all calls have ended.
    ///
    /// Others begin no part while any other work waits. Parts are begun in order.
    func share(_ count: Int, _ part: @escaping @Sendable (Int) -> Void)

    /// Calls `work` on this thread and, while it runs, `help` on an idle one, and returns when neither runs any more. Where no thread
    /// is idle, `help` is not called.
    ///
    /// - Parameter help: is given a closure that tells whether it may go on: not once other work waits.
    func share(_ work: () -> Void, with help: @escaping @Sendable (_ goesOn: @escaping () -> Bool) -> Void)
}
