public import WebImageCore

extension ImageMetadata {
    /// The EXIF data about the photograph; nil if there is none. Each access parses it again, in some microseconds.
    /// ``PhotoDetails/place`` is often somebody's home: consider that before you publish it.
    public var photo: PhotoDetails? { exif.flatMap { PhotoDetails(exif: $0) } }
}

extension PhotoDetails {
    /// Accepts any bytes.
    ///
    /// - Parameter exif: a TIFF block.
    /// - Returns: nil if it has no photographic details.
    init?(exif: [UInt8]) {
        guard let directories = EXIFDirectories(exif) else { return nil }
        let (main, details) = (directories.main, directories.details)
        cameraMaker = main.text(271)
        cameraModel = main.text(272)
        software = main.text(305)
        caption = main.text(270)
        artist = main.text(315)
        copyright = main.text(33432)
        lensModel = details.text(0xA434)
        exposureTime = details.rational(0x829A)
        fNumber = details.rational(0x829D)
        isoSpeed = details.integer(0x8827)
        focalLength = details.rational(0x920A)
        // The times of taking, digitising and changing it; each with the offset of its own zone.
        date =
            PhotoDate(exif: details.text(0x9003), zone: details.text(0x9011))
            ?? PhotoDate(exif: details.text(0x9004), zone: details.text(0x9012))
            ?? PhotoDate(exif: main.text(306), zone: details.text(0x9010))
        place = PhotoPlace(directories.position)
        if self == PhotoDetails() { return nil }
    }
}

extension PhotoDate {
    /// - Parameters:
    ///   - exif: `YYYY:MM:DD HH:MM:SS`.
    ///   - zone: `+02:00`; nil if it is not known.
    init?(exif: String?, zone: String?) {
        let words = (exif ?? "").split { $0 == ":" || $0 == " " || $0 == "-" || $0 == "T" }
        let numbers = words.compactMap { Int($0) }
        guard words.count == 6, numbers.count == 6 else { return nil }
        self.init(
            year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4],
            second: numbers[5], minutesFromUTC: zone.flatMap { Self.minutes(of: $0) })
    }

    private static func minutes(of zone: String) -> Int? {
        if zone == "Z" { return 0 }
        let parts = zone.dropFirst().split(separator: ":").compactMap { UInt8($0) }
        guard let sign = zone.first, sign == "+" || sign == "-", parts.count == 2, parts[0] < 24, parts[1] < 60 else {
            return nil
        }
        return (sign == "-" ? -1 : 1) * (Int(parts[0]) * 60 + Int(parts[1]))
    }
}

extension PhotoPlace {
    fileprivate init?(_ fields: EXIFDirectories.Directory) {
        guard let latitude = fields.degrees(2), let longitude = fields.degrees(4) else { return nil }
        let height = fields.rational(6).map { fields.byte(5) == 1 ? -$0 : $0 }
        self.init(
            latitude: fields.text(1) == "S" ? -latitude : latitude,
            longitude: fields.text(3) == "W" ? -longitude : longitude, altitude: height)
    }
}

/// The directories of a block with photographic details, with their values by type.
private struct EXIFDirectories {
    struct Directory {
        let layout: TIFFLayout
        var fields: [UInt16: TIFFLayout.Field] = [:]

        /// Text (type 2) up to its end, without the trailing spaces of cameras; nil if it is empty.
        func text(_ tag: UInt16) -> String? {
            guard let field = fields[tag], field.type == 2 else { return nil }
            let bytes = field.value.prefix { $0 != 0 }
            let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
            guard let last = bytes.lastIndex(where: { !isSpace($0) }) else { return nil }
            return String(decoding: bytes[...last].drop(while: isSpace), as: UTF8.self)
        }

        func byte(_ tag: UInt16) -> UInt8? { fields[tag]?.type == 1 ? fields[tag]?.value.first : nil }

        /// A whole number of 16 or 32 bits (types 3 and 4).
        func integer(_ tag: UInt16) -> Int? {
            guard let field = fields[tag], field.type == 3 || field.type == 4 else { return nil }
            return field.value.withUnsafeBytes { layout.number($0, at: 0, length: field.type == 3 ? 2 : 4) }
        }

        /// A fraction without sign (type 5).
        func rational(_ tag: UInt16) -> Double? { rational(tag, at: 0) }

        /// Degrees, minutes and seconds, each a fraction.
        func degrees(_ tag: UInt16) -> Double? {
            guard let degrees = rational(tag, at: 0) else { return nil }
            return degrees + (rational(tag, at: 1) ?? 0) / 60 + (rational(tag, at: 2) ?? 0) / 3600
        }

        private func rational(_ tag: UInt16, at index: Int) -> Double? {
            guard let field = fields[tag], field.type == 5, index < field.count else { return nil }
            return field.value.withUnsafeBytes { bytes in
                guard let above = layout.number(bytes, at: index * 8, length: 4),
                    let below = layout.number(bytes, at: index * 8 + 4, length: 4), below > 0
                else { return nil }
                return Double(above) / Double(below)
            }
        }
    }

    /// Cameras do not write longer values into these fields.
    private static let maxBytes = 1 << 20
    private static let detailsTag: UInt16 = 0x8769
    private static let positionTag: UInt16 = 0x8825
    private static let mainTags: Set<UInt16> = [270, 271, 272, 305, 306, 315, 33432, detailsTag, positionTag]
    private static let detailTags: Set<UInt16> = [
        0x829A, 0x829D, 0x8827, 0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x920A, 0xA434,
    ]
    private static let positionTags: Set<UInt16> = [1, 2, 3, 4, 5, 6]

    private(set) var main: Directory
    private(set) var details: Directory
    private(set) var position: Directory

    init?(_ block: [UInt8]) {
        let found = block.withUnsafeBytes { bytes -> (Directory, Directory, Directory)? in
            guard let layout = TIFFLayout(bytes), let start = layout.firstDirectory(of: bytes) else { return nil }
            var room = Self.maxBytes
            func directory(at place: Int?, _ tags: Set<UInt16>) -> Directory {
                guard let place else { return Directory(layout: layout) }
                let fields = layout.fields(of: bytes, at: place, room: &room) { tags.contains($0) }
                // If a field is repeated, the first one counts.
                return Directory(layout: layout, fields: Dictionary(fields.map { ($0.tag, $0) }) { first, _ in first })
            }
            let main = directory(at: start, Self.mainTags)
            return (
                main, directory(at: main.integer(Self.detailsTag), Self.detailTags),
                directory(at: main.integer(Self.positionTag), Self.positionTags)
            )
        }
        guard let found else { return nil }
        (main, details, position) = found
    }
}
