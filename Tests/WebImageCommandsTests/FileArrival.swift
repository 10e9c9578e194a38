import WebImageCore
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Waits for a file to be moved into a folder, by inotify.
final class FileArrival: Sendable {
    private let descriptor: Int32
    private let waiting = ThreadPool(name: "arrival", width: 1)

    /// Begins to watch the folder.
    init(in folder: String) throws {
        descriptor = inotify_init1(Int32(IN_CLOEXEC))
        guard descriptor >= 0, inotify_add_watch(descriptor, folder, UInt32(IN_MOVED_TO)) >= 0 else {
            throw WebImageError(.fileNotFound, "the folder cannot be watched", location: folder)
        }
    }

    deinit { close(descriptor) }

    /// - Returns: false if none came within five minutes.
    func wait() async -> Bool {
        await withCheckedContinuation { continuation in
            waiting.run(.normal) { [descriptor] in
                var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                continuation.resume(returning: poll(&watched, 1, 300_000) > 0)
            }
        }
    }
}

enum PosixFolder {
    static func make(_ path: String) throws { try PosixFileSystem().makeDirectory(path) }
}
