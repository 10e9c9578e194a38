import CSysCrypto
import WebImageCore

/// The SHA-256 of a key's text: what an entry's file is called.
struct EntryID: Hashable, Sendable {
    /// The first 16 bytes, by which the index tells entries apart, and the rest. In the order of the digest's bytes.
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

    /// The digest's 32 bytes.
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
        guard name.utf8.count == 64 else { return nil }
        var (words, word, place): ([4 of UInt64], UInt64, Int) = ([0, 0, 0, 0], 0, 0)
        for character in name.utf8 {
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
        var place = 0
        for index in 0..<4 {
            let word = index == 0 ? words.0 : index == 1 ? words.1 : index == 2 ? words.2 : words.3
            for shift in stride(from: 60, through: 0, by: -4) {
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift)) & 15
                text[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                place += 1
            }
        }
    }

    /// Which of the 256 directories holds the file: the digest's first byte.
    var shard: Int { Int(words.0 >> 56) }

    static func == (left: EntryID, right: EntryID) -> Bool { left.words == right.words }

    func hash(into hasher: inout Hasher) {
        // The digest is evenly spread already; 128 bits of it tell any number of entries apart.
        hasher.combine(words.0)
        hasher.combine(words.1)
    }
}
