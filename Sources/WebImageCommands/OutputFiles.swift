import WebImage
import WebImageCore
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Writes outputs so that a file is complete or does not exist. Only a file that cannot be replaced, such as a mounted
/// one, is overwritten.
enum OutputFiles {
    /// - Parameter path: `-` is standard output.
    /// - Throws: `cannotWrite`, `permissionDenied`, `noSpace`.
    static func write(_ bytes: [UInt8], to path: String) throws(WebImageError) {
        do throws(FileFault) {
            if let stream = descriptor(path) {
                try AtomicFile.send(bytes, to: stream)
            } else {
                try AtomicFile.write(bytes, to: path, overwrites: true)
            }
        } catch  where error.errorNumber == EISDIR {
            throw isFolder(path)
        } catch {
            let name = isStandardOutput(path) ? "standard output" : path
            throw error.outputError("'\(Console.shown(name))' cannot be written", at: name)
        }
    }

    /// Whether a path stands for standard output, which then gets only the picture.
    static func isStandardOutput(_ path: String) -> Bool { descriptor(path) == 1 }

    /// The open file for which a path stands, such as standard output. Such a file is written to and not replaced,
    /// since the shell may have redirected it to a file that contains more than this picture.
    private static func descriptor(_ path: String) -> Int32? {
        switch path {
        case "-", "/dev/stdout": return 1
        case "/dev/stderr": return 2
        default: break
        }
        for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
            return Int32(path.dropFirst(folder.count))
        }
        return nil
    }

    /// - Throws: `cannotWrite` for a folder.
    static func checkIsNoFolder(_ path: String) throws(WebImageError) {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { throw isFolder(path) }
    }

    private static func isFolder(_ path: String) -> WebImageError {
        WebImageError(.cannotWrite, "the output '\(Console.shown(path))' is a folder", location: path)
    }

    /// Whether an output is standard output, a device or a pipe, whose name does not tell the format.
    static func isStream(_ path: String) -> Bool {
        var status = stat()
        if descriptor(path) != nil { return true }
        return stat(path, &status) == 0 && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    /// Makes a folder and its parents.
    static func makeDirectory(_ path: String) throws(WebImageError) {
        var end = path.startIndex
        while end < path.endIndex {
            end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
            let part = String(path[..<end])
            guard mkdir(part, 0o777) != 0, errno != EEXIST else { continue }
            // An existing folder may be on a read-only disk.
            let number = errno
            var status = stat()
            guard stat(part, &status) == 0 else { throw unmade(path, number) }
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw unmade(path, errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw unmade(path, ENOTDIR) }
    }

    private static func unmade(_ path: String, _ number: Int32) -> WebImageError {
        FileFault("mkdir", path, number).outputError("'\(Console.shown(path))' cannot be made", at: path)
    }
}
