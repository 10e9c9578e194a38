import CShimSystem
import Glibc
package import WebImageCore

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
        return try check("open", path) {
            openat(path.start, path.name, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o600)
        }
    }

    package func openDirectory(_ path: String) throws(FileFault) -> Int32 {
        try check("open", path) { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
    }

    package func openTemporary(in directory: String) throws(FileFault) -> Int32 {
        try check("open", directory) { wi_open_temporary(directory) }
    }

    package func close(_ file: Int32) { _ = Glibc.close(file) }

    package func read(
        _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(FileFault) -> Int {
        try check("read", "") { pread(file, buffer.baseAddress, buffer.count, Int(offset)) }
    }

    package func write(
        _ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64
    ) throws(FileFault) -> Int {
        try check("write", "") { pwrite(file, bytes.baseAddress, bytes.count, Int(offset)) }
    }

    package func writeAll(
        _ file: Int32, _ head: UnsafeRawBufferPointer, _ tail: UnsafeRawBufferPointer, at offset: Int64
    ) throws(FileFault) {
        let parts: [2 of iovec] = [piece(head), piece(tail)]
        let done = try check("write", "") {
            parts.span.withUnsafeBufferPointer { pwritev(file, $0.baseAddress, 2, Int(offset)) }
        }
        let (inHead, inTail) = (min(done, head.count), max(done - head.count, 0))
        try writeAll(file, UnsafeRawBufferPointer(rebasing: head[inHead...]), at: offset + Int64(inHead))
        try writeAll(file, UnsafeRawBufferPointer(rebasing: tail[inTail...]), at: offset + Int64(head.count + inTail))
    }

    private func piece(_ bytes: UnsafeRawBufferPointer) -> iovec {
        // Read only, whatever C's type says.
        iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }

    package func truncate(_ file: Int32, to length: Int64) throws(FileFault) {
        _ = try check("ftruncate", "") { ftruncate(file, Int(length)) }
    }

    package func sync(_ file: Int32) throws(FileFault) {
        _ = try check("fdatasync", "") { fdatasync(file) }
    }

    package func status(of file: Int32) throws(FileFault) -> FileStatus {
        var status = stat()
        _ = try check("fstat", "") { fstat(file, &status) }
        return FileStatus(status)
    }

    package func status(at path: FilePath) throws(FileFault) -> FileStatus {
        var status = stat()
        _ = try check("stat", path) { fstatat(path.start, path.name, &status, 0) }
        return FileStatus(status)
    }

    package func linkStatus(at path: String) throws(FileFault) -> FileStatus {
        var status = stat()
        _ = try check("lstat", path) { lstat(path, &status) }
        return FileStatus(status)
    }

    package func rename(_ from: FilePath, to: FilePath) throws(FileFault) {
        _ = try check("rename", to) { renameat(from.start, from.name, to.start, to.name) }
    }

    package func exchange(_ one: FilePath, _ other: FilePath) throws(FileFault) {
        _ = try check("renameat2", other) { wi_exchange(one.start, one.name, other.start, other.name) }
    }

    package func remove(_ path: FilePath) throws(FileFault) {
        _ = try check("unlink", path) { unlinkat(path.start, path.name, 0) }
    }

    package func removeDirectory(_ path: String) throws(FileFault) {
        _ = try check("rmdir", path) { Glibc.rmdir(path) }
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
                        var status = stat()
                        return fstatat(dirfd(stream), name, &status, 0) == 0 ? FileStatus(status) : nil
                    }
                }
            }
        }
    }

    package func space(at path: String) throws(FileFault) -> (free: Int64, total: Int64, block: Int64) {
        var space = statvfs()
        _ = try check("statvfs", path) { statvfs(path, &space) }
        let unit = Int64(space.f_frsize)
        return (Int64(space.f_bavail) * unit, Int64(space.f_blocks) * unit, unit)
    }

    package func touch(_ path: String, at time: Int64?) throws(FileFault) {
        guard let time else {
            _ = try check("utimensat", path) { utimensat(AT_FDCWD, path, nil, 0) }
            return
        }
        let times = [timespec(tv_sec: Int(time), tv_nsec: 0), timespec(tv_sec: Int(time), tv_nsec: 0)]
        _ = try check("utimensat", path) { utimensat(AT_FDCWD, path, times, 0) }
    }

    package func lock(_ file: Int32, within patience: Duration) throws(FileFault) -> Bool {
        // The system's own waiting has no end.
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

extension FilePath {
    fileprivate var start: Int32 { directory?.file ?? AT_FDCWD }
}

extension FileStatus {
    fileprivate init(_ status: stat) {
        self.init(
            size: Int64(status.st_size), allocated: Int64(status.st_blocks) * 512,
            isDirectory: status.st_mode & S_IFMT == S_IFDIR, isRegularFile: status.st_mode & S_IFMT == S_IFREG,
            inode: UInt64(status.st_ino), modified: Int64(status.st_mtim.tv_sec),
            accessed: Int64(status.st_atim.tv_sec),
            modifiedNanoseconds: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec),
            isLink: status.st_mode & S_IFMT == S_IFLNK, owner: status.st_uid, permissions: status.st_mode & 0o7777)
    }
}
