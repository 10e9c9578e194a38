import CShimSystem
package import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The real file system.
package struct PosixFileSystem: FileSystem {
    package init() {}

    package func open(_ path: FilePath, _ access: FileAccess) throws(FileFault) -> Int32 {
        let flags =
            switch access {
            case .read: O_RDONLY
            case .readOwn: O_RDONLY | O_NOFOLLOW
            case .updateOwn: O_RDWR | O_NOFOLLOW
            case .readWrite: O_RDWR | O_CREAT | O_NOFOLLOW
            case .createNew: O_RDWR | O_CREAT | O_EXCL
            }
        // O_NONBLOCK: opening a FIFO that someone left here must not wait for a writer.
        let all = flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        return try check("open", path) {
            path.directory == nil || access == .read
                ? openat(path.start, path.name, all, 0o600) : wi_open_without_links(path.start, path.name, all, 0o600)
        }
    }

    package func openDirectory(_ path: String) throws(FileFault) -> Int32 {
        try check("open", path) { openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
    }

    package func openTemporary(in directory: String) throws(FileFault) -> Int32 {
        try check("open", directory) { wi_open_temporary(directory) }
    }

    package func close(_ file: Int32) { _ = closeFile(file) }

    package func read(
        _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(FileFault) -> Int {
        try check("read", "") { pread(file, buffer.baseAddress, buffer.count, off_t(offset)) }
    }

    package func openAtOnce(_ path: FilePath) -> Int32? {
        let file = wi_open_at_once(path.start, path.name)
        return file < 0 ? nil : file
    }

    package func readAtOnce(
        _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) -> Int? {
        let count = wi_read_at_once(file, buffer.baseAddress, buffer.count, offset)
        return count < 0 ? nil : count
    }

    package func write(
        _ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64
    ) throws(FileFault) -> Int {
        try check("write", "") { pwrite(file, bytes.baseAddress, bytes.count, off_t(offset)) }
    }

    package func writeAll(
        _ file: Int32, _ head: UnsafeRawBufferPointer, _ tail: UnsafeRawBufferPointer, at offset: Int64
    ) throws(FileFault) {
        let done = try check("write", "") {
            wi_write_both(file, head.baseAddress, head.count, tail.baseAddress, tail.count, offset)
        }
        let (inHead, inTail) = (min(done, head.count), max(done - head.count, 0))
        try writeAll(file, UnsafeRawBufferPointer(rebasing: head[inHead...]), at: offset + Int64(inHead))
        try writeAll(file, UnsafeRawBufferPointer(rebasing: tail[inTail...]), at: offset + Int64(head.count + inTail))
    }

    package func truncate(_ file: Int32, to length: Int64) throws(FileFault) {
        _ = try check("ftruncate", "") { ftruncate(file, off_t(length)) }
    }

    package func sync(_ file: Int32) throws(FileFault) {
        _ = try check("fdatasync", "") { wi_sync(file) }
    }

    package func status(of file: Int32) throws(FileFault) -> FileStatus {
        var status = wi_status()
        _ = try check("fstat", "") { wi_status_of(file, &status) }
        return FileStatus(status)
    }

    package func status(at path: FilePath) throws(FileFault) -> FileStatus {
        var status = wi_status()
        _ = try check("stat", path) { wi_status_at(path.start, path.name, 0, &status) }
        return FileStatus(status)
    }

    package func linkStatus(at path: String) throws(FileFault) -> FileStatus {
        var status = wi_status()
        _ = try check("lstat", path) { wi_status_at(AT_FDCWD, path, 1, &status) }
        return FileStatus(status)
    }

    package func rename(_ from: FilePath, to: FilePath) throws(FileFault) {
        _ = try check("rename", to) { renameat(from.start, from.name, to.start, to.name) }
    }

    package func exchange(_ one: FilePath, _ other: FilePath) throws(FileFault) {
        _ = try check("renameat2", other) { wi_exchange(one.start, one.name, other.start, other.name) }
    }

    package func remove(_ path: FilePath) throws(FileFault) {
        _ = try check("unlink", path) { wi_remove(path.start, path.name) }
    }

    package func removeDirectory(_ path: String) throws(FileFault) {
        _ = try check("rmdir", path) { rmdir(path) }
    }

    package func makeDirectory(_ path: FilePath) throws(FileFault) {
        do {
            _ = try check("mkdir", path) { mkdirat(path.start, path.name, 0o700) }
        } catch  where error.errorNumber == EEXIST {
            return
        }
    }

    package func names(in directory: String) throws(FileFault) -> [String] {
        var names: [String] = []
        try list(directory) { name, _ in names.append(String(decoding: name, as: UTF8.self)) }
        return names
    }

    package func list(
        _ directory: String, _ body: (_ name: UnsafeRawBufferPointer, _ status: () -> FileStatus?) -> Void
    ) throws(FileFault) {
        guard let stream = opendir(directory) else { throw FileFault("opendir", directory, errno) }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw FileFault("readdir", directory, errno) }
                return
            }
            withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    let bytes = UnsafeRawBufferPointer(start: name, count: strlen(name))
                    if bytes.elementsEqual(".".utf8) || bytes.elementsEqual("..".utf8) { return }
                    body(bytes) {
                        var status = wi_status()
                        return wi_status_at(dirfd(stream), name, 0, &status) == 0 ? FileStatus(status) : nil
                    }
                }
            }
        }
    }

    package func space(at path: String) throws(FileFault) -> (free: Int64, total: Int64, block: Int64) {
        var space = statvfs()
        _ = try check("statvfs", path) { statvfs(path, &space) }
        let unit = Int64(clamping: space.f_frsize)
        // A network file system, or one in user space, may report any number.
        func bytes(_ blocks: some FixedWidthInteger) -> Int64 {
            let (bytes, overflow) = Int64(clamping: blocks).multipliedReportingOverflow(by: unit)
            return overflow ? Self.maxSpace : min(bytes, Self.maxSpace)
        }
        return (bytes(space.f_bavail), bytes(space.f_blocks), unit)
    }

    private static let maxSpace: Int64 = 1 << 61

    package func touch(_ path: String, at time: Int64?) throws(FileFault) {
        guard let time else {
            _ = try check("utimensat", path) { utimensat(AT_FDCWD, path, nil, 0) }
            return
        }
        let times = [timespec(tv_sec: time_t(time), tv_nsec: 0), timespec(tv_sec: time_t(time), tv_nsec: 0)]
        _ = try check("utimensat", path) { utimensat(AT_FDCWD, path, times, 0) }
    }

    package func lock(_ file: Int32, within patience: Duration) throws(FileFault) -> Bool {
        // Tries again and again, because the system's own wait has no time limit.
        var (waited, pause): (Duration, Duration) = (.zero, .microseconds(50))
        while true {
            do {
                _ = try check("flock", "") { flock(file, LOCK_EX | LOCK_NB) }
                return true
            } catch {
                guard error.errorNumber == EWOULDBLOCK else { throw error }
            }
            if waited >= patience { return false }
            pause = min(pause, patience - waited)
            var time = timespec(tv_sec: 0, tv_nsec: Int(pause.components.attoseconds / 1_000_000_000))
            nanosleep(&time, nil)
            waited += pause
            pause = min(pause * 2, .milliseconds(10))
        }
    }

    package func unlock(_ file: Int32) { _ = flock(file, LOCK_UN) }

    private func check<Result: FixedWidthInteger>(
        _ call: String, _ path: String, _ body: () -> Result
    ) throws(FileFault) -> Result {
        let result = retrying(body)
        guard result >= 0 else { throw FileFault(call, path, errno) }
        return result
    }

    private func check<Result: FixedWidthInteger>(
        _ call: String, _ path: FilePath, _ body: () -> Result
    ) throws(FileFault) -> Result {
        let result = retrying(body)
        guard result >= 0 else { throw FileFault(call, path.text, errno) }
        return result
    }

    private func retrying<Result: FixedWidthInteger>(_ body: () -> Result) -> Result {
        while true {
            let result = body()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}

/// Calls the system's `close`, which the method of that name hides.
private func closeFile(_ file: Int32) -> Int32 { close(file) }

extension FilePath {
    fileprivate var start: Int32 { directory?.file ?? AT_FDCWD }
}

extension FileStatus {
    fileprivate init(_ status: wi_status) {
        let kind = status.mode & UInt32(S_IFMT)
        // Some file systems have dates that overflow in nanoseconds.
        let seconds = min(max(status.modified, -Self.maxSeconds), Self.maxSeconds)
        self.init(
            size: status.size, allocated: min(status.blocks, Self.maxBytes / 512) * 512,
            isDirectory: kind == UInt32(S_IFDIR),
            isRegularFile: kind == UInt32(S_IFREG), inode: status.inode, modified: status.modified,
            accessed: status.accessed,
            modifiedNanoseconds: seconds * 1_000_000_000 + min(max(status.modified_nanoseconds, 0), 999_999_999),
            isLink: kind == UInt32(S_IFLNK), owner: status.owner, permissions: status.mode & 0o7777,
            device: status.device)
    }
}
