import CShimSystem
package import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Writes files so that they are there whole or not at all.
package enum AtomicFile {
    /// Writes a file, or replaces an older one, whose permissions and owner it keeps as far as the system allows. A file that
    /// is read-only is refused. Symbolic links are followed, also to what is not there yet. A device or a pipe is written to
    /// as it is. Blocks.
    ///
    /// - Parameter isSynchronised: whether the bytes are on the disk before the older file goes, so that one of the two is
    ///   there after a power failure.
    package static func write(_ bytes: [UInt8], to path: String, isSynchronised: Bool = false) throws(FileFault) {
        var older = stat()
        guard stat(path, &older) == 0 else {
            guard errno == ENOENT else { throw FileFault("stat", path, errno) }
            return try replace(target(of: path), nil, bytes, isSynchronised)
        }
        switch older.st_mode & S_IFMT {
        case S_IFDIR: throw FileFault("open", path, EISDIR)
        case S_IFREG:
            // Renaming needs no permission for the file that goes, but who made it read-only meant it.
            guard access(path, W_OK) == 0 else { throw FileFault("access", path, errno) }
            try replace(target(of: path), older, bytes, isSynchronised)
        // A device or a pipe cannot be replaced by a file.
        default:
            let file = open(path, O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { throw FileFault("open", path, errno) }
            defer { close(file) }
            try send(bytes, to: file)
        }
    }

    /// Writes all bytes to what is open already: a pipe, a terminal, a file from where it is. Blocks.
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

    /// Where symbolic links lead, also to what is not there yet: the links stay, and the file behind them is replaced.
    private static func target(of path: String) -> String {
        var path = path
        // As many as Linux follows.
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

    /// Ends in a slash; empty for the working directory.
    private static func folder(of path: String) -> Substring { path.lastIndex(of: "/").map { path[...$0] } ?? "" }

    private static func replace(
        _ path: String, _ older: stat?, _ bytes: [UInt8], _ isSynchronised: Bool
    ) throws(FileFault) {
        let folder = folder(of: path)
        // Not made of the file's own name, which may have the greatest length already.
        let temporary = "\(folder).webimage-\(UInt64.random(in: .min ... .max)).part"
        func fill(_ file: Int32) throws(FileFault) {
            try send(bytes, to: file)
            if let older { keepRights(of: older, file) }
            if isSynchronised { try PosixFileSystem().sync(file) }
        }
        if try !makeNameless(temporary, in: folder.isEmpty ? "." : String(folder), fill) {
            try make(temporary, isPrivate: older != nil, fill)
        }
        // Renamed also where there is nothing to replace: programs that watch folders look for that.
        do throws(FileFault) {
            try PosixFileSystem().rename(temporary, to: path)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Makes a file that gets its name when it is whole: who ends this process meanwhile leaves nothing behind.
    ///
    /// - Returns: false where the file system has no files without names.
    private static func makeNameless(
        _ path: String, in folder: String, _ fill: (Int32) throws(FileFault) -> Void
    ) throws(FileFault) -> Bool {
        let file = wi_open_nameless(folder, 0o666)
        guard file >= 0 else { return false }
        defer { close(file) }
        try fill(file)
        return linkat(AT_FDCWD, "/proc/self/fd/\(file)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
    }

    /// - Parameter isPrivate: while it is written, nobody else reads what the older file kept to its owner.
    private static func make(
        _ path: String, isPrivate: Bool, _ fill: (Int32) throws(FileFault) -> Void
    ) throws(FileFault) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isPrivate ? 0o600 : 0o666)
        guard file >= 0 else { throw FileFault("open", path, errno) }
        var fault: FileFault?
        do throws(FileFault) { try fill(file) } catch { fault = error }
        // File systems of a network may notice only now that the disk is full.
        if close(file) != 0, fault == nil { fault = FileFault("close", path, errno) }
        guard let fault else { return }
        unlink(path)
        throw fault
    }

    private static func keepRights(of older: stat, _ file: Int32) {
        // Only an administrator gives files away; others can still keep the group. Before the mode, of which it clears bits.
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

/// The system's call, which the method of that name hides.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
