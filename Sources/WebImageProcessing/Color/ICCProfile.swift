/// Information about colour profiles.
public enum ICCProfile {
    /// The name of a profile (ICC.1, `profileDescriptionTag`), in English if available; nil if the bytes are not a
    /// profile, or the profile has no name.
    public static func name(of profile: [UInt8]) -> String? {
        guard let tag = ICCTags(profile)?.tag("desc") else { return nil }
        switch tag.kind {
        case "desc": return oldName(tag)
        case "mluc": return localizedName(tag)
        default: return nil
        }
    }

    private static let longestName = 256

    /// `textDescriptionType` (ICC.1:2001, 6.5.17): text that ends with a zero.
    private static func oldName(_ tag: ArraySlice<UInt8>) -> String? {
        guard let count = tag.number(at: 8, 4) else { return nil }
        let text = tag.dropFirst(12).prefix(min(count, longestName)).prefix { $0 != 0 }
        return named(String(decoding: text, as: UTF8.self))
    }

    /// `multiLocalizedUnicodeType` (ICC.1:2010, 10.13): texts in several languages. English is preferred, else the
    /// first text is used.
    private static func localizedName(_ tag: ArraySlice<UInt8>) -> String? {
        guard let count = tag.number(at: 8, 4), tag.number(at: 12, 4) == 12 else { return nil }
        // The stated number is not trusted: entries must lie within the bytes.
        let places = (0..<min(count, max(tag.count - 16, 0) / 12)).map { 16 + 12 * $0 }
        let english = Int(UInt8(ascii: "e")) << 8 | Int(UInt8(ascii: "n"))
        guard let place = places.first(where: { tag.number(at: $0, 2) == english }) ?? places.first,
            let length = tag.number(at: place + 4, 4), let start = tag.number(at: place + 8, 4),
            start + length <= tag.count
        else { return nil }
        let units = (0..<min(length / 2, longestName)).compactMap { tag.number(at: start + 2 * $0, 2) }
        return named(String(decoding: units.map { UInt16(truncatingIfNeeded: $0) }.prefix { $0 != 0 }, as: UTF16.self))
    }

    private static func named(_ text: String) -> String? { text.isEmpty ? nil : text }
}
