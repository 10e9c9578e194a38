import WebImageCore

/// The only property of an XMP packet that depends on the pixels.
enum XMPPacket {
    private static let property = Array("tiff:Orientation".utf8)

    /// The packet with the orientation changed, if it has one: as an attribute or as an element with one digit.
    static func setting(_ orientation: Orientation, in packet: [UInt8]) -> [UInt8] {
        var packet = packet
        var start = 0
        while let found = firstProperty(in: packet, from: start) {
            start = found + property.count
            var place = start
            func skip(_ characters: [Character]) -> Bool {
                guard place < packet.count, characters.contains(Character(UnicodeScalar(packet[place]))) else {
                    return false
                }
                place += 1
                return true
            }
            let isValue = skip([">"]) || (skip(["="]) && skip(["\"", "'"]))
            let end = place + 1
            guard isValue, end < packet.count, (0x30...0x39).contains(packet[place]),
                [UInt8(ascii: "<"), UInt8(ascii: "\""), UInt8(ascii: "'")].contains(packet[end])
            else { continue }
            packet[place] = 0x30 + orientation.rawValue
        }
        return packet
    }

    private static func firstProperty(in packet: [UInt8], from start: Int) -> Int? {
        var at = start
        while let next = packet[at...].firstIndex(of: property[0]) {
            if packet[next...].starts(with: property) { return next }
            at = next + 1
        }
        return nil
    }
}
