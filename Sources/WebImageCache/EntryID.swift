import CSysCrypto
import WebImageCore

/// The SHA-256 of a key's text: what an entry's file is called.
struct EntryID: Hashable, Sendable {
    /// The first 16 bytes, by which the index tells entries apart, and the rest. In the order of the digest's bytes.
    let words: (UInt64, UInt64, UInt64, UInt64)

    init(_ key: CacheKey) {
        var text = key.text
        let bytes = text.withUTF8 { SHA256Digest.of(UnsafeRawBufferPointer($0)) }
        self.init(bytes)
    }

    private init(_ bytes: [UInt8]) {
        func word(_ start: Int) -> UInt64 {
            bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
        words = (word(0), word(8), word(16), word(24))
    }

    /// Reads a file's name: 64 lower-case hexadecimal digits.
    init?(name: String) {
        guard name.utf8.count == 64 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        var high: UInt8?
        for character in name.utf8 {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        self.init(bytes)
    }

    /// The file's name.
    var name: String {
        String(unsafeUninitializedCapacity: 64) { text in
            var place = 0
            for word in [words.0, words.1, words.2, words.3] {
                for shift in stride(from: 60, through: 0, by: -4) {
                    let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift)) & 15
                    text[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                    place += 1
                }
            }
            return 64
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

private enum SHA256Digest {
    /// Fetched once: looking an algorithm up by name costs libcrypto more than hashing a key does.
    private nonisolated(unsafe) static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)
    // Unsafe only in name: an EVP_MD never changes once it is fetched.

    static func of(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
            let result = EVP_Digest(bytes.baseAddress, bytes.count, digest.baseAddress, nil, algorithm, nil)
            // It can only fail for want of memory or of the algorithm, and no cache can go on then.
            precondition(result == 1, "libcrypto has no SHA-256")
            count = 32
        }
    }
}
