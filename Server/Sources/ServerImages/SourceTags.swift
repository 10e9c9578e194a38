import FleetCoordination
public import WebImage

/// The tags of a picture from its origin's answer, by which it can be purged: `Cache-Tag` (separated by commas),
/// `Surrogate-Key` and `xkey` (separated by spaces).
public enum SourceTags {
    private static let maxTags = 128

    public static let fields: [HTTPField.Name] = ["Cache-Tag", "Surrogate-Key", "xkey"].compactMap {
        HTTPField.Name($0)
    }

    /// - Returns: hashes of the tags, see `StableHash`.
    static func hashes(of head: ResponseHead?) -> [UInt64] {
        guard let headers = head?.headers else { return [] }
        var tags: [UInt64] = []
        for name in fields {
            for tag in (headers[name] ?? "").split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
                guard tags.count < maxTags else { return tags }
                tags.append(StableHash.of(String(tag)))
            }
        }
        return tags
    }
}
