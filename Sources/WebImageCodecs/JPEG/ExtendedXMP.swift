/// XMP that is longer than a JPEG marker: a packet that fits, and a longer one to which it refers (XMP specification
/// part 3, 1.1.3.1).
enum ExtendedXMP {
    private static let start = Array("<rdf:RDF".utf8)
    private static let end = Array("</rdf:RDF>".utf8)
    private static let note = Array("xmpNote:HasExtendedXMP".utf8)

    /// Joins both to one packet: the longer one's descriptions follow those of the other.
    ///
    /// - Returns: nil if `packet` does not refer to it, or they have an unusual form.
    static func joined(_ packet: [UInt8], _ longer: [UInt8], name: [UInt8]) -> [UInt8]? {
        guard let mention = mention(of: name, in: packet), let content = content(of: longer),
            let place = packet.lastRange(of: end)
        else { return nil }
        guard mention.upperBound <= place.lowerBound else { return nil }
        var joined = Array(packet[..<mention.lowerBound])
        joined += packet[mention.upperBound..<place.lowerBound]
        joined += longer[content]
        joined += packet[place.lowerBound...]
        return joined
    }

    /// The range of the attribute or element that names the longer packet.
    private static func mention(of name: [UInt8], in packet: [UInt8]) -> Range<Int>? {
        guard let found = packet.range(of: note) else { return nil }
        for (before, after) in [("=\"", "\""), ("='", "'")] {
            let attribute = Array(before.utf8) + name + Array(after.utf8)
            if packet[found.upperBound...].starts(with: attribute) {
                return found.lowerBound..<found.upperBound + attribute.count
            }
        }
        let element = [UInt8(ascii: ">")] + name + Array("</".utf8) + note + [UInt8(ascii: ">")]
        guard found.lowerBound > 0, packet[found.lowerBound - 1] == UInt8(ascii: "<"),
            packet[found.upperBound...].starts(with: element)
        else { return nil }
        return found.lowerBound - 1..<found.upperBound + element.count
    }

    /// The range of the descriptions.
    private static func content(of packet: [UInt8]) -> Range<Int>? {
        guard let found = packet.range(of: start), let last = packet.lastRange(of: end),
            let opened = packet[found.upperBound...].firstIndex(of: UInt8(ascii: ">")), opened < last.lowerBound
        else { return nil }
        return opened + 1..<last.lowerBound
    }

    /// Makes the packet that refers to `longer`, and its name.
    ///
    /// - Returns: nil if `longer` has an unusual form, so that readers could not join the two.
    static func naming(_ longer: [UInt8]) -> (packet: [UInt8], name: [UInt8])? {
        guard content(of: longer) != nil else { return nil }
        let digits = Array("0123456789ABCDEF".utf8)
        let name = MD5.digest(of: longer).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        let packet = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description rdf:about="" xmlns:xmpNote="http://ns.adobe.com/xmp/note/" \
            xmpNote:HasExtendedXMP="\(String(decoding: name, as: UTF8.self))"/></rdf:RDF></x:xmpmeta>
            """
        return (Array(packet.utf8), name)
    }
}

extension [UInt8] {
    fileprivate func range(of pattern: [UInt8]) -> Range<Int>? {
        var at = startIndex
        while let next = self[at...].firstIndex(of: pattern[0]) {
            if self[next...].starts(with: pattern) { return next..<next + pattern.count }
            at = next + 1
        }
        return nil
    }

    fileprivate func lastRange(of pattern: [UInt8]) -> Range<Int>? {
        var end = endIndex
        while let next = self[..<end].lastIndex(of: pattern[0]) {
            if self[next...].starts(with: pattern) { return next..<next + pattern.count }
            end = next
        }
        return nil
    }
}
