import WebImageCore

/// The open file of one entry, and its checks.
struct EntryFile {
    /// The result of a check.
    enum Check<Content> {
        case passed(Content)
        /// The file is truncated, damaged or not an entry; with the reason.
        case failed(String)
    }

    struct Tail {
        let footer: DiskFooter
        let trailer: EncodedTrailer
    }

    /// The end of a larger file is checked first, so that a huge file that is not an entry is detected before memory is
    /// allocated for it.
    private static let largeSize: Int64 = 1 << 20
    /// Most trailers are much shorter; longer ones need a second read.
    private static let tailGuess: Int64 = 4 << 10
    /// Keys, metadata and extended data are much shorter.
    private static let longestTrailer: Int64 = 256 << 20

    let files: any FileSystem
    let file: Int32
    let path: FilePath
    /// If false, reading bytes that are not in the system's memory fails.
    var mayWait = true

    /// Opens an entry's file; nil if there is none.
    static func open(
        _ path: String, _ files: any FileSystem, _ access: FileAccess = .readOwn
    ) throws(FileFault) -> EntryFile? {
        try open(FilePath(path), files, access)
    }

    static func open(
        _ path: FilePath, _ files: any FileSystem, _ access: FileAccess = .readOwn
    ) throws(FileFault) -> EntryFile? {
        do {
            return EntryFile(files: files, file: try files.open(path, access), path: path)
        } catch  where error.isMissing {
            return nil
        }
    }

    /// Opens an entry's file; nil if there is none, or if opening would wait for a disk.
    static func openAtOnce(_ path: FilePath, _ files: any FileSystem) -> EntryFile? {
        files.openAtOnce(path).map { EntryFile(files: files, file: $0, path: path, mayWait: false) }
    }

    func close() { files.close(file) }

    func status() throws(FileFault) -> FileStatus { try files.status(of: file) }

    /// Reads and checks everything: footer, trailer, body.
    /// - Parameter most: a longer file is not an entry.
    func readAll(
        _ status: FileStatus, most: Int64
    ) throws(FileFault) -> Check<(trailer: EncodedTrailer, body: [UInt8])> {
        guard status.isRegularFile else { return .failed("it is no entry's file") }
        return try readAll(length: status.size, most: most)
    }

    /// Reads and checks a file with an expected length; another length is a failure.
    func readAll(
        length: Int64, most: Int64
    ) throws(FileFault) -> Check<(trailer: EncodedTrailer, body: [UInt8])> {
        guard length >= DiskFooter.length else { return .failed("it is no entry's file") }
        guard length <= most else { return .failed("it is longer than any entry may be") }
        if length > Self.largeSize, case .failed(let why) = try readTail(length: length) { return .failed(why) }
        var (fault, trailer, why): (FileFault?, EncodedTrailer?, String) = (nil, nil, "")
        // The body is at the start of the file, so one array holds the file and then becomes the body. One extra byte
        // shows whether the file is longer.
        let body = [UInt8](unsafeUninitializedCapacity: Int(length) + 1) { buffer, count in
            do throws(FileFault) {
                let bytes = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: Int(length) + 1)
                // A short read shows the end of the file, so no second one is needed.
                var done = mayWait ? try files.read(file, into: bytes, at: 0) : readAtOnce(bytes)
                if done < Int(length), done > 0, mayWait {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
                    done += try files.readAll(file, into: rest, at: Int64(done))
                }
                guard done == Int(length) else {
                    why = "it has another length"
                    return
                }
                switch Self.check(UnsafeRawBufferPointer(rebasing: bytes[..<done])) {
                case .failed(let reason): why = reason
                case .passed(let tail):
                    trailer = tail.trailer
                    count = Int(tail.footer.bodyLength)
                }
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
        guard let trailer else { return .failed(why) }
        return .passed((trailer, body))
    }

    /// - Returns: 0 if reading would wait for a disk.
    private func readAtOnce(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
        files.readAtOnce(file, into: bytes, at: 0) ?? 0
    }

    /// Reads a file that consists of a body only.
    func readPlain(_ status: FileStatus) throws(FileFault) -> [UInt8] { try read(Int(status.size), at: 0) }

    private func read(_ count: Int, at offset: Int64) throws(FileFault) -> [UInt8] {
        try files.readAll(file, count, at: offset)
    }

    /// Reads and checks footer and trailer, but not the body.
    func readTail(_ status: FileStatus) throws(FileFault) -> Check<Tail> {
        guard status.isRegularFile else { return .failed("it is no entry's file") }
        return try readTail(length: status.size)
    }

    private func readTail(length size: Int64) throws(FileFault) -> Check<Tail> {
        guard size >= DiskFooter.length else { return .failed("it is no entry's file") }
        var bytes = try read(last: min(size, Self.tailGuess))
        guard let footer = Self.footer(bytes, fileSize: size) else { return .failed("its footer is damaged") }
        guard footer.trailerLength <= Self.longestTrailer else { return .failed("its trailer is too long") }
        let length = footer.trailerLength + Int64(DiskFooter.length)
        if bytes.count < length { bytes = try read(last: min(length, size)) }
        guard bytes.count >= length else { return .failed("it ended early") }
        return bytes.withUnsafeBytes { bytes in
            let trailer = bytes[(bytes.count - Int(length))..<(bytes.count - DiskFooter.length)]
            return Self.checkTrailer(UnsafeRawBufferPointer(rebasing: trailer), footer)
        }

        func read(last count: Int64) throws(FileFault) -> [UInt8] { try self.read(Int(count), at: size - count) }
    }

    private static func check(_ file: UnsafeRawBufferPointer) -> Check<Tail> {
        let tail = UnsafeRawBufferPointer(rebasing: file[(file.count - DiskFooter.length)...])
        guard let footer = DiskFooter.decode(tail, fileSize: Int64(file.count)) else {
            return .failed("its footer is damaged")
        }
        let body = UnsafeRawBufferPointer(rebasing: file[..<Int(footer.bodyLength)])
        guard Checksum.of(body) == footer.bodyChecksum else { return .failed("its body is damaged") }
        let trailer = file[Int(footer.trailerOffset)..<(file.count - DiskFooter.length)]
        return checkTrailer(UnsafeRawBufferPointer(rebasing: trailer), footer)
    }

    private static func checkTrailer(_ bytes: UnsafeRawBufferPointer, _ footer: DiskFooter) -> Check<Tail> {
        guard Checksum.of(bytes) == footer.trailerChecksum, let trailer = EncodedTrailer(bytes) else {
            return .failed("its trailer is damaged")
        }
        return .passed(Tail(footer: footer, trailer: trailer))
    }

    private static func footer(_ bytes: [UInt8], fileSize: Int64) -> DiskFooter? {
        guard bytes.count >= DiskFooter.length else { return nil }
        return bytes.withUnsafeBytes { bytes in
            DiskFooter.decode(
                UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - DiskFooter.length)...]), fileSize: fileSize)
        }
    }
}

extension FileStatus {
    /// Allocated blocks; if the file system does not report them, the length rounded up to 4 KiB.
    var blockBytes: Int64 { allocated > 0 ? allocated : Self.blocks(size) }

    /// The disk space of a file with that length.
    /// - Parameter block: the length of a block, a power of two.
    static func blocks(_ length: Int64, of block: Int64 = 4096) -> Int64 { (length + block - 1) & ~(block - 1) }
}
