package import WebImageCore

/// An EXIF block (EXIF 2.3, section 4.5; a small TIFF file) that can be read, and changed without moving its content:
/// values are changed in place, and new ones are appended with a new first directory.
///
/// Accepts any bytes: nothing outside them is read, and no directory is read twice, so that a directory that refers to
/// itself causes no loop.
package struct EXIFBlock: Hashable, Sendable {
    enum Tag: UInt16 {
        case orientation = 0x0112
        case horizontalResolution = 0x011A
        case verticalResolution = 0x011B
        case resolutionUnit = 0x0128
        case compression = 0x0103
        case thumbnailOffset = 0x0201
        case thumbnailLength = 0x0202
        case details = 0x8769
        case colorSpace = 0xA001
        case width = 0xA002
        case height = 0xA003
    }

    private static let short: UInt16 = 3
    private static let long: UInt16 = 4
    private static let rational: UInt16 = 5
    /// The prefix that JPEG, and some writers of PNG and WebP, put before the block.
    private static let name = Array("Exif".utf8) + [0, 0]
    private static let entryLength = 12

    package private(set) var bytes: [UInt8]
    let isBigEndian: Bool

    /// - Parameter block: with or without JPEG's prefix.
    /// - Returns: nil if the bytes do not begin as a TIFF block.
    package init?(_ block: [UInt8]) {
        let block = block.starts(with: Self.name) ? Array(block.dropFirst(Self.name.count)) : block
        guard block.count >= 8, let order = block.withUnsafeBytes({ TIFFBytes($0)?.isBigEndian }) else { return nil }
        bytes = block
        isBigEndian = order
    }

    /// An empty block.
    init() {
        bytes = [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0]
        isBigEndian = true
    }

    package var orientation: Orientation { bytes.withUnsafeBytes { EXIFOrientation.read($0) } }

    /// The resolution tags (TIFF 6.0, section 8); nil if they are missing, or have no unit.
    package var density: PixelDensity? {
        guard let horizontal = rationalValue(.horizontalResolution) else { return nil }
        let vertical = rationalValue(.verticalResolution) ?? horizontal
        let unit = entries(of: mainDirectory).first { $0.tag == Tag.resolutionUnit.rawValue }
        let factor: Double
        switch unit.flatMap({ shortNumber(at: $0.offset + 8) }) ?? 2 {
        case 2: factor = 1
        case 3: factor = 2.54
        default: return nil
        }
        return PixelDensity(horizontal: horizontal * factor, vertical: vertical * factor)
    }

    // MARK: reading

    private func shortNumber(at offset: Int) -> Int? {
        bytes.withUnsafeBytes { TIFFBytes($0)?.short(at: offset).map { Int($0) } }
    }

    private func longNumber(at offset: Int) -> Int? {
        bytes.withUnsafeBytes { TIFFBytes($0)?.long(at: offset).map { Int($0) } }
    }

    private var mainDirectory: Int? { longNumber(at: 4) }

    /// The tags of a directory, and the positions of their entries, as far as they lie within the block.
    private func entries(of directory: Int?) -> [(tag: UInt16, offset: Int)] {
        bytes.withUnsafeBytes { block in
            guard let directory, let bytes = TIFFBytes(block), let count = bytes.short(at: directory) else { return [] }
            let there = min(Int(count), max(block.count - directory - 2, 0) / Self.entryLength)
            return (0..<there).compactMap { index in
                let offset = directory + 2 + index * Self.entryLength
                return bytes.short(at: offset).map { ($0, offset) }
            }
        }
    }

    /// The position of a directory's link to the next one.
    private func nextLink(of directory: Int) -> Int? {
        shortNumber(at: directory).map { directory + 2 + $0 * Self.entryLength }
    }

    private func rationalValue(_ tag: Tag) -> Double? {
        guard let entry = entries(of: mainDirectory).first(where: { $0.tag == tag.rawValue })?.offset,
            shortNumber(at: entry + 2) == Int(Self.rational), longNumber(at: entry + 4) == 1,
            let place = longNumber(at: entry + 8), let above = longNumber(at: place),
            let below = longNumber(at: place + 4), below != 0
        else { return nil }
        return Double(above) / Double(below)
    }

    /// A single integer, in either of the types that writers use.
    private func number(_ tag: Tag, in directory: Int?) -> Int? {
        guard let entry = entries(of: directory).first(where: { $0.tag == tag.rawValue })?.offset,
            longNumber(at: entry + 4) == 1
        else { return nil }
        switch shortNumber(at: entry + 2) {
        case Int(Self.short): return shortNumber(at: entry + 8)
        case Int(Self.long): return longNumber(at: entry + 8)
        default: return nil
        }
    }
}

// MARK: - Changing

extension EXIFBlock {
    /// Sets the orientation; a missing tag is added only for pixels that are not upright.
    mutating func set(_ orientation: Orientation) {
        let value = ordered(UInt16(orientation.rawValue)) + [0, 0]
        let places = entries(of: mainDirectory).filter { $0.tag == Tag.orientation.rawValue }
        for place in places {
            put(ordered(Self.short) + ordered(UInt32(1)) + value, at: place.offset + 2)
        }
        if places.isEmpty, orientation != .up { add([(.orientation, Self.short, value)]) }
    }

    /// Adds the resolution tags; for a block without them.
    mutating func add(_ density: PixelDensity) {
        let places = [density.horizontal, density.vertical].map { value in
            if bytes.count % 2 == 1 { bytes.append(0) }
            let place = UInt32(truncatingIfNeeded: bytes.count)
            bytes += ordered(UInt32((min(value, 4_000_000) * 1000).rounded())) + ordered(UInt32(1000))
            return ordered(place)
        }
        let known = [Tag.horizontalResolution, .verticalResolution, .resolutionUnit].map(\.rawValue)
        add(
            [
                (.horizontalResolution, Self.rational, places[0]), (.verticalResolution, Self.rational, places[1]),
                (.resolutionUnit, Self.short, ordered(UInt16(2)) + [0, 0]),
            ], replacing: Set(known))
    }

    /// Changes the size of the picture where the block states it.
    mutating func set(_ size: PixelSize) {
        let details = number(.details, in: mainDirectory)
        for entry in entries(of: details) {
            let value: Int
            switch entry.tag {
            case Tag.width.rawValue: value = size.width
            case Tag.height.rawValue: value = size.height
            default: continue
            }
            guard let value = UInt32(exactly: value) else { continue }
            put(ordered(Self.long) + ordered(UInt32(1)) + ordered(value), at: entry.offset + 2)
        }
    }

    /// Declares the colours as sRGB where the block states them.
    mutating func setStandardColors() {
        for entry in entries(of: number(.details, in: mainDirectory)) where entry.tag == Tag.colorSpace.rawValue {
            put(ordered(Self.short) + ordered(UInt32(1)) + ordered(UInt16(1)) + [0, 0], at: entry.offset + 2)
        }
    }

    /// Removes the thumbnail, which may show another content than the picture.
    mutating func removeThumbnail() {
        guard let link = mainDirectory.flatMap({ nextLink(of: $0) }), let second = longNumber(at: link), second != 0
        else { return }
        if let start = number(.thumbnailOffset, in: second), let count = number(.thumbnailLength, in: second),
            start >= 8, start < bytes.count
        {
            let end = min(start + count, bytes.count)
            for index in start..<end { bytes[index] = 0 }
            if end == bytes.count, link + 4 <= start { bytes.removeLast(end - start) }
        }
        put(ordered(UInt32(0)), at: link)
    }

    /// Adds a directory with a small JPEG in it (EXIF 2.3, section 4.5.8); for a block without one.
    mutating func addThumbnail(_ jpeg: [UInt8]) {
        guard let link = mainDirectory.flatMap({ nextLink(of: $0) }), longNumber(at: link) == 0 else { return }
        if bytes.count % 2 == 1 { bytes.append(0) }
        let start = bytes.count
        let fields: [(tag: Tag, type: UInt16, value: [UInt8])] = [
            (.compression, Self.short, ordered(UInt16(6)) + [0, 0]),
            (.thumbnailOffset, Self.long, ordered(UInt32(start + 2 + 3 * Self.entryLength + 4))),
            (.thumbnailLength, Self.long, ordered(UInt32(jpeg.count))),
        ]
        put(ordered(UInt32(start)), at: link)
        bytes += ordered(UInt16(fields.count))
        for (tag, type, value) in fields { bytes += ordered(tag.rawValue) + ordered(type) + ordered(UInt32(1)) + value }
        bytes += ordered(UInt32(0)) + jpeg
    }

    /// The JPEG in the second directory; nil if there is none.
    package var thumbnail: [UInt8]? {
        let second = mainDirectory.flatMap { nextLink(of: $0) }.flatMap { longNumber(at: $0) }
        guard let second, second != 0, let start = number(.thumbnailOffset, in: second),
            let count = number(.thumbnailLength, in: second), start >= 8, count > 0, count <= bytes.count - start
        else { return nil }
        return Array(bytes[start..<start + count])
    }

    /// Appends a new first directory that includes these entries.
    private mutating func add(
        _ fields: [(tag: Tag, type: UInt16, value: [UInt8])], replacing replaced: Set<UInt16> = []
    ) {
        guard bytes.count < Int(Int32.max) else { return }
        let directory = mainDirectory
        var lines = entries(of: directory).filter { !replaced.contains($0.tag) }.map { entry in
            (tag: entry.tag, bytes: Array(bytes[entry.offset..<entry.offset + Self.entryLength]))
        }
        for (tag, type, value) in fields {
            lines.append((tag.rawValue, ordered(tag.rawValue) + ordered(type) + ordered(UInt32(1)) + value))
        }
        lines.sort { $0.tag < $1.tag }
        guard let count = UInt16(exactly: lines.count) else { return }
        let next = directory.flatMap { nextLink(of: $0) }.flatMap { longNumber(at: $0) } ?? 0
        if bytes.count % 2 == 1 { bytes.append(0) }
        put(ordered(UInt32(bytes.count)), at: 4)
        bytes += ordered(count) + lines.flatMap(\.bytes) + ordered(UInt32(truncatingIfNeeded: next))
    }

    private mutating func put(_ value: [UInt8], at offset: Int) {
        guard offset >= 0, offset <= bytes.count - value.count else { return }
        bytes.replaceSubrange(offset..<offset + value.count, with: value)
    }

    private func ordered<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: isBigEndian ? number.bigEndian : number.littleEndian) { Array($0) }
    }
}
