/// An `ETag` (RFC 9110 section 8.8.3).
///
/// Some servers send one without quotes, and expect it back like that. It counts as weak: it is good for revalidation only.
struct EntityTag: Hashable, Sendable {
    let isWeak: Bool
    private let isQuoted: Bool
    /// The text, without quotes.
    let opaque: String

    private static let longest = 1024

    private init?(isWeak: Bool, isQuoted: Bool = true, opaque: String) {
        // A replacement character stands for bytes that are not UTF-8: such a tag could not be sent back unchanged.
        let isFine = opaque.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F && $0 != "\u{FFFD}" }
        guard isFine, opaque.utf8.count <= Self.longest else { return nil }
        self.isWeak = isWeak
        self.isQuoted = isQuoted
        self.opaque = opaque
    }

    /// Nil if the text is not exactly one tag.
    init?(_ text: String?) {
        guard let text else { return nil }
        var scanner = FieldScanner(text)
        scanner.skipBlanks()
        guard let tag = Self(from: &scanner) else {
            self.init(withoutQuotes: text)
            return
        }
        scanner.skipBlanks()
        guard scanner.isAtEnd else { return nil }
        self = tag
    }

    private init?(withoutQuotes text: String) {
        let opaque = String(text.trimmingBlanks())
        let isTag = !opaque.isEmpty && opaque != "*" && !opaque.contains { "\", ".contains($0) }
        guard isTag, !opaque.lowercased().hasPrefix("w/") else { return nil }
        self.init(isWeak: true, isQuoted: false, opaque: opaque)
    }

    private init?(from scanner: inout FieldScanner) {
        var isWeak = false
        if scanner.next == UInt8(ascii: "W") {
            _ = scanner.skip(UInt8(ascii: "W"))
            guard scanner.skip(UInt8(ascii: "/")) else { return nil }
            isWeak = true
        }
        guard scanner.skip(UInt8(ascii: "\"")), let opaque = scanner.untilQuote() else { return nil }
        self.init(isWeak: isWeak, opaque: opaque)
    }

    /// The text for a header field.
    var text: String { isQuoted ? (isWeak ? "W/\"" : "\"") + opaque + "\"" : opaque }

    /// Whether both are strong and equal: the bytes are the same.
    func stronglyMatches(_ other: EntityTag) -> Bool { !isWeak && self == other }

    /// Whether both are equal apart from weakness: the content is equivalent.
    func weaklyMatches(_ other: EntityTag) -> Bool { opaque == other.opaque }

    /// The value of `If-None-Match` or `If-Match`.
    enum List: Hashable {
        case any
        case tags([EntityTag])

        /// Nil if the text is not a list of tags.
        init?(_ text: String) {
            var scanner = FieldScanner(text)
            scanner.skipToElement()
            if scanner.skip(UInt8(ascii: "*")) {
                scanner.skipToElement()
                guard scanner.isAtEnd else { return nil }
                self = .any
                return
            }
            var tags: [EntityTag] = []
            while !scanner.isAtEnd {
                guard let tag = EntityTag(from: &scanner) else { return nil }
                tags.append(tag)
                scanner.skipBlanks()
                guard scanner.isAtEnd || scanner.next == UInt8(ascii: ",") else { return nil }
                scanner.skipToElement()
            }
            self = .tags(tags)
        }

        func weaklyMatches(_ tag: EntityTag) -> Bool {
            switch self {
            case .any: true
            case .tags(let tags): tags.contains { $0.weaklyMatches(tag) }
            }
        }
    }
}
