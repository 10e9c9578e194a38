package import WebImageCore

/// The orientation tag of an EXIF block (EXIF 2.3, section 4.6.4; the block is a small TIFF file).
package enum EXIFOrientation {
    private static let tag: UInt16 = 0x0112
    private static let short: UInt16 = 3
    private static let long: UInt16 = 4
    private static let signedShort: UInt16 = 8
    private static let signedLong: UInt16 = 9

    /// The orientation of a TIFF block; upright if it has none or an invalid one. Some writers store it in 32 bits
    /// rather than 16, or with a sign, which libexif and Pillow accept.
    ///
    /// Accepts any bytes, and reads nothing outside them.
    package static func read(_ block: UnsafeRawBufferPointer) -> Orientation {
        let bytes = TIFFBytes(withoutPrefix(block))
        guard let bytes, let directory = bytes.long(at: 4), let count = bytes.short(at: Int(directory)) else {
            return .up
        }
        for index in 0..<Int(count) {
            let entry = Int(directory) + 2 + index * 12
            guard let entryTag = bytes.short(at: entry), let type = bytes.short(at: entry + 2),
                let values = bytes.long(at: entry + 4), let short = bytes.short(at: entry + 8),
                let long = bytes.long(at: entry + 8)
            else { return .up }
            guard entryTag == tag else { continue }
            guard values == 1 else { return .up }
            switch type {
            case Self.short, Self.signedShort: return Orientation(tag: Int(short))
            case Self.long, Self.signedLong: return Orientation(tag: Int(long))
            default: return .up
            }
        }
        return .up
    }

    /// A TIFF block with the orientation only.
    package static func block(_ orientation: Orientation) -> [UInt8] {
        let header: [UInt8] = [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8]
        let entry: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation.rawValue, 0, 0]
        return header + [0, 1] + entry + [0, 0, 0, 0]
    }

    /// Some writers of PNG put JPEG's prefix before the TIFF block.
    private static func withoutPrefix(_ block: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        block.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0])
            ? UnsafeRawBufferPointer(rebasing: block.dropFirst(6)) : block
    }
}
