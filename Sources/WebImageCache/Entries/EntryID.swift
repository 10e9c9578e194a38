import CSysCrypto
import WebImageCore

/// The SHA-256 of a key's text, which is the name of the entry's file.
struct EntryID: Hashable, Sendable {
    /// The digest in the order of its bytes. The index identifies entries by the first 16 bytes.
    let words: (UInt64, UInt64, UInt64, UInt64)

    init(_ key: CacheKey) {
        var text = key.text
        self = text.withUTF8 { EntryID(sha256Of: UnsafeRawBufferPointer($0)) }
    }

    private init(sha256Of bytes: UnsafeRawBufferPointer) {
        var context = SHA256_CTX()
        var digest: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        SHA256_Init(&context)
        SHA256_Update(&context, bytes.baseAddress, bytes.count)
        withUnsafeMutableBytes(of: &digest) { bytes in
            _ = SHA256_Final(bytes.assumingMemoryBound(to: UInt8.self).baseAddress, &context)
        }
        words = (digest.0.bigEndian, digest.1.bigEndian, digest.2.bigEndian, digest.3.bigEndian)
    }

    /// Takes the digest's 32 bytes; nil if there are more or fewer.
    init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        func word(_ start: Int) -> UInt64 { bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        words = (word(0), word(8), word(16), word(24))
    }

    var bytes: [UInt8] {
        var out: [UInt8] = []
        for word in [words.0, words.1, words.2, words.3] {
            withUnsafeBytes(of: word.bigEndian) { out.append(contentsOf: $0) }
        }
        return out
    }

    init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    /// Reads a file's name: 64 lower-case hexadecimal digits.
    init?(name: String) {
        var name = name
        guard let id = name.withUTF8({ EntryID(name: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = id
    }

    init?(name: UnsafeRawBufferPointer) {
        guard name.count == Self.nameLength else { return nil }
        var (words, word, place): (SIMD4<UInt64>, UInt64, Int) = (.zero, 0, 0)
        for character in name {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            default: return nil
            }
            word = word << 4 | UInt64(digit)
            place += 1
            if place & 15 == 0 { words[place / 16 - 1] = word }
        }
        self.words = (words[0], words[1], words[2], words[3])
    }

    /// The file's name.
    var name: String {
        String(unsafeUninitializedCapacity: Self.nameLength) { text in
            writeName(UnsafeMutableBufferPointer(rebasing: text[...]))
            return Self.nameLength
        }
    }

    static let nameLength = 64

    /// Writes the file's name, 64 characters.
    func writeName(_ text: UnsafeMutableBufferPointer<UInt8>) {
        let text = UnsafeMutableRawBufferPointer(text)
        func write(_ word: UInt64, at place: Int) {
            text.storeBytes(of: Self.digits(word >> 32), toByteOffset: place, as: UInt64.self)
            text.storeBytes(of: Self.digits(word & 0xFFFF_FFFF), toByteOffset: place + 8, as: UInt64.self)
        }
        write(words.0, at: 0)
        write(words.1, at: 16)
        write(words.2, at: 32)
        write(words.3, at: 48)
    }

    /// The eight hexadecimal digits of 32 bits in memory order. They are computed at once, because every hit needs 64
    /// of them.
    private static func digits(_ bits: UInt64) -> UInt64 {
        var digits = UInt64(UInt32(truncatingIfNeeded: bits).byteSwapped)
        digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits >> 4 | digits << 8) & 0x0F0F_0F0F_0F0F_0F0F
        let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (digits + 0x3030_3030_3030_3030 + letters * 0x27).littleEndian
    }

    /// The number of the directory that holds the file, of 256: the digest's first byte.
    var shard: Int { Int(words.0 >> 56) }

    static func == (left: EntryID, right: EntryID) -> Bool { left.words == right.words }

    func hash(into hasher: inout Hasher) {
        // The digest is evenly distributed; 128 bits identify any number of entries.
        hasher.combine(words.0)
        hasher.combine(words.1)
    }
}
