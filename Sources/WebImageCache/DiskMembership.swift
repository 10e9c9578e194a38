import WebImageCore

/// A cache's place among those that write to one directory: the file with their common total, and a file of its own
/// that stays locked for as long as it lives, so that the others can tell the living from the dead.
struct DiskMembership {
    let usage: Int32
    let usageInode: UInt64
    let owner: Int32
    let ownerPath: String

    func close(_ files: any FileSystem) {
        try? files.remove(ownerPath)
        files.closeLocked(owner)
        files.close(usage)
    }
}

/// What all caches of a directory take together, as one file of it says: magic `WIMGUSE2`, the two numbers, and a
/// checksum of the three.
struct DiskTotal: Hashable {
    private static let magic: UInt64 = 0x3245_5355_474D_4957
    private static let length = 32

    /// With ``headroom``.
    var bytes: Int64
    /// What of it nobody takes yet, but somebody may take without asking.
    var headroom: Int64

    /// Nil for what is no such file; it is written anew then.
    static func read(_ file: Int32, _ files: any FileSystem) throws(FileFault) -> DiskTotal? {
        var words: [4 of UInt64] = [0, 0, 0, 0]
        var fault: FileFault?
        var count = 0
        withUnsafeMutableBytes(of: &words) { bytes in
            do throws(FileFault) { count = try files.readAll(file, into: bytes, at: 0) } catch { fault = error }
        }
        if let fault { throw fault }
        let total = DiskTotal(
            bytes: Int64(bitPattern: words[1].littleEndian), headroom: Int64(bitPattern: words[2].littleEndian))
        guard count == length, words[0].littleEndian == magic, words[3].littleEndian == total.checksum,
            total.headroom >= 0
        else { return nil }
        return total
    }

    func write(to file: Int32, _ files: any FileSystem) throws(FileFault) {
        let words: [4 of UInt64] = [
            Self.magic.littleEndian, UInt64(bitPattern: bytes).littleEndian,
            UInt64(bitPattern: headroom).littleEndian, checksum.littleEndian,
        ]
        var fault: FileFault?
        withUnsafeBytes(of: words) { bytes in
            do throws(FileFault) { try files.writeAll(file, bytes, at: 0) } catch { fault = error }
        }
        if let fault { throw fault }
    }

    private var checksum: UInt64 { withUnsafeBytes(of: (Self.magic, bytes, headroom)) { Checksum.of($0) } }
}
