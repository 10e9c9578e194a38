import WebImageSystem

/// Runs the work of Swift's main actor in an event loop that does not know about it: a toolkit's, or a program's own.
///
/// Such a loop occupies the main thread, so that work of the main actor would wait for ever. Let the loop watch
/// ``fileDescriptor``, and call ``serve()`` on the main thread whenever it becomes readable. The loop must start before
/// the program's first `await`: after that, the main function may continue on another thread.
///
/// A program with an async main function and no other loop does not need this.
public enum MainActorLoop {
    /// Becomes readable when the main actor has work. The descriptor belongs to the system and must not be closed. It
    /// is -1 where the system's own loops run the main actor: everywhere but on Linux.
    public static var fileDescriptor: Int32 { MainQueue.fileDescriptor }

    /// Runs the waiting work of the main actor.
    public static func serve() { MainQueue.run() }
}
