/// A failed call to the file system: which call, on what, and the system's error number.
package struct FileFault: Error, Hashable, Sendable {
    package var call: String
    package var path: String
    package var errorNumber: Int32

    package init(_ call: String, _ path: String, _ errorNumber: Int32) {
        self.call = call
        self.path = path
        self.errorNumber = errorNumber
    }
}

/// The status of a file: what is known without reading it.
///
/// Sizes and dates that only a broken or hostile file system reports are cut to ``maxBytes`` and ``maxSeconds``, so
/// that sums of them do not overflow.
package struct FileStatus: Hashable, Sendable {
    /// 16 TiB.
    package static let maxBytes: Int64 = 1 << 44
    /// Two hundred years before and after 1970.
    package static let maxSeconds: Int64 = 6_311_390_400

    package var size: Int64
    /// The bytes that the file takes on disk: its allocated blocks, not its length.
    package var allocated: Int64
    package var isDirectory: Bool
    package var isRegularFile: Bool
    package var inode: UInt64
    /// The number of the file system: two file systems have files with the same ``inode``.
    package var device: UInt64
    /// Seconds since 1970.
    package var modified: Int64
    package var accessed: Int64
    /// The nanoseconds of ``modified``, if the file system stores them. A kernel's clock for files ticks only every few
    /// milliseconds.
    package var modifiedNanoseconds: Int64
    /// Whether it is a symbolic link. Only ``FileSystem/linkStatus(at:)`` reports links.
    package var isLink: Bool
    /// The number of the user who owns the file.
    package var owner: UInt32
    /// The permissions of the file: the lower twelve bits of its mode.
    package var permissions: UInt32

    package init(
        size: Int64, allocated: Int64, isDirectory: Bool, isRegularFile: Bool, inode: UInt64, modified: Int64,
        accessed: Int64, modifiedNanoseconds: Int64, isLink: Bool, owner: UInt32, permissions: UInt32,
        device: UInt64 = 0
    ) {
        func cut(_ seconds: Int64) -> Int64 { min(max(seconds, -Self.maxSeconds), Self.maxSeconds) }
        self.size = min(max(size, 0), Self.maxBytes)
        self.allocated = min(max(allocated, 0), Self.maxBytes)
        self.isDirectory = isDirectory
        self.isRegularFile = isRegularFile
        self.inode = inode
        self.modified = cut(modified)
        self.accessed = cut(accessed)
        self.modifiedNanoseconds = modifiedNanoseconds
        self.isLink = isLink
        self.owner = owner
        self.permissions = permissions
        self.device = device
    }

    /// Whether the other status is one of the same file.
    package func isSameFile(as other: FileStatus) -> Bool { inode == other.inode && device == other.device }
}

/// How a file is opened.
package enum FileAccess: Sendable {
    /// For reading; it must exist.
    case read
    /// For reading; it must exist, and a symbolic link is refused with `ELOOP`.
    case readOwn
    /// For reading and writing; it must exist, and a symbolic link is refused with `ELOOP`.
    case updateOwn
    /// For reading and writing; created if it does not exist. A symbolic link is refused with `ELOOP`.
    case readWrite
    /// For reading and writing; it must not exist.
    case createNew
}

/// A path, and the open directory from which it starts, if any, which shortens the walk to the file.
package struct FilePath: Sendable {
    package var directory: OpenDirectory?
    /// The path from `directory` on, if there is one.
    package var name: String

    package init(_ name: String, in directory: OpenDirectory? = nil) {
        self.directory = directory
        self.name = name
    }

    /// The full path, with the path by which ``directory`` was opened.
    package var text: String { directory.map { "\($0.path)/\(name)" } ?? name }
}

/// An open directory, which stays the same even if its path is replaced. It is closed when it is released.
package final class OpenDirectory: Sendable {
    package let path: String
    package let file: Int32
    package let status: FileStatus
    private let files: any FileSystem

    package init(_ path: String, _ files: any FileSystem) throws(FileFault) {
        let file = try files.openDirectory(path)
        do throws(FileFault) {
            status = try files.status(of: file)
        } catch {
            files.close(file)
            throw error
        }
        (self.path, self.file, self.files) = (path, file, files)
    }

    deinit { files.close(file) }
}

/// The file system calls that the library makes. Tests replace it to make each call fail, write partially or wait.
///
/// Every call blocks and belongs on the I/O executor, except for those named `AtOnce`. The others throw ``FileFault``.
package protocol FileSystem: Sendable {
    /// Opens a file. Unless `access` is ``FileAccess/read``, a symbolic link anywhere in a path from an open directory
    /// on is refused with `ELOOP`, if the system has a call for that.
    func open(_ path: FilePath, _ access: FileAccess) throws(FileFault) -> Int32
    /// Opens a directory, for paths to start from. A symbolic link is refused.
    func openDirectory(_ path: String) throws(FileFault) -> Int32
    /// Creates a file without a name in `directory`. It is deleted when it is closed.
    func openTemporary(in directory: String) throws(FileFault) -> Int32
    func close(_ file: Int32)
    /// Reads up to `buffer.count` bytes from `offset` on; 0 at the end.
    func read(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileFault) -> Int
    /// Opens a file for reading if that needs no wait for a disk. Nil if it does, if that is not known, and on every
    /// failure. A symbolic link is refused.
    func openAtOnce(_ path: FilePath) -> Int32?
    /// Reads from `offset` on what the page cache holds of a file, which may be less than the file has; nil as for
    /// ``openAtOnce(_:)``.
    func readAtOnce(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int?
    /// Writes some of `bytes` at `offset` and returns how many.
    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileFault) -> Int
    /// Writes all of two pieces, one after the other, from `offset` on; in a single call if the system can.
    func writeAll(
        _ file: Int32, _ head: UnsafeRawBufferPointer, _ tail: UnsafeRawBufferPointer, at offset: Int64
    ) throws(FileFault)
    func truncate(_ file: Int32, to length: Int64) throws(FileFault)
    func sync(_ file: Int32) throws(FileFault)
    func status(of file: Int32) throws(FileFault) -> FileStatus
    func status(at path: FilePath) throws(FileFault) -> FileStatus
    /// The status of the file with that name; of the link itself if it is a symbolic link.
    func linkStatus(at path: String) throws(FileFault) -> FileStatus
    func rename(_ from: FilePath, to: FilePath) throws(FileFault)
    /// Gives two files each other's names, in one step; `EINVAL` where the file system cannot.
    func exchange(_ one: FilePath, _ other: FilePath) throws(FileFault)
    func remove(_ path: FilePath) throws(FileFault)
    func removeDirectory(_ path: String) throws(FileFault)
    /// Makes one directory with mode 0700; an existing one is no fault.
    func makeDirectory(_ path: FilePath) throws(FileFault)
    /// The names in a directory, without `.` and `..`, in no order.
    func names(in directory: String) throws(FileFault) -> [String]
    /// Lists the same names without making strings. `body` gets each name in UTF-8 and a function that returns the
    /// status of that file, nil if the file is gone. Both are valid only during the call.
    func list(
        _ directory: String, _ body: (_ name: UnsafeRawBufferPointer, _ status: () -> FileStatus?) -> Void
    ) throws(FileFault)
    /// The free and total bytes of the disk that holds `path`, and the size of its blocks. Free bytes are those that
    /// this process may still write.
    func space(at path: String) throws(FileFault) -> (free: Int64, total: Int64, block: Int64)
    /// Sets the times of last modification and access, in seconds since 1970; nil sets them to now by the file system's
    /// own clock.
    func touch(_ path: String, at time: Int64?) throws(FileFault)
    /// Takes an advisory lock on the whole file. Returns false if another holder keeps it for as long as `patience`.
    func lock(_ file: Int32, within patience: Duration) throws(FileFault) -> Bool
    func unlock(_ file: Int32)
}

extension FileSystem {
    package func open(_ path: String, _ access: FileAccess) throws(FileFault) -> Int32 {
        try open(FilePath(path), access)
    }

    package func status(at path: String) throws(FileFault) -> FileStatus { try status(at: FilePath(path)) }

    package func rename(_ from: String, to: String) throws(FileFault) { try rename(FilePath(from), to: FilePath(to)) }

    package func remove(_ path: String) throws(FileFault) { try remove(FilePath(path)) }

    package func makeDirectory(_ path: String) throws(FileFault) { try makeDirectory(FilePath(path)) }

    package func list(
        _ directory: String, _ body: (_ name: UnsafeRawBufferPointer, _ status: () -> FileStatus?) -> Void
    ) throws(FileFault) {
        for var name in try names(in: directory) {
            let path = directory + "/" + name
            name.withUTF8 { body(UnsafeRawBufferPointer($0)) { try? status(at: path) } }
        }
    }

    /// Releases a lock and closes the file. Closing alone is not enough: a child process that another thread is just
    /// starting shares the open file, and with it the lock, until it executes its program.
    package func closeLocked(_ file: Int32) {
        unlock(file)
        close(file)
    }

    /// Writes all of `bytes` at `offset`.
    package func writeAll(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileFault) {
        var done = 0
        while done < bytes.count {
            done += try write(file, UnsafeRawBufferPointer(rebasing: bytes[done...]), at: offset + Int64(done))
        }
    }

    package func writeAll(
        _ file: Int32, _ head: UnsafeRawBufferPointer, _ tail: UnsafeRawBufferPointer, at offset: Int64
    ) throws(FileFault) {
        try writeAll(file, head, at: offset)
        try writeAll(file, tail, at: offset + Int64(head.count))
    }

    package func writeAll<Element: BitwiseCopyable>(
        _ file: Int32, _ elements: [Element], at offset: Int64
    ) throws(FileFault) {
        try elements.withBytes { bytes throws(FileFault) in try writeAll(file, bytes, at: offset) }
    }

    package func openAtOnce(_ path: FilePath) -> Int32? { nil }

    package func readAtOnce(
        _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) -> Int? { nil }

    /// Fills `buffer` from `offset` on. Returns fewer bytes than it holds only at the end of the file.
    package func readAll(
        _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(FileFault) -> Int {
        var done = 0
        while done < buffer.count {
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = try read(file, into: part, at: offset + Int64(done))
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Reads `count` bytes from `offset` on; fewer only at the end of the file.
    package func readAll(_ file: Int32, _ count: Int, at offset: Int64) throws(FileFault) -> [UInt8] {
        // Array's initializer rethrows errors without their type.
        var fault: FileFault?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(FileFault) {
                let part = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
                filled = try readAll(file, into: part, at: offset)
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
        return bytes
    }
}
