import CShimSystem
package import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Writes files atomically: a file has either its old content or all of the new.
package enum AtomicFile {
    /// Writes a file, or replaces an older one, whose permissions and owner it keeps as far as the system allows. A
    /// read-only file is refused. Symbolic links are followed, even if their target does not exist yet. A device or a
    /// pipe is written to directly. Blocks.
    ///
    /// - Parameters:
    ///   - isSynchronised: whether the bytes are on the disk before the older file is replaced, so that one of the two
    ///     survives a power failure.
    ///   - overwrites: whether a writable file that cannot be replaced is overwritten, which is not atomic: a mounted
    ///     file, or a file in a folder in which this process may not make or replace files.
    package static func write(
        _ bytes: [UInt8], to path: String, isSynchronised: Bool = false, overwrites: Bool = false
    ) throws(FileFault) {
        var older = stat()
        guard stat(path, &older) == 0 else {
            guard errno == ENOENT else { throw FileFault("stat", path, errno) }
            return try replace(target(of: path), nil, bytes, isSynchronised)
        }
        switch older.st_mode & S_IFMT {
        case S_IFDIR: throw FileFault("open", path, EISDIR)
        case S_IFREG:
            // Renaming needs no permission for the replaced file, but a file that was made read-only must stay.
            guard access(path, W_OK) == 0 else { throw FileFault("access", path, errno) }
            do throws(FileFault) {
                try replace(target(of: path), older, bytes, isSynchronised)
            } catch {
                guard overwrites, irreplaceable.contains(error.errorNumber) else { throw error }
                try overwrite(path, bytes, isSynchronised)
            }
        // A device or a pipe cannot be replaced by a file.
        default:
            let file = open(path, O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { throw FileFault("open", path, errno) }
            defer { close(file) }
            try send(bytes, to: file)
        }
    }

    /// Writes all bytes to an open pipe, terminal or file, to a file from its current position on. Blocks.
    package static func send(_ bytes: [UInt8], to descriptor: Int32) throws(FileFault) {
        try bytes.withBytes { bytes throws(FileFault) in
            var done = 0
            while done < bytes.count {
                let count = systemWrite(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if count >= 0 {
                    done += count
                } else if errno == EAGAIN {
                    // Another program that shares the terminal or pipe has made it non-blocking.
                    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&waiting, 1, -1)
                } else if errno != EINTR {
                    throw FileFault("write", "", errno)
                }
            }
        }
    }

    /// The path that symbolic links lead to, which need not exist yet: the links stay, and the file behind them is
    /// replaced.
    package static func target(of path: String) -> String {
        var path = path
        // Linux follows as many links.
        for _ in 0..<40 {
            guard let next = content(ofLink: path) else { break }
            path = next.hasPrefix("/") ? next : folder(of: path) + next
        }
        return path
    }

    private static func content(ofLink path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlink(path, start, buffer.count - 1)
            guard count >= 0 else { return nil }
            start[count] = 0
            return String(cString: start)
        }
    }

    /// The folder of a path, with the slash at its end; empty for the working directory.
    private static func folder(of path: String) -> Substring { path.lastIndex(of: "/").map { path[...$0] } ?? "" }

    /// The errors of making a temporary file, or of renaming it, that say nothing against writing to the older file.
    private static let irreplaceable = [EACCES, EPERM, EROFS, EBUSY, EXDEV]

    private static func overwrite(
        _ path: String, _ bytes: [UInt8], _ isSynchronised: Bool
    ) throws(FileFault) {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw FileFault("open", path, errno) }
        var fault: FileFault?
        do throws(FileFault) {
            // The old content must not be lost if there is no room for the new one.
            let refusal = wi_take_room(file, Int64(bytes.count))
            if refusal != 0 { throw FileFault("fallocate", path, refusal) }
            try send(bytes, to: file)
            guard ftruncate(file, off_t(bytes.count)) == 0 else { throw FileFault("ftruncate", path, errno) }
            if isSynchronised { try PosixFileSystem().sync(file) }
        } catch { fault = error }
        // Network file systems may report only now that the disk is full.
        if close(file) != 0, fault == nil { fault = FileFault("close", path, errno) }
        if let fault { throw fault }
    }

    private static func replace(
        _ path: String, _ older: stat?, _ bytes: [UInt8], _ isSynchronised: Bool
    ) throws(FileFault) {
        let folder = folder(of: path)
        // The name is not made from the file's own name, which may have the maximum length already.
        let temporary = "\(folder).webimage-\(UInt64.random(in: .min ... .max)).part"
        func fill(_ file: Int32) throws(FileFault) {
            try send(bytes, to: file)
            if let older { keepRights(of: older, file) }
            if isSynchronised { try PosixFileSystem().sync(file) }
        }
        if try !makeNameless(temporary, in: folder.isEmpty ? "." : String(folder), fill) {
            try make(temporary, isPrivate: older != nil, fill)
        }
        // Renamed even if there is nothing to replace: programs that watch folders wait for a rename.
        do throws(FileFault) {
            try PosixFileSystem().rename(temporary, to: path)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Makes a file that gets its name when it is complete: if the process is killed before, nothing is left behind.
    ///
    /// - Returns: false if the file system does not support files without names.
    private static func makeNameless(
        _ path: String, in folder: String, _ fill: (Int32) throws(FileFault) -> Void
    ) throws(FileFault) -> Bool {
        let file = wi_open_nameless(folder, 0o666)
        guard file >= 0 else { return false }
        defer { close(file) }
        try fill(file)
        return linkat(AT_FDCWD, "/proc/self/fd/\(file)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
    }

    /// - Parameter isPrivate: whether only the owner may read the file while it is written, as may have been so for the
    ///   older file.
    private static func make(
        _ path: String, isPrivate: Bool, _ fill: (Int32) throws(FileFault) -> Void
    ) throws(FileFault) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isPrivate ? 0o600 : 0o666)
        guard file >= 0 else { throw FileFault("open", path, errno) }
        var fault: FileFault?
        do throws(FileFault) { try fill(file) } catch { fault = error }
        // Network file systems may report only now that the disk is full.
        if close(file) != 0, fault == nil { fault = FileFault("close", path, errno) }
        guard let fault else { return }
        unlink(path)
        throw fault
    }

    private static func keepRights(of older: stat, _ file: Int32) {
        // Only an administrator may change the owner; others can still keep the group. Done before the mode is set,
        // because changing the owner clears bits of it.
        if fchown(file, older.st_uid, older.st_gid) != 0 { _ = fchown(file, .max, older.st_gid) }
        _ = fchmod(file, older.st_mode & 0o7777)
    }
}

extension FileFault {
    /// The error for a file or folder of the user's that cannot be written.
    ///
    /// - Parameter what: what failed: "the file cannot be written".
    package func outputError(_ what: String, at path: String) -> WebImageError {
        let code: WebImageError.Code =
            switch errorNumber {
            case EACCES, EPERM, EROFS: .permissionDenied
            case ENOSPC, EDQUOT: .noSpace
            default: .cannotWrite
            }
        return WebImageError(code, "\(what): \(SystemErrorText.of(errorNumber))", location: path)
    }
}

/// Calls the system's `write`, which the method of that name hides.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
