/// Threads that help with one piece of work while nobody else wants them.
package protocol IdleThreads: AnyObject, Sendable {
    /// How many have nothing to do; 0 while any work waits.
    var idleCount: Int { get }

    /// Calls `part` once for each number below `count`, on this thread and on idle ones, and returns when all calls have ended.
    ///
    /// Others begin no part while any other work waits. Parts are begun in order.
    func share(_ count: Int, _ part: @escaping @Sendable (Int) -> Void)
}
