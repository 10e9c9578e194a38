import WebImageCore

/// Parses a WebP (RFC 9649): the information in its chunks is kept, and the chunks of the first picture, or of all
/// frames, are returned as they arrive; all others are skipped without storing their bytes.
///
/// libwebp accepts a bare sequence of these chunks, so that a still and a frame of an animation look the same to it,
/// and it never sees the metadata.
struct WebPChunkReader {
    enum Piece {
        case canvas(PixelSize)
        /// The length and name of a chunk of alpha; its contents follow as `data`.
        case alphaHeader([UInt8])
        /// The beginning of a bitstream's chunk with the size; the rest follows as `data`.
        case bitstream(WebPBitstreamHeader, chunk: [UInt8])
        case data(UnsafeBufferPointer<UInt8>)
        case endOfBitstream
    }

    private enum State {
        case fileHeader
        case chunkHeader
        case collecting(Chunk)
        case streaming(rest: Int, isBitstream: Bool)
        case skipping(rest: Int)
        case ended
    }

    private struct Chunk {
        var name: String
        var length: Int
        /// The wanted part of it, including its length and name.
        var wanted: Int
        /// The length with the byte that makes it even.
        var padded: Int { length + (length & 1) }
    }

    private(set) var canvas: PixelSize?
    /// What `VP8X` says about transparency and animation.
    private(set) var saysAlpha = false
    private(set) var isAnimated = false
    private var saysEXIF = false
    private var hasEXIF = false
    private(set) var loopCount: Int?
    private(set) var iccProfile: [UInt8]?
    private(set) var exif: [UInt8]?
    private(set) var xmp: [UInt8]?
    /// Frames of an animation that have begun.
    private(set) var frames = 0
    /// The frame of an animation that was entered last.
    private(set) var frame: WebPFrame?
    private var hasAlphaChunk = false
    private var hasBitstream = false
    private var state = State.fileHeader
    private var collected = ByteCollector()
    /// How many bytes were taken.
    private(set) var position = 0
    private var fileEnd = 0
    private var frameEnd: Int?
    private let metadataLimit: Int
    private let entersAllFrames: Bool

    /// - Parameter entersAllFrames: false: only the first frame of an animation is returned.
    init(metadataLimit: Int, entersAllFrames: Bool = false) {
        self.metadataLimit = metadataLimit
        self.entersAllFrames = entersAllFrames
    }

    /// Whether announced chunks may still follow the picture: frames to count, an orientation.
    var mayExtendHeader: Bool { !isAtEnd && (isAnimated || saysEXIF && !hasEXIF) }

    /// Whether all chunks were seen.
    var isAtEnd: Bool { if case .ended = state { true } else { false } }

    /// The next piece; removes the used bytes from `input`. nil if more bytes are needed, and at the end.
    ///
    /// - Throws: `corruptData` if a necessary chunk is invalid.
    mutating func next(_ input: inout UnsafeBufferPointer<UInt8>) throws(WebImageError) -> Piece? {
        while true {
            switch state {
            case .ended: return nil
            case .fileHeader:
                guard collect(12, &input) else { return nil }
                try readFileHeader(collected.take())
            case .chunkHeader:
                if try leaveWhenNoChunkFits() { continue }
                guard collect(8, &input) else { return nil }
                try beginChunk()
            case .collecting(let chunk):
                guard collect(chunk.wanted, &input) else { return nil }
                if let piece = try read(chunk) { return piece }
            case .streaming(let rest, let isBitstream):
                if rest == 0 {
                    state = .skipping(rest: isBitstream ? position & 1 : 0)
                    if isBitstream { return .endOfBitstream } else { continue }
                }
                let data = take(rest, &input)
                guard !data.isEmpty else { return nil }
                state = .streaming(rest: rest - data.count, isBitstream: isBitstream)
                return .data(data)
            case .skipping(let rest):
                let left = rest - take(rest, &input).count
                state = left == 0 ? .chunkHeader : .skipping(rest: left)
                // The padding of the last chunk may be missing.
                if left > 0, position < fileEnd { return nil }
                if left > 0 { state = .ended }
            }
        }
    }

    /// Leaves the frame or the file when no further chunk fits into it.
    private mutating func leaveWhenNoChunkFits() throws(WebImageError) -> Bool {
        guard collected.isEmpty else { return false }
        if let end = frameEnd, position + 8 > end {
            guard hasBitstream else { throw Self.corrupt("its frame \(frames) has no picture") }
            leaveFrame(end)
            return true
        }
        guard position + 8 > fileEnd else { return false }
        state = .ended
        return true
    }

    private mutating func leaveFrame(_ end: Int) {
        frameEnd = nil
        collected.removeAll()
        state = .skipping(rest: max(end + (end & 1) - position, 0))
    }

    private mutating func readFileHeader(_ bytes: [UInt8]) throws(WebImageError) {
        let length = WebPBytes.number(bytes[4..<8])
        guard bytes.starts(with: "RIFF".utf8), bytes[8...].elementsEqual("WEBP".utf8), length >= 12 else {
            throw Self.corrupt("it does not begin as one")
        }
        fileEnd = length + 8
        state = .chunkHeader
    }

    private mutating func beginChunk() throws(WebImageError) {
        var chunk = Chunk(
            name: String(decoding: collected.bytes[0..<4], as: UTF8.self),
            length: WebPBytes.number(collected.bytes[4..<8]),
            wanted: 8)
        guard position + chunk.length <= frameEnd ?? fileEnd else {
            guard hasBitstream else { throw Self.corrupt("a chunk is longer than the file says") }
            // Errors after the picture must not discard it.
            if let frameEnd { leaveFrame(frameEnd) } else { state = .ended }
            return
        }
        let isPicture = !hasBitstream && isAnimated == (frameEnd != nil)
        switch chunk.name {
        case "VP8X" where position == 20: chunk.wanted += 10
        case "VP8 " where isPicture, "VP8L" where isPicture: chunk.wanted += min(chunk.length, 10)
        case "ALPH" where isPicture && canvas != nil && !hasAlphaChunk: break
        case "ANMF" where isAnimated && frameEnd == nil:
            frames += 1
            guard frames == 1 || entersAllFrames else { return skip(chunk) }
            chunk.wanted += 16
        case "ANIM" where isAnimated && frames == 0 && chunk.length >= 6: chunk.wanted += 6
        case "ICCP" where canvas != nil && frameEnd == nil && !hasBitstream && chunk.length <= metadataLimit,
            "EXIF" where canvas != nil && frameEnd == nil && exif == nil && chunk.length <= metadataLimit,
            "XMP " where canvas != nil && frameEnd == nil && xmp == nil && chunk.length <= metadataLimit:
            chunk.wanted += chunk.length
        default: return skip(chunk)
        }
        guard chunk.wanted <= chunk.length + 8 else { throw Self.corrupt("its \(chunk.name) chunk is too short") }
        state = .collecting(chunk)
    }

    private mutating func read(_ chunk: Chunk) throws(WebImageError) -> Piece? {
        let bytes = collected.take()
        let contents = bytes[8...]
        let rest = chunk.length + 8 - chunk.wanted
        state = .skipping(rest: chunk.padded + 8 - chunk.wanted)
        switch chunk.name {
        case "VP8X":
            (saysAlpha, saysEXIF) = (contents[8] & 0x10 != 0, contents[8] & 0x08 != 0)
            isAnimated = contents[8] & 0x02 != 0
            let size = PixelSize(
                width: WebPBytes.number(contents[12..<15]) + 1, height: WebPBytes.number(contents[15..<18]) + 1)
            canvas = size
            return .canvas(size)
        case "ALPH":
            hasAlphaChunk = true
            state = .streaming(rest: chunk.padded, isBitstream: false)
            return .alphaHeader(bytes)
        case "VP8 ", "VP8L":
            let isLossless = chunk.name == "VP8L"
            guard let header = WebPBitstreamHeader(contents, isLossless: isLossless) else {
                throw Self.corrupt("its \(chunk.name) chunk does not begin as one")
            }
            hasBitstream = true
            state = .streaming(rest: rest, isBitstream: true)
            return .bitstream(header, chunk: bytes)
        case "ANMF":
            let frame = WebPFrame(contents)
            guard let canvas, frame.fits(canvas) else {
                throw Self.corrupt("its frame \(frames) is not within the canvas")
            }
            self.frame = frame
            frameEnd = position + rest
            (hasAlphaChunk, hasBitstream) = (false, false)
            state = .chunkHeader
        case "ANIM": loopCount = WebPBytes.number(contents[12..<14])
        case "ICCP": iccProfile = Array(contents)
        case "EXIF":
            hasEXIF = true
            exif = Array(contents)
        default: xmp = Array(contents)
        }
        return nil
    }

    private mutating func skip(_ chunk: Chunk) {
        collected.removeAll()
        state = .skipping(rest: chunk.padded)
    }

    /// Collects up to `count` bytes; true once they are all there.
    private mutating func collect(_ count: Int, _ input: inout UnsafeBufferPointer<UInt8>) -> Bool {
        let before = input.count
        defer { position += before - input.count }
        return collected.collect(count, &input)
    }

    private mutating func take(
        _ count: Int, _ input: inout UnsafeBufferPointer<UInt8>
    ) -> UnsafeBufferPointer<UInt8> {
        let taken = input.takeFirst(count)
        position += taken.count
        return taken
    }

    private static func corrupt(_ what: String) -> WebImageError {
        WebImageError(.corruptData, "this is not a sound WebP: \(what)", format: .webp)
    }
}
