/// What is not to be served any more.
public enum Purge: Hashable, Sendable {
    /// All that is made of the source of this URL.
    case url(String)
    /// All that is made of sources whose URLs begin so.
    case prefix(String)
    /// All that is made of sources whose origin gave them this tag.
    case tag(String)
    case all
}

/// A purge as the servers of a fleet tell it to each other. It holds a hash of the text, so that Redis gets to know no URL.
///
/// Two texts with the same hash purge each other: that costs a picture that is made again, and nothing else.
struct PurgeMember: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case url
        /// With how many bytes the prefix has.
        case prefix(Int)
        case tag
        case all
    }

    var kind: Kind
    var hash: UInt64

    init(_ purge: Purge) {
        switch purge {
        case .url(let url): (kind, hash) = (.url, StableHash.of(url))
        case .prefix(let prefix): (kind, hash) = (.prefix(prefix.utf8.count), StableHash.of(prefix))
        case .tag(let tag): (kind, hash) = (.tag, StableHash.of(tag))
        case .all: (kind, hash) = (.all, 0)
        }
    }

    /// - Parameter text: as ``text`` writes it; nil for anything else.
    init?(text: String) {
        let parts = text.split(separator: ":").map(String.init)
        guard let name = parts.first else { return nil }
        switch (name, parts.count) {
        case ("all", 1): (kind, hash) = (.all, 0)
        case ("url", 2), ("tag", 2):
            guard let hash = UInt64(parts[1], radix: 16) else { return nil }
            (kind, self.hash) = (name == "url" ? .url : .tag, hash)
        case ("prefix", 3):
            guard let length = Int(parts[1]), length >= 0, let hash = UInt64(parts[2], radix: 16) else { return nil }
            (kind, self.hash) = (.prefix(length), hash)
        default: return nil
        }
    }

    var text: String {
        let digits = String(hash, radix: 16)
        switch kind {
        case .url: return "url:\(digits)"
        case .prefix(let length): return "prefix:\(length):\(digits)"
        case .tag: return "tag:\(digits)"
        case .all: return "all"
        }
    }
}

/// FNV-1a of 64 bits: the same in every process, and that of each beginning of a text comes with that of the text.
public struct StableHash: Hashable, Sendable {
    public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    public init() {}

    public mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }

    public static func of(_ text: String) -> UInt64 {
        var hash = StableHash()
        for byte in text.utf8 { hash.add(byte) }
        return hash.value
    }
}
