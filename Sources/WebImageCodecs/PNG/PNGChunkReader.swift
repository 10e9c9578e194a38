import WebImageCore

/// Splits a PNG into the parts that libpng gets.
///
/// libpng copies a chunk that it cannot skip again with every arriving piece, and refuses a file with a long comment.
/// So chunks that do not concern the pixels are left out here without storing their bytes; the few others are collected
/// and passed on whole, and the picture's data is passed on as it arrives.
struct PNGChunkReader {
    enum Piece {
        /// The signature, or a chunk with its length, name and checksum.
        case whole([UInt8])
        case header(PixelSize, chunk: [UInt8])
        /// The length and name of a chunk of the picture's data.
        case dataHeader([UInt8])
        /// The contents and checksum of such a chunk.
        case data(UnsafeBufferPointer<UInt8>)
    }

    private enum State {
        case signature
        case chunkHeader
        case collecting(total: Int)
        /// The first bytes of a text, which show whether it is needed.
        case text(length: Int)
        case streaming(rest: Int)
        case skipping(rest: Int)
    }

    /// The animation that was announced before the picture's data: its frames, and how often it plays, 0 for ever
    /// (APNG specification, "acTL").
    private(set) var animation: (frames: Int, plays: Int)?
    /// The `eXIf` chunk, which may follow the picture's data, else ImageMagick's substitute. libpng 1.6 does not read
    /// the chunk if it gets the data in pieces.
    var exif: [UInt8]? { exifChunk ?? rawProfile }
    private var exifChunk: [UInt8]?
    private var rawProfile: [UInt8]?
    private var hasReadRawProfile = false
    private(set) var density: PixelDensity?
    private(set) var colors = PNGColors()
    private var hasData = false
    private var state = State.signature
    private var collected = ByteCollector()
    private var hasXMP = false
    private let metadataLimit: Int
    private static let end: [UInt8] = [0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82]
    /// The beginning of an `iTXt` chunk with XMP (XMP specification part 3, 1.1.5).
    private static let nameOfXMP = Array("XML:com.adobe.xmp".utf8) + [0]

    init(metadataLimit: Int) { self.metadataLimit = metadataLimit }

    /// The next piece; removes the used bytes from `input`. nil if all of `input` is used up.
    mutating func next(_ input: inout UnsafeBufferPointer<UInt8>) throws(WebImageError) -> Piece? {
        while !input.isEmpty {
            switch state {
            case .signature:
                guard collected.collect(8, &input) else { return nil }
                state = .chunkHeader
                return .whole(collected.take())
            case .chunkHeader:
                guard collected.collect(8, &input) else { return nil }
                if let piece = try beginChunk() { return piece }
            case .collecting(let total):
                guard collected.collect(total, &input) else { return nil }
                state = .chunkHeader
                if let piece = wholeChunk() { return piece }
            case .text(let length):
                guard collected.collect(8 + PNGRawProfile.name.count, &input) else { return nil }
                let isWanted = collected.bytes.dropFirst(8).elementsEqual(PNGRawProfile.name)
                if isWanted { state = .collecting(total: length + 12) } else { skip(length) }
            case .streaming(let rest):
                let data = input.takeFirst(rest)
                state = data.count == rest ? .chunkHeader : .streaming(rest: rest - data.count)
                return .data(data)
            case .skipping(let rest):
                let skipped = input.takeFirst(rest).count
                state = skipped == rest ? .chunkHeader : .skipping(rest: rest - skipped)
            }
        }
        return nil
    }

    private mutating func beginChunk() throws(WebImageError) -> Piece? {
        let length = collected.bytes[0..<4].reduce(0) { $0 << 8 | Int($1) }
        let name = collected.bytes[4..<8]
        guard PNGChunk.isHead(length: length, name: name) else {
            // Behind the data, bytes that are no chunk do not matter: the rows are complete, or missing.
            if hasData {
                collected.removeAll()
                return .whole(Self.end)
            }
            throw WebImageError(.corruptData, "the PNG has a chunk without a valid name or length", format: .png)
        }
        let isAncillary = collected.bytes[4] & 0x20 != 0
        switch String(decoding: name, as: UTF8.self) {
        case "IDAT":
            hasData = true
            state = .streaming(rest: length + 4)
            return .dataHeader(collected.take())
        case "IHDR", "PLTE", "IEND":
            guard length <= 1024 else {
                throw WebImageError(.corruptData, "the PNG has a chunk that is too long", format: .png)
            }
            state = .collecting(total: length + 12)
        case let name where PNGColors.lengths[name] != nil:
            let isWanted = !hasData && length == PNGColors.lengths[name]
            if isWanted { state = .collecting(total: length + 12) } else { skip(length) }
        case "pHYs":
            if length == 9 { state = .collecting(total: length + 12) } else { skip(length) }
        case "eXIf", "iTXt", "tRNS", "iCCP":
            if length <= metadataLimit { state = .collecting(total: length + 12) } else { skip(length) }
        case "tEXt", "zTXt":
            let mayBeWanted = exif == nil && !hasReadRawProfile && PNGRawProfile.lengths(metadataLimit).contains(length)
            if mayBeWanted { state = .text(length: length) } else { skip(length) }
        case "acTL":
            let isAnnouncement = !hasData && length == 8
            if isAnnouncement { state = .collecting(total: length + 12) } else { skip(length) }
        default:
            guard isAncillary else {
                throw WebImageError(
                    .unsupportedFeature, "the PNG needs a chunk \(String(decoding: name, as: UTF8.self))", format: .png)
            }
            skip(length)
        }
        return nil
    }

    /// Skips the rest of a chunk of which some bytes are collected.
    private mutating func skip(_ length: Int) {
        state = .skipping(rest: length + 12 - collected.count)
        collected.removeAll()
    }

    private mutating func wholeChunk() -> Piece? {
        let chunk = collected.take()
        switch String(decoding: chunk[4..<8], as: UTF8.self) {
        case "IHDR" where chunk.count >= 16: break
        // Its content and checksum do not matter: the rows are complete, or missing.
        case "IEND": return .whole(Self.end)
        case "eXIf":
            if exifChunk == nil, isSound(chunk) { exifChunk = Array(chunk[8..<chunk.count - 4]) }
            return nil
        case "tEXt", "zTXt":
            if isSound(chunk) {
                // A further one is not read if this one is invalid: each may be 1000 times as long as its chunk.
                hasReadRawProfile = true
                rawProfile = PNGRawProfile.exif(
                    chunk[8..<chunk.count - 4], isCompressed: chunk[4] == UInt8(ascii: "z"), limit: metadataLimit)
            }
            return nil
        case let name where PNGColors.lengths[name] != nil:
            if isSound(chunk) { colors.read(name, chunk[8..<chunk.count - 4]) }
            return nil
        case "pHYs":
            readDensity(chunk)
            return nil
        case "acTL":
            readAnimation(chunk)
            return nil
        case "iTXt":
            // libpng stores everything that it gets, uncompressed.
            guard !hasXMP, chunk[8..<chunk.count - 4].starts(with: Self.nameOfXMP) else { return nil }
            hasXMP = isSound(chunk)
            return .whole(chunk)
        default: return .whole(chunk)
        }
        let size = PixelSize(
            width: chunk[8..<12].reduce(0) { $0 << 8 | Int($1) }, height: chunk[12..<16].reduce(0) { $0 << 8 | Int($1) }
        )
        return .header(size, chunk: chunk)
    }

    private mutating func readAnimation(_ chunk: [UInt8]) {
        let (frames, plays) = (PNGChunk.number(chunk, at: 8), PNGChunk.number(chunk, at: 12))
        if PNGChunk.announces(frames: frames, plays: plays) { animation = (Int(frames), Int(plays)) }
    }

    private mutating func readDensity(_ chunk: [UInt8]) {
        // The unit: 1 for the metre, 0 if only the aspect ratio of a pixel is given.
        guard !hasData, isSound(chunk), chunk[16] == 1 else { return }
        func number(_ at: Int) -> Int { chunk[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        density = PixelDensity(perMetre: number(8), number(12))
    }

    /// Whether a chunk's checksum is right, for those that libpng does not see.
    private func isSound(_ chunk: [UInt8]) -> Bool {
        PNGChunk.checksum(chunk[4..<chunk.count - 4]) == chunk.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
