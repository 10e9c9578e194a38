import WebImageCore

/// The properties of an XMP packet that depend on the pixels (XMP specification, part 2, "TIFF namespace", "EXIF
/// namespace" and "Photoshop namespace").
struct XMPPacket {
    private enum Kind {
        case digit, number, text
    }

    private let properties: [(name: StaticString, value: String, kind: Kind)]

    /// - Parameters:
    ///   - size: of the file's pixels, as in EXIF.
    ///   - isStandardColor: whether the file's colours are sRGB.
    init(orientation: Orientation, size: PixelSize, isStandardColor: Bool) {
        let colors: [(StaticString, String, Kind)] = [
            ("exif:ColorSpace", "1", .number), ("photoshop:ICCProfile", "sRGB IEC61966-2.1", .text),
        ]
        properties =
            [
                ("tiff:Orientation", String(orientation.rawValue), .digit),
                ("tiff:ImageWidth", String(size.width), .number), ("tiff:ImageLength", String(size.height), .number),
                ("exif:PixelXDimension", String(size.width), .number),
                ("exif:PixelYDimension", String(size.height), .number),
            ] + (isStandardColor ? colors : []) + Self.pictures.map { ($0, "", .text) }
    }

    /// Pictures in the packet: thumbnails, and what a camera saw before it changed the picture. They are emptied, like
    /// the thumbnail of EXIF, because they may show what was cut off.
    private static let pictures: [StaticString] = ["xmpGImg:image", "xapGImg:image", "GImage:Data"]

    /// Changes those of the properties that the packet has, as attributes or as elements.
    func changing(_ packet: [UInt8]) -> [UInt8] {
        var changed: [UInt8] = []
        var copied = 0
        packet.withUnsafeBytes { text in
            var cursor = XMLCursor(text)
            while !cursor.isAtEnd {
                let before = cursor.next
                cursor.at += 1
                let isElement = before == UInt8(ascii: "<")
                guard isElement || XMLCursor.isSpace(before), let property = property(at: &cursor) else { continue }
                guard let old = value(at: &cursor, ofElement: isElement),
                    Self.isReplaceable(text[old], property.kind)
                else { continue }
                changed += packet[copied..<old.lowerBound]
                changed += property.value.utf8
                copied = old.upperBound
            }
        }
        return changed + packet[copied...]
    }

    private func property(at cursor: inout XMLCursor) -> (value: String, kind: Kind)? {
        for (name, value, kind) in properties where cursor.skips(name) { return (value, kind) }
        return nil
    }

    private func value(at cursor: inout XMLCursor, ofElement isElement: Bool) -> Range<Int>? {
        if isElement {
            guard cursor.skips(">") else { return nil }
            let start = cursor.at
            while !cursor.isAtEnd, cursor.next != UInt8(ascii: "<") { cursor.at += 1 }
            return cursor.isAtEnd ? nil : start..<cursor.at
        }
        cursor.skipSpace()
        guard cursor.skips("=") else { return nil }
        cursor.skipSpace()
        let start = cursor.at + 1
        return cursor.literal().map { start..<start + $0.count }
    }

    private static func isReplaceable(_ value: Slice<UnsafeRawBufferPointer>, _ kind: Kind) -> Bool {
        switch kind {
        case .digit: value.count == 1 && value.allSatisfy(isDigit)
        case .number: !value.isEmpty && value.allSatisfy(isDigit)
        case .text: !value.isEmpty
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
