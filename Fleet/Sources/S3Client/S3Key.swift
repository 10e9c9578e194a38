/// The rules for the keys of objects.
enum S3Key {
    /// The maximum length of a key in bytes (AWS, "Naming Amazon S3 objects").
    static let longest = 1024

    /// - Throws: `invalid`.
    static func check(_ key: String) throws(S3Error) {
        guard !key.isEmpty else { throw .invalid("A key of S3 is empty.") }
        guard key.utf8.count <= longest else { throw .invalid("A key of S3 is longer than \(longest) bytes.") }
        guard key.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .invalid("A key of S3 has a control character.")
        }
        // Segments of dots are refused: servers and proxies that normalize paths would go to another object, or another
        // bucket. The key is split in bytes, because to Swift a slash and a combining mark after it are one character.
        let segments = key.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard !segments.contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }) else {
            throw .invalid("A key of S3 has a segment of dots only.")
        }
        guard !segments.dropLast().contains(where: \.isEmpty) else {
            throw .invalid("A key of S3 has an empty segment.")
        }
    }
}
