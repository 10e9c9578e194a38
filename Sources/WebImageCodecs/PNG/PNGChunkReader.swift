import WebImageCore

/// Takes a PNG's bytes apart into what libpng shall see.
///
/// libpng copies a chunk that it cannot skip anew with every piece that comes, and refuses a file for a long comment.
/// So chunks that say nothing of the pixels are left out here, however long, without keeping their bytes; the few
/// others are collected and come whole, and the picture's data comes as it is.
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
        case streaming(rest: Int)
        case skipping(rest: Int)
    }

    /// The animation that was announced before the picture's data: its frames, and how often it plays, 0 for ever
    /// (APNG specification, "acTL").
    private(set) var animation: (frames: Int, plays: Int)?
    /// What the `eXIf` chunk says, which may come after the picture's data. libpng 1.6 does not read it when it is
    /// given the data in pieces.
    private(set) var orientation = Orientation.up
    private var hasData = false
    private var state = State.signature
    private var collected: [UInt8] = []
    private let metadataLimit: Int
    /// The longest EXIF block: what fits into a JPEG's marker, where such blocks come from.
    private static let longestEXIF = 65_535

    init(metadataLimit: Int) { self.metadataLimit = metadataLimit }

    /// The next piece; takes what it used off `input`. nil when all of `input` is used up.
    mutating func next(_ input: inout UnsafeBufferPointer<UInt8>) throws(WebImageError) -> Piece? {
        while !input.isEmpty {
            switch state {
            case .signature:
                guard collect(8, &input) else { return nil }
                state = .chunkHeader
                return .whole(takeCollected())
            case .chunkHeader:
                guard collect(8, &input) else { return nil }
                if let piece = try beginChunk() { return piece }
            case .collecting(let total):
                guard collect(total, &input) else { return nil }
                state = .chunkHeader
                if let piece = wholeChunk() { return piece }
            case .streaming(let rest):
                let data = take(rest, &input)
                state = data.count == rest ? .chunkHeader : .streaming(rest: rest - data.count)
                return .data(data)
            case .skipping(let rest):
                let skipped = take(rest, &input).count
                state = skipped == rest ? .chunkHeader : .skipping(rest: rest - skipped)
            }
        }
        return nil
    }

    private mutating func beginChunk() throws(WebImageError) -> Piece? {
        let length = collected[0..<4].reduce(0) { $0 << 8 | Int($1) }
        let name = collected[4..<8]
        guard length <= Int(Int32.max), name.allSatisfy({ (0x41...0x5A).contains($0 & 0xDF) }) else {
            throw WebImageError(.corruptData, "the PNG has a chunk that is none", format: .png)
        }
        let isAncillary = collected[4] & 0x20 != 0
        switch String(decoding: name, as: UTF8.self) {
        case "IDAT":
            hasData = true
            state = .streaming(rest: length + 4)
            return .dataHeader(takeCollected())
        case "IHDR", "PLTE", "IEND":
            guard length <= 1024 else {
                throw WebImageError(.corruptData, "the PNG has a chunk that is too long", format: .png)
            }
            state = .collecting(total: length + 12)
        case "eXIf":
            let isShort = length <= min(Self.longestEXIF, metadataLimit)
            if isShort { state = .collecting(total: length + 12) } else { skip(length) }
        case "tRNS", "iCCP":
            if length <= metadataLimit { state = .collecting(total: length + 12) } else { skip(length) }
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

    private mutating func skip(_ length: Int) {
        collected.removeAll(keepingCapacity: true)
        state = .skipping(rest: length + 4)
    }

    private mutating func wholeChunk() -> Piece? {
        let chunk = takeCollected()
        if chunk[4..<8].elementsEqual("eXIf".utf8) {
            readEXIF(chunk)
            return nil
        }
        if chunk[4..<8].elementsEqual("acTL".utf8) {
            readAnimation(chunk)
            return nil
        }
        guard chunk[4..<8].elementsEqual("IHDR".utf8), chunk.count >= 16 else { return .whole(chunk) }
        let size = PixelSize(
            width: chunk[8..<12].reduce(0) { $0 << 8 | Int($1) }, height: chunk[12..<16].reduce(0) { $0 << 8 | Int($1) }
        )
        return .header(size, chunk: chunk)
    }

    private mutating func readAnimation(_ chunk: [UInt8]) {
        func number(_ at: Int) -> Int { chunk[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        if number(8) > 0 { animation = (number(8), number(12)) }
    }

    private mutating func readEXIF(_ chunk: [UInt8]) {
        let (covered, stored) = (chunk[4..<chunk.count - 4], chunk.suffix(4).reduce(0) { $0 << 8 | UInt32($1) })
        guard PNGChunk.checksum(covered) == stored else { return }
        orientation = chunk.withUnsafeBytes {
            EXIFOrientation.read(UnsafeRawBufferPointer(rebasing: $0[8..<chunk.count - 4]))
        }
    }

    /// Collects up to `count` bytes; true once they are all there.
    private mutating func collect(_ count: Int, _ input: inout UnsafeBufferPointer<UInt8>) -> Bool {
        collected.append(contentsOf: take(count - collected.count, &input))
        return collected.count == count
    }

    private mutating func takeCollected() -> [UInt8] {
        let bytes = collected
        collected = []
        return bytes
    }

    private func take(_ count: Int, _ input: inout UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        let taken = UnsafeBufferPointer(rebasing: input.prefix(count))
        input = UnsafeBufferPointer(rebasing: input.dropFirst(count))
        return taken
    }
}
