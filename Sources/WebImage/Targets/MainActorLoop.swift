import WebImageSystem

/// Serves Swift's main actor from a loop that knows nothing of it: that of a toolkit, or one of a program's own.
///
/// Such a loop keeps the main thread for itself, so that whatever waits for the main actor would wait for ever. Have it watch
/// ``fileDescriptor``, and call ``serve()`` on the main thread whenever that can be read. The loop must begin before the
/// program has waited for anything with `await`: behind that the main function may go on on another thread.
///
/// A program whose main function is async and that has no other loop needs none of it.
public enum MainActorLoop {
    /// Becomes readable when something waits for the main actor. It belongs to the system and must not be closed. -1 where
    /// the system's own loops serve the main actor: everywhere but on Linux.
    public static var fileDescriptor: Int32 { MainQueue.fileDescriptor }

    /// Runs what waits for the main actor now.
    public static func serve() { MainQueue.run() }
}
