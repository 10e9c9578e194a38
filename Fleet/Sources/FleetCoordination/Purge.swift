/// Describes what must no longer be served.
public enum Purge: Hashable, Sendable {
    /// All results of the source with this URL.
    case url(String)
    /// All results of sources whose URLs begin with this text.
    case prefix(String)
    /// All results of sources to which their origin gave this tag.
    case tag(String)
    case all
}

/// A purge in the form that the servers of a fleet share. It holds a hash of the text, so that Redis gets no URLs.
///
/// A purge also affects other texts with the same hash, whose pictures are then merely made again.
struct PurgeMember: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case url
        /// The value is the length of the prefix in bytes.
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

    /// - Parameter text: in the form of ``text``; nil for anything else.
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

/// FNV-1a of 64 bits: the same in every process, and it yields the hashes of all prefixes of a text.
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
