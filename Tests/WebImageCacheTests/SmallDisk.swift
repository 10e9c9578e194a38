import Testing
import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A real file system of a few MiB in memory, which is unmounted when the object goes. Only root may make one.
final class SmallDisk {
    private let scratch: Scratch
    let path: String

    init(mebibytes: Int) throws {
        scratch = try Scratch()
        path = scratch.path + "/disk"
        mkdir(path, 0o700)
        guard Self.mountMemory(path, "size=\(mebibytes)m") else {
            throw WebImageError(.cannotWrite, "a small disk cannot be mounted: error \(errno)", location: path)
        }
    }

    deinit { Self.unmount(path) }

    #if os(Linux)
        private static func mountMemory(_ path: String, _ options: String) -> Bool {
            mount("tmpfs", path, "tmpfs", 0, options) == 0
        }

        private static func unmount(_ path: String) { umount2(path, Int32(MNT_DETACH)) }
    #else
        private static func mountMemory(_ path: String, _ options: String) -> Bool { false }

        private static func unmount(_ path: String) {}
    #endif

    /// Whether a small disk can be made: only on Linux, only by root, and not in every container.
    static var isToBeHad: Bool { (try? SmallDisk(mebibytes: 1)) != nil }
}
