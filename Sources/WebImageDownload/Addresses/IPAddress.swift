/// A numeric IPv4 or IPv6 address.
struct IPAddress: Hashable, Sendable {
    /// 4 or 16 bytes.
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Parses IPv4 in dotted decimals, or IPv6 in any form of RFC 4291, without brackets; a zone (`%eth0`) is cut off.
    /// Nil for anything else: the resolver handles unusual spellings of hosts (octal, hexadecimal, short).
    init?(_ text: some StringProtocol) {
        let text = text.utf8.prefix { $0 != UInt8(ascii: "%") }
        let bytes = text.contains(UInt8(ascii: ":")) ? Self.v6(Array(text)) : Self.v4(text[...])
        guard let bytes else { return nil }
        self.bytes = bytes
    }

    private static func v4(_ text: some Collection<UInt8>) -> [UInt8]? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            let isPlain = part.count == 1 || part.first != UInt8(ascii: "0")
            guard (1...3).contains(part.count), isPlain, part.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }),
                let byte = UInt8(String(decoding: part, as: UTF8.self))
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private static func v6(_ text: [UInt8]) -> [UInt8]? {
        guard text.count <= 45 else { return nil }
        var front: [UInt8] = []
        var back: [UInt8]?
        var rest = text[...]
        if rest.starts(with: "::".utf8) {
            back = []
            rest = rest.dropFirst(2)
        }
        while !rest.isEmpty {
            let group = rest.prefix { $0 != UInt8(ascii: ":") }
            guard let bytes = group.contains(UInt8(ascii: ".")) ? v4(group) : hexadecimal(group) else { return nil }
            if back == nil { front += bytes } else { back? += bytes }
            rest = rest.dropFirst(group.count)
            if bytes.count == 4, !rest.isEmpty { return nil }
            if rest.isEmpty { break }
            if rest.starts(with: "::".utf8) {
                guard back == nil else { return nil }
                back = []
                rest = rest.dropFirst(2)
            } else {
                rest = rest.dropFirst()
                if rest.isEmpty { return nil }
            }
        }
        guard let back else { return front.count == 16 ? front : nil }
        let gap = 16 - front.count - back.count
        return gap >= 2 ? front + [UInt8](repeating: 0, count: gap) + back : nil
    }

    private static func hexadecimal(_ group: ArraySlice<UInt8>) -> [UInt8]? {
        guard (1...4).contains(group.count), let value = UInt16(String(decoding: group, as: UTF8.self), radix: 16),
            group.first != UInt8(ascii: "+")
        else { return nil }
        return [UInt8(value >> 8), UInt8(value & 0xFF)]
    }

    /// The IPv4 addresses that an IPv6 address leads to, or may lead to: IPv4-mapped and -compatible, 6to4, NAT64 with
    /// both prefixes, Teredo, ISATAP. The address itself is not among them.
    var embedded: [IPAddress] {
        guard bytes.count == 16 else { return [] }
        func part(_ start: Int) -> IPAddress { IPAddress(bytes: Array(bytes[start..<start + 4])) }
        func begins(_ prefix: [UInt8]) -> Bool { bytes.starts(with: prefix) }
        let zeros = [UInt8](repeating: 0, count: 10)
        if begins(zeros + [0xFF, 0xFF]) { return [part(12)] }
        if begins([0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0]) { return [part(12)] }
        // ::1 and :: have ranges of their own; the addresses that they would embed (0.0.0.1, 0.0.0.0) must not be
        // reached either.
        if begins(zeros + [0, 0]) { return [part(12)] }
        if begins([0x20, 0x02]) { return [part(2)] }
        if begins([0x00, 0x64, 0xFF, 0x9B]) { return [part(12)] }
        if begins([0x20, 0x01, 0, 0]) {
            return [part(4), IPAddress(bytes: bytes[12...].map { ~$0 })]
        }
        if bytes[9] == 0, bytes[10] == 0x5E, bytes[11] == 0xFE, bytes[8] & 0xFC == 0 { return [part(12)] }
        return []
    }
}
