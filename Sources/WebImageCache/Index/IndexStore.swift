import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The files of the index: one for each 16 of the 256 directories, in a folder of their own. A file for each directory
/// would take more room than the entries of a small cache.
struct IndexStore {
    static let fileCount = 16
    static func file(ofShard shard: Int) -> Int { shard >> 4 }
    static func shards(ofFile file: Int) -> Range<Int> { file << 4..<(file + 1) << 4 }

    /// A file as this cache has written it; if it still looks the same, no one has changed it.
    struct Written: Hashable {
        var inode: UInt64
        var length: Int64
        var modified: Int64

        init(_ status: FileStatus) {
            (inode, length, modified) = (status.inode, status.size, status.modifiedNanoseconds)
        }
    }

    /// The result of a change.
    enum Outcome {
        case written(Written)
        /// The file is not the one that the change was made for; with its content.
        case other(IndexFile, Written)
        /// Another process is changing it.
        case busy
    }

    /// By how many bytes a file may exceed twice its necessary length before it is rewritten.
    private static let slack = 16 << 10
    /// How long to wait while other processes append to a file.
    private static let patience: Duration = .milliseconds(20)
    /// Longer files were not written by a cache.
    private static let maxBytes: Int64 = 1 << 30

    let layout: CacheLayout
    let files: any FileSystem
    /// The prefix of the names of temporary files.
    let temporaryPrefix: String

    func path(_ file: Int) -> String { layout.indexDirectory + "/" + String(file, radix: 16) }

    /// The valid content of a file; empty if there is none.
    func load(_ number: Int) throws(FileFault) -> IndexFile {
        do {
            let file = try files.open(path(number), .readOwn)
            defer { files.close(file) }
            return try read(file, files.status(of: file))
        } catch  where error.isMissing || error.isLink {
            return IndexFile()
        }
    }

    private func read(_ file: Int32, _ status: FileStatus) throws(FileFault) -> IndexFile {
        guard status.isRegularFile, status.size <= Self.maxBytes else { return IndexFile() }
        return IndexFile(try files.readAll(file, Int(status.size), at: 0))
    }

    /// The disk space that a file needs for `bytes` more bytes.
    func growth(_ number: Int, by bytes: Int) -> Int64 {
        let status = try? files.status(at: path(number))
        return FileStatus.blocks((status?.size ?? 0) + Int64(bytes)) - (status?.blockBytes ?? 0)
    }

    /// Appends frames to a file, or rewrites it if too much of it would be outdated.
    /// - Parameters:
    ///   - before: the file that they were made for; nil: its content is not known.
    ///   - needed: the length of an equivalent file without outdated frames.
    func add(
        _ frames: [IndexFrame], to number: Int, _ before: Written?, needed: Int
    ) throws(FileFault) -> Outcome {
        guard let file = try openLocked(number) else { return .busy }
        defer { files.closeLocked(file) }
        let status = try files.status(of: file)
        guard before == Written(status) else {
            let content = try read(file, status)
            // A torn frame would hide all later ones.
            if content.length < status.size { try files.truncate(file, to: Int64(content.length)) }
            return .other(content, Written(try files.status(of: file)))
        }
        var out = ByteWriter()
        for frame in frames { frame.encode(to: &out) }
        let length = status.size + Int64(out.bytes.count)
        if length > 2 * needed + Self.slack { return .written(try rewrite(number, file, status, frames)) }
        do throws(FileFault) {
            try files.writeAll(file, out.bytes, at: status.size)
        } catch {
            try? files.truncate(file, to: status.size)
            throw error
        }
        return .written(Written(try files.status(of: file)))
    }

    private func rewrite(
        _ number: Int, _ file: Int32, _ status: FileStatus, _ frames: [IndexFrame]
    ) throws(FileFault) -> Written {
        var content = try read(file, status)
        for frame in frames { content.apply(frame) }
        let bytes = content.encoded()
        let path = path(number)
        let temporary = "\(layout.indexDirectory)/\(temporaryPrefix)\(number)"
        let new = try files.open(temporary, .createNew)
        defer { files.close(new) }
        do throws(FileFault) {
            try files.writeAll(new, bytes, at: 0)
            let written = Written(try files.status(of: new))
            try files.rename(temporary, to: path)
            return written
        } catch {
            try? files.remove(temporary)
            throw error
        }
    }

    /// Nil if another process is changing the file.
    private func openLocked(_ number: Int) throws(FileFault) -> Int32? {
        for _ in 0..<3 {
            let file = try open(path(number))
            do throws(FileFault) {
                guard try files.lock(file, within: Self.patience) else {
                    files.close(file)
                    return nil
                }
                // The file may have been replaced meanwhile.
                let inode = try files.status(of: file).inode
                if try files.linkStatus(at: path(number)).inode == inode { return file }
            } catch  where !error.isMissing {
                files.closeLocked(file)
                throw error
            } catch {}
            files.closeLocked(file)
        }
        return nil
    }

    private func open(_ path: String) throws(FileFault) -> Int32 {
        do throws(FileFault) {
            return try files.open(path, .readWrite)
        } catch  where error.isLink {
            try files.remove(path)
        } catch  where error.isMissing {
            try files.makeDirectory(layout.indexDirectory)
            _ = try layout.checkInner(layout.indexDirectory, files)
        }
        return try files.open(path, .readWrite)
    }
}
