import Glibc
import Testing
import WebImageCore

/// A real file system of a few MiB in memory, which goes with the value. Only root may make one.
final class SmallDisk {
    private let scratch: Scratch
    let path: String

    init(mebibytes: Int) throws {
        scratch = try Scratch()
        path = scratch.path + "/disk"
        mkdir(path, 0o700)
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(mebibytes)m") == 0 else {
            throw WebImageError(.cannotWrite, "a small disk cannot be mounted: error \(errno)", location: path)
        }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }

    /// Not for others than root, and not in every container.
    static var isToBeHad: Bool { (try? SmallDisk(mebibytes: 1)) != nil }
}
