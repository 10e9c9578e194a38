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
        files.close(owner)
        files.close(usage)
    }
}

/// The file with the total of all caches of a directory: magic `WIMGUSE1`, the number of bytes, and a checksum of both.
enum DiskTotal {
    private static let magic: UInt64 = 0x3145_5355_474D_4957
    private static let length = 24

    /// Nil for what is no such file; it is written anew then.
    static func read(_ file: Int32, _ files: any FileSystem) throws(FileFault) -> Int64? {
        var words: [3 of UInt64] = [0, 0, 0]
        var fault: FileFault?
        var count = 0
        withUnsafeMutableBytes(of: &words) { bytes in
            do throws(FileFault) { count = try files.readAll(file, into: bytes, at: 0) } catch { fault = error }
        }
        if let fault { throw fault }
        guard count == length, words[0].littleEndian == magic, words[2].littleEndian == check(words[1].littleEndian)
        else { return nil }
        return Int64(bitPattern: words[1].littleEndian)
    }

    static func write(_ total: Int64, to file: Int32, _ files: any FileSystem) throws(FileFault) {
        let number = UInt64(bitPattern: total)
        let words: [3 of UInt64] = [magic.littleEndian, number.littleEndian, check(number).littleEndian]
        var fault: FileFault?
        withUnsafeBytes(of: words) { bytes in
            do throws(FileFault) { try files.writeAll(file, bytes, at: 0) } catch { fault = error }
        }
        if let fault { throw fault }
    }

    private static func check(_ number: UInt64) -> UInt64 {
        withUnsafeBytes(of: (magic, number)) { Checksum.of($0) }
    }
}
