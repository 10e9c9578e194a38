import ServerGrammar
public import WebImage

/// A finished result: its bytes, and the properties that answers state.
public struct StoredResult: Sendable {
    public var bytes: [UInt8]
    public var mediaType: String
    public var fileExtension: String
    /// Includes the quotes.
    public var eTag: String
    /// Seconds since 1970.
    public var storedAt: Int
    public var freshness: SourceFreshness
    public var sourceSize: PixelSize
    public var resultSize: PixelSize
    public var sourceBytes: Int
    /// When the work on the result began, as given by ``Purging/stamp``: milliseconds since 1970.
    public var begun = 0
    /// When the origin was last asked about the source; seconds since 1970.
    public var checkedAt: Int
    /// Hashes of the tags of its source.
    public var tags: [UInt64] = []

    public init(
        bytes: [UInt8], mediaType: String, fileExtension: String, storedAt: Int, freshness: SourceFreshness,
        sourceSize: PixelSize, resultSize: PixelSize, sourceBytes: Int
    ) {
        self.bytes = bytes
        self.mediaType = mediaType
        self.fileExtension = fileExtension
        self.storedAt = storedAt
        self.freshness = freshness
        self.sourceSize = sourceSize
        self.resultSize = resultSize
        self.sourceBytes = sourceBytes
        checkedAt = storedAt
        eTag = Self.eTag(of: bytes)
    }

    /// Whether the result was made while this machine's clock was ahead. It would seem to be newer than any purge, and fresh for
    /// too long.
    func isOfFuture(at now: Int) -> Bool { max(storedAt, checkedAt, freshness.madeAt) > now + 60 }

    /// Replaces the bytes.
    public mutating func replaceBytes(_ bytes: [UInt8]) {
        guard bytes != self.bytes else { return }
        self.bytes = bytes
        eTag = Self.eTag(of: bytes)
    }

    private static func eTag(of bytes: [UInt8]) -> String {
        "\"" + Base64URL.encode(Digest.sha256(bytes).prefix(16)) + "\""
    }

    /// Whether the bytes are undamaged.
    var isWhole: Bool { eTag == Self.eTag(of: bytes) }

    /// The approximate size in memory.
    var cost: Int { bytes.count + 512 }

    // MARK: - On disk

    private static let version = "3"

    /// All properties except the bytes, one a line.
    var description: [UInt8] {
        let lines = [
            Self.version, mediaType, fileExtension, eTag, "\(storedAt)", "\(freshness.freshUntil)",
            "\(freshness.mustRevalidate)", freshness.eTag ?? "", freshness.lastModified ?? "",
            freshness.cacheControl ?? "", freshness.expires.map { "\($0)" } ?? "", "\(sourceSize.width)",
            "\(sourceSize.height)", "\(resultSize.width)", "\(resultSize.height)", "\(sourceBytes)", "\(begun)",
            "\(checkedAt)",
            tags.map { String($0, radix: 16) }.joined(separator: " "), "\(freshness.madeAt)",
        ]
        return Array(lines.map { $0.filter { $0 != "\n" } }.joined(separator: "\n").utf8)
    }

    /// - Returns: nil if another version wrote the description.
    init?(_ bytes: [UInt8], description: [UInt8]) {
        let lines = String(decoding: description, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count == 20, lines[0] == Self.version, let storedAt = Int(lines[4]), let fresh = Int(lines[5]),
            let width = Int(lines[11]), let height = Int(lines[12]), let resultWidth = Int(lines[13]),
            let resultHeight = Int(lines[14]), let sourceBytes = Int(lines[15]),
            let begun = Int(lines[16]), let checkedAt = Int(lines[17]), let madeAt = Int(lines[19]),
            // Anybody who may write to Redis or the bucket may have chosen the numbers, and sums with them could overflow.
            [storedAt, fresh, width, height, resultWidth, resultHeight, sourceBytes, begun, checkedAt, madeAt]
                .allSatisfy({ 0...1 << 53 ~= $0 })
        else { return nil }
        var freshness = SourceFreshness(freshUntil: fresh, madeAt: madeAt)
        func filled(_ text: String) -> String? { text.isEmpty ? nil : text }
        freshness.mustRevalidate = lines[6] == "true"
        (freshness.eTag, freshness.lastModified) = (filled(lines[7]), filled(lines[8]))
        (freshness.cacheControl, freshness.expires) = (filled(lines[9]), Int(lines[10]))
        self.bytes = bytes
        (mediaType, fileExtension, eTag, self.storedAt) = (lines[1], lines[2], lines[3], storedAt)
        self.freshness = freshness
        sourceSize = PixelSize(width: width, height: height)
        resultSize = PixelSize(width: resultWidth, height: resultHeight)
        self.sourceBytes = sourceBytes
        (self.begun, self.checkedAt) = (begun, checkedAt)
        tags = lines[18].split(separator: " ").compactMap { UInt64($0, radix: 16) }
    }
}
