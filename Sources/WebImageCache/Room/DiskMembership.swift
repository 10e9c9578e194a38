import WebImageCore

/// A cache's membership in the group that writes to one directory: the file with their common total, and a file of its
/// own that stays locked as long as the cache lives, which shows the others that it is alive.
struct DiskMembership {
    let usage: Int32
    let usageInode: UInt64
    let owner: Int32
    let ownerPath: String
    /// The content of the cache's own file.
    var promise = DiskPromise()

    func close(_ files: any FileSystem) {
        try? files.remove(ownerPath)
        files.closeLocked(owner)
        files.close(usage)
    }
}

/// The bytes of all caches of a directory, stored in a file: magic `WIMGUSE3`, the three numbers, and a checksum of the
/// four.
struct DiskTotal: Hashable {
    private static let magic: UInt64 = 0x3345_5355_474D_4957
    /// No disk is that large.
    private static let maxBytes: Int64 = 1 << 60

    /// The bytes of all caches, including ``headroom``.
    var bytes: Int64
    /// The part that is not used yet, but may be used without accessing the file.
    var headroom: Int64
    /// How often it was recounted from the directory.
    var recounts: UInt64 = 0

    /// Nil if the file is invalid; it is rewritten then.
    static func read(_ file: Int32, _ files: any FileSystem) throws(FileFault) -> DiskTotal? {
        var words = [UInt64](repeating: 0, count: 5)
        let count = try words.withUnsafeMutableBufferPointer { words throws(FileFault) in
            try files.readAll(file, into: UnsafeMutableRawBufferPointer(words), at: 0)
        }
        let total = DiskTotal(
            bytes: Int64(bitPattern: words[1].littleEndian), headroom: Int64(bitPattern: words[2].littleEndian),
            recounts: words[3].littleEndian)
        guard count == words.count * 8, words[0].littleEndian == magic,
            words[4].littleEndian == total.checksum, total.headroom >= 0, total.headroom <= maxBytes,
            total.bytes.magnitude <= maxBytes
        else { return nil }
        return total
    }

    func write(to file: Int32, _ files: any FileSystem) throws(FileFault) {
        let words: [UInt64] = [
            Self.magic.littleEndian, UInt64(bitPattern: bytes).littleEndian,
            UInt64(bitPattern: headroom).littleEndian, recounts.littleEndian, checksum.littleEndian,
        ]
        try files.writeAll(file, words, at: 0)
    }

    private var checksum: UInt64 { withUnsafeBytes(of: (Self.magic, bytes, headroom, recounts)) { Checksum.of($0) } }
}

/// An upper bound of the bytes that one cache may have on the disk in addition to those that the others can count, in
/// blocks of 4 KiB.
///
/// The cache's own file encodes both in its length, 2048 times ``blocks`` plus ``headroom``: a sparse file takes no
/// room.
struct DiskPromise: Hashable {
    /// The blocks of entries that are being written, and ``headroom``.
    var blocks: Int64 = 0
    /// At most 1024.
    var headroom: Int64 = 0

    init(bytes: Int64 = 0, headroom: Int64 = 0) {
        (blocks, self.headroom) = ((bytes + 4095) / 4096, headroom / 4096)
    }

    init(length: Int64) { (blocks, headroom) = (length >> 11, length & 2047) }

    var length: Int64 { blocks << 11 | headroom }

    /// Whether a file with the value `self` should be changed to `new`: its value must never be too low, and should not
    /// be much too high.
    func isSuperseded(by new: DiskPromise) -> Bool {
        new.blocks > blocks || new.headroom != headroom || new.blocks - new.headroom < (blocks - headroom) / 4
    }
}
