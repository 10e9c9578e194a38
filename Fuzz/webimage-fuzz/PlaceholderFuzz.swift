import WebImageCore
import WebImageProcessing

/// Placeholder hashes from untrusted sources: as text, as bytes and as base64.
enum PlaceholderFuzz {
    /// Seeds. Each is one kind of hash, but is parsed as all kinds.
    static let seeds: [(String, [UInt8])] = [
        ("blurhash", Array("LEHV6nWB2yk8pyo0adR*.7kCMdnj".utf8)), ("blurhash-average", Array("00M|T9".utf8)),
        ("thumbhash-base64", Array("l6YyUah3d3eIiAiIiId/hwg=".utf8)),
        (
            "thumbhash-alpha",
            [
                0x1C, 0x19, 0x82, 0x0C, 0x82, 0x07, 0x44, 0x74, 0x60, 0x64, 0x16, 0x68, 0x46, 0x04, 0x66, 0xCA, 0xDA,
                0x6F, 0x65, 0x23, 0x04, 0x32, 0x18, 0x75, 0x02,
            ]
        ),
    ]

    static func run(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let hash = try? BlurHash(text) {
            precondition(hash.text == text, "the text is another")
            _ = hash.averageColor
            _ = try? hash.image(width: 5, height: 4, punch: Double(bytes[0]))
        }
        for hash in [try? ThumbHash(bytes: bytes), try? ThumbHash(base64: text)].compactMap(\.self) {
            precondition((try? ThumbHash(base64: hash.base64)) == hash, "the hash does not come back")
            _ = hash.averageColor
            precondition((try? hash.image().size.isEmpty) == false, "nothing is drawn")
        }
    }
}
