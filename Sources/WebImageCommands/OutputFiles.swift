import Foundation
import WebImage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Writes an output so that it is there whole or not at all.
enum OutputFiles {
    /// - Parameter path: `-` is standard output.
    /// - Throws: `cannotWrite`, `permissionDenied`, `noSpace`.
    static func write(_ bytes: [UInt8], to path: String) throws(WebImageError) {
        if let stream = descriptor(path) {
            return try check(Console.send(bytes, to: stream), stream == 1 ? "standard output" : path)
        }
        var status = stat()
        guard stat(path, &status) == 0 else { return try replace(target(of: path), with: bytes, mode: nil) }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: throw isFolder(path)
        case S_IFREG:
            // Renaming needs no permission for the file that goes, but who made it read-only meant it.
            guard access(path, W_OK) == 0 else { throw error(errno, path) }
            try replace(target(of: path), with: bytes, mode: status.st_mode & 0o7777)
        // A device or a pipe cannot be replaced by a file.
        default: try writeInPlace(bytes, path)
        }
    }

    /// Whether a path stands for standard output, which has nothing else then.
    static func isStandardOutput(_ path: String) -> Bool { descriptor(path) == 1 }

    /// The open file that a path stands for. It is written to as it is: the shell may have led it into a file that has more than
    /// this picture.
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

    /// Whether an output is standard output, a device or a pipe, whose name says nothing of what goes there.
    static func isStream(_ path: String) -> Bool {
        var status = stat()
        if descriptor(path) != nil { return true }
        return stat(path, &status) == 0 && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    /// Where symbolic links lead, also to what is not there yet: the links stay, and the file behind them is replaced.
    private static func target(of path: String) -> String {
        var path = path
        // As many as Linux follows.
        for _ in 0..<40 {
            guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { break }
            let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
            path = next.hasPrefix("/") ? next : folder + next
        }
        return path
    }

    private static func writeInPlace(_ bytes: [UInt8], _ path: String) throws(WebImageError) {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw error(errno, path) }
        let number = Console.send(bytes, to: file)
        close(file)
        try check(number, path)
    }

    private static func replace(_ path: String, with bytes: [UInt8], mode: mode_t?) throws(WebImageError) {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        // Not made of the output's own name, which may have the greatest length already.
        let temporary = "\(folder).webimage-\(UInt64.random(in: .min ... .max)).part"
        #if os(Linux)
            if let number = replaceAtOnce(path, with: bytes, mode: mode, in: String(folder), temporary) {
                return try check(number, path)
            }
        #endif
        // While it is written, nobody else reads what the older file kept to its owner.
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode == nil ? 0o666 : 0o600)
        guard file >= 0 else { throw error(errno, path) }
        var number = Console.send(bytes, to: file)
        if let mode { _ = fchmod(file, mode) }
        if close(file) != 0, number == 0 { number = errno }
        if number == 0, rename(temporary, path) != 0 { number = errno }
        if number != 0 { unlink(temporary) }
        try check(number, path)
    }

    #if os(Linux)
        /// `O_TMPFILE` of `open(2)`, whose macro Swift does not see.
        private static let isNameless = 0o20_000_000 | O_DIRECTORY

        /// The same by a file that gets its name when it is whole: who ends this process meanwhile leaves nothing behind.
        ///
        /// - Returns: 0, or what went wrong; nil where the file system has no files without names.
        private static func replaceAtOnce(
            _ path: String, with bytes: [UInt8], mode: mode_t?, in folder: String, _ temporary: String
        ) -> Int32? {
            let file = open(folder.isEmpty ? "." : folder, O_WRONLY | O_CLOEXEC | isNameless, 0o666)
            guard file >= 0 else { return nil }
            defer { close(file) }
            let number = Console.send(bytes, to: file)
            guard number == 0 else { return number }
            if let mode { _ = fchmod(file, mode) }
            // Renamed also where there is nothing to replace: programs that watch folders look for that.
            let own = "/proc/self/fd/\(file)"
            guard linkat(AT_FDCWD, own, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) == 0 else { return nil }
            guard rename(temporary, path) != 0 else { return 0 }
            let reason = errno
            unlink(temporary)
            return reason
        }
    #endif

    /// Makes a folder and those above it.
    static func makeDirectory(_ path: String) throws(WebImageError) {
        var end = path.startIndex
        while end < path.endIndex {
            end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
            let part = String(path[..<end])
            guard mkdir(part, 0o777) != 0, errno != EEXIST else { continue }
            // What is there already may stand on a disk that cannot be written.
            let number = errno
            var status = stat()
            guard stat(part, &status) == 0 else { throw error(number, path, "made") }
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw error(errno, path, "made") }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw error(ENOTDIR, path, "made") }
    }

    private static func check(_ number: Int32, _ path: String) throws(WebImageError) {
        if number != 0 { throw error(number, path) }
    }

    private static func error(_ number: Int32, _ path: String, _ verb: String = "written") -> WebImageError {
        let code: WebImageError.Code =
            switch number {
            case EACCES, EPERM, EROFS: .permissionDenied
            case ENOSPC, EDQUOT: .noSpace
            default: .cannotWrite
            }
        let reason = Console.reason(of: number)
        return WebImageError(code, "'\(Console.shown(path))' cannot be \(verb): \(reason)", location: path)
    }
}
