/// The rules for the keys of objects.
enum S3Key {
    /// A key has so many bytes at most (AWS, "Naming Amazon S3 objects").
    static let longest = 1024

    /// - Throws: `invalid`.
    static func check(_ key: String) throws(S3Error) {
        guard !key.isEmpty else { throw .invalid("A key of S3 is empty.") }
        guard key.utf8.count <= longest else { throw .invalid("A key of S3 is longer than \(longest) bytes.") }
        guard key.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .invalid("A key of S3 has a control character.")
        }
        // Servers and proxies that tidy paths would take them for another object, or for another bucket.
        // In bytes: a slash and a mark behind it are one character, and no slash.
        let segments = key.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard !segments.contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }) else {
            throw .invalid("A key of S3 has a segment of dots only.")
        }
        guard !segments.dropLast().contains(where: \.isEmpty) else {
            throw .invalid("A key of S3 has an empty segment.")
        }
    }
}
