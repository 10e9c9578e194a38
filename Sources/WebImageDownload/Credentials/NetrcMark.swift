import Synchronization
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Identifies the state of a `.netrc` file. The file's status is checked each time, since a recent change must take
/// effect, but the file is read only if it has, or may have, changed, because the calling thread may not be allowed to
/// wait.
enum NetrcMark {
    private struct Stamp: Hashable {
        let inode: UInt64
        let size: Int
        let changed: Int
        let nanoseconds: Int
    }

    private static let longest = 256 << 10
    private static let maxKnown = 16
    /// In seconds: a file that was changed more recently may change again without a visible difference.
    private static let restless = 3
    private static let known = Guarded<[String: (stamp: Stamp, text: String)]>([:])

    /// A digest of the file's content; empty if it cannot be read.
    static func text(of path: String) -> String {
        guard let stamp = stamp(of: path) else { return "" }
        if let found = known.withLock({ $0[path] }), found.stamp == stamp { return found.text }
        let text = read(path)
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        if Int(now.tv_sec) - stamp.changed > restless {
            known.withLock { known in
                if known.count >= maxKnown { known.removeAll() }
                known[path] = (stamp, text)
            }
        }
        return text
    }

    private static func stamp(of path: String) -> Stamp? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if os(Linux)
            let time = status.st_ctim
        #else
            let time = status.st_ctimespec
        #endif
        return Stamp(
            inode: UInt64(status.st_ino), size: Int(status.st_size), changed: Int(time.tv_sec),
            nanoseconds: time.tv_nsec)
    }

    private static func read(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return "" }
        defer { close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: longest) { buffer, count in
            while count < longest {
                let done = systemRead(file, buffer.baseAddress.map { $0 + count }, longest - count)
                guard done > 0 else { break }
                count += done
            }
        }
        return CredentialScope.digest(bytes)
    }
}

/// Calls the system's `read`, which the method of that name hides.
private func systemRead(_ file: Int32, _ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int) -> Int {
    read(file, buffer, count)
}
