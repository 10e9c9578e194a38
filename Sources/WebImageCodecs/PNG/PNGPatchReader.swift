import WebImageCore

/// Finds the frames of an APNG (APNG specification, "Chunk Sequences" and "fcTL"), and decodes each as a separate PNG.
///
/// A PNG without an announced animation is one frame. An invalid frame ends the animation before it, as in browsers; if
/// it is the first one, the still picture is the only frame.
final class PNGPatchReader: FramePatchReader {
    private struct Chunk {
        var name: String
        /// With its length, name and checksum.
        var range: Range<Int>

        var data: Range<Int> { range.lowerBound + 8..<range.upperBound - 4 }
    }

    private struct Frame {
        var patch: FramePatch
        /// Whether its data is the still picture's.
        var isStill: Bool
        var chunks: [Chunk] = []
    }

    private let options: DecodeOptions
    private(set) var header: ImageHeader?
    private(set) var patches: [FramePatch] = []
    private(set) var bytes: [UInt8] = []
    /// The position of the next chunk.
    private var place = PNGChunk.signature.count
    /// The contents of `IHDR`.
    private var imageHeader: Range<Int>?
    /// The chunks that all frames need.
    var shared: [Range<Int>] { [palette, transparency].compactMap { $0 } }
    private var palette: Range<Int>?
    private var transparency: Range<Int>?
    /// The announced number of frames.
    private var announced: Int?
    /// The number that the next `fcTL` or `fdAT` must have.
    private var sequence: UInt32 = 0
    private var frames: [Frame] = []
    private var current: Frame?
    /// The chunks of the still picture, whether it is a frame or not.
    private var stillData: [Chunk] = []
    private var isAtEnd = false
    /// Whether an invalid frame was found, so that later ones are left out.
    private var hasDamage = false

    /// Known when the still picture's data begins: it depends on whether a control chunk precedes it.
    var beginsWithStill: Bool {
        frames.first?.isStill ?? current?.isStill ?? (announced == nil || header == nil)
    }

    init(_ options: DecodeOptions) {
        var options = options
        options.keepsBitDepth = false
        self.options = options
    }

    // MARK: finding

    func push(_ new: UnsafeRawBufferPointer, of file: [UInt8]?) throws(WebImageError) {
        guard !isAtEnd else { return }
        try options.limits.check(byteCount: bytes.count + new.count, of: .apng)
        bytes.append(new, of: file)
        while !isAtEnd, let chunk = try nextChunk() { try take(chunk) }
    }

    func finish() throws(WebImageError) {
        guard !isAtEnd else { return }
        header?.frameCount = patches.count
        throw WebImageError(
            .truncatedData, "the APNG's data ends early: \(patches.count) of its frames are there", format: .apng)
    }

    /// The next chunk, once all of it is there.
    private func nextChunk() throws(WebImageError) -> Chunk? {
        guard bytes.count - place >= 8 else { return nil }
        let length = PNGChunk.number(bytes, at: place)
        let name = bytes[place + 4..<place + 8]
        guard PNGChunk.isHead(length: Int(length), name: name) else {
            guard header != nil else { throw damage("the APNG has a chunk without a valid name or length") }
            try endBeforeDamage()
            return nil
        }
        let end = place + Int(length) + 12
        guard bytes.count >= end else { return nil }
        defer { place = end }
        return Chunk(name: String(decoding: name, as: UTF8.self), range: place..<end)
    }

    private func take(_ chunk: Chunk) throws(WebImageError) {
        switch chunk.name {
        case "IHDR": if imageHeader == nil, chunk.data.count == 13 { imageHeader = chunk.data }
        case "PLTE": if isPalette(chunk) { palette = chunk.range }
        case "tRNS": if isTransparency(chunk) { transparency = chunk.range }
        case "acTL": if header == nil, chunk.data.count == 8 { readAnnouncement(chunk.data.lowerBound) }
        case "fcTL": if isAnimated, try !beginFrame(chunk) { try endBeforeDamage() }
        case "IDAT": if try !takeStillData(chunk) { try endBeforeDamage() }
        case "fdAT": if isAnimated, !takeFrameData(chunk) { try endBeforeDamage() }
        case "IEND":
            guard header != nil else { throw damage("the APNG has no picture") }
            if try endFrame(), !patches.isEmpty { end() } else { try endBeforeDamage() }
        default: break
        }
    }

    /// Whether the chunk is the palette of all frames: the first one that libpng would not ignore.
    private func isPalette(_ chunk: Chunk) -> Bool {
        header == nil && palette == nil && (3...768).contains(chunk.data.count) && chunk.data.count % 3 == 0
    }

    /// Whether the chunk is the transparency of all frames (PNG specification, 11.3.1.1): the first one that libpng
    /// would not ignore, as it does before the palette, or with a wrong length or checksum.
    private func isTransparency(_ chunk: Chunk) -> Bool {
        guard header == nil, transparency == nil, let imageHeader else { return false }
        let isLong =
            switch bytes[imageHeader.lowerBound + 9] {
            case 0: chunk.data.count == 2
            case 2: chunk.data.count == 6
            case 3: palette.map { (1...($0.count - 12) / 3).contains(chunk.data.count) } ?? false
            default: false
            }
        guard isLong else { return false }
        let stored = PNGChunk.number(bytes, at: chunk.data.upperBound)
        return PNGChunk.checksum(bytes[chunk.data.lowerBound - 4..<chunk.data.upperBound]) == stored
    }

    /// Whether frames may follow: an animation is announced, or may still be, because the picture's data has not begun.
    private var isAnimated: Bool { !hasDamage && (announced != nil || header == nil) }

    private func readAnnouncement(_ place: Int) {
        let (frames, plays) = (PNGChunk.number(bytes, at: place), PNGChunk.number(bytes, at: place + 4))
        if PNGChunk.announces(frames: frames, plays: plays), !hasDamage { announced = Int(frames) }
    }

    /// - Returns: false if it is misplaced.
    private func takeStillData(_ chunk: Chunk) throws(WebImageError) -> Bool {
        if header == nil {
            var header = try readHeader(upTo: chunk.range.upperBound)
            if hasDamage { header.frameCount = 1 }
            self.header = header
            if announced == nil { current = stillFrame(header) }
        }
        stillData.append(chunk)
        // Without a preceding control chunk the still picture is not a frame.
        guard let isStill = current?.isStill else { return true }
        if isStill { current?.chunks.append(chunk) }
        return isStill
    }

    private func stillFrame(_ header: ImageHeader) -> Frame {
        var frame = Frame(patch: FramePatch(), isStill: true)
        frame.patch.size = header.size
        return frame
    }

    /// - Returns: whether it is the next chunk of a frame.
    private func takeFrameData(_ chunk: Chunk) -> Bool {
        guard current?.isStill == false, chunk.data.count >= 4, count(chunk) else { return false }
        current?.chunks.append(chunk)
        return true
    }

    /// - Returns: whether the chunk has the expected sequence number.
    private func count(_ chunk: Chunk) -> Bool {
        guard PNGChunk.number(bytes, at: chunk.data.lowerBound) == sequence else { return false }
        sequence &+= 1
        return true
    }

    /// - Returns: false for a frame without data.
    private func endFrame() throws(WebImageError) -> Bool {
        guard let frame = current else { return true }
        current = nil
        guard !frame.chunks.isEmpty else { return false }
        try add(frame)
        return true
    }

    private func add(_ frame: Frame) throws(WebImageError) {
        var frame = frame
        if let size = header?.size {
            try options.limits.check(frames: patches.count + 1, of: size, format: .apng)
        }
        frame.patch.isOpaque = header?.hasAlpha == false
        frames.append(frame)
        patches.append(frame.patch)
    }

    /// Ends the animation with the frames so far, or with the still picture if its data has not been reached.
    private func endBeforeDamage() throws(WebImageError) {
        hasDamage = true
        current = nil
        guard let header else { return announced = nil }
        if patches.isEmpty {
            guard !stillData.isEmpty else { throw damage("the APNG has no frames") }
            var still = stillFrame(header)
            still.chunks = stillData
            try add(still)
        }
        end()
    }

    private func end() {
        isAtEnd = true
        header?.frameCount = patches.count
    }

    /// The header, which a decoder for stills reads from all chunks before the data.
    private func readHeader(upTo end: Int) throws(WebImageError) -> ImageHeader {
        let decoder = try PNGDecoder(options) { (_) throws(WebImageError) in DecodePlan(sink: nil) }
        try push(0..<end, to: decoder)
        guard let header = decoder.header, imageHeader != nil else { throw damage("the APNG has no header") }
        return header
    }

    private func damage(_ message: String) -> WebImageError { WebImageError(.corruptData, message, format: .apng) }

    // MARK: frame controls

    /// - Returns: false if the frame is invalid for this picture.
    private func beginFrame(_ chunk: Chunk) throws(WebImageError) -> Bool {
        guard try endFrame() else { return false }
        // Frames beyond the announced number are not shown, as in browsers.
        if let announced, patches.count >= announced {
            end()
            return true
        }
        let stored = PNGChunk.number(bytes, at: chunk.data.upperBound)
        guard chunk.data.count == 26,
            PNGChunk.checksum(bytes[chunk.data.lowerBound - 4..<chunk.data.upperBound]) == stored, count(chunk),
            let patch = readPatch(chunk.data.lowerBound + 4)
        else { return false }
        current = Frame(patch: patch, isStill: header == nil)
        return true
    }

    private func readPatch(_ place: Int) -> FramePatch? {
        func number(_ offset: Int) -> Int { Int(PNGChunk.number(bytes, at: place + offset)) }
        func word(_ offset: Int) -> Int { Int(bytes[place + offset]) << 8 | Int(bytes[place + offset + 1]) }
        guard let imageHeader else { return nil }
        let canvas = PixelSize(
            width: Int(PNGChunk.number(bytes, at: imageHeader.lowerBound)),
            height: Int(PNGChunk.number(bytes, at: imageHeader.lowerBound + 4)))
        var patch = FramePatch()
        patch.size = PixelSize(width: number(0), height: number(4))
        (patch.x, patch.y) = (number(8), number(12))
        guard !patch.size.isEmpty, patch.x + patch.size.width <= canvas.width,
            patch.y + patch.size.height <= canvas.height, header != nil || patch.covers(canvas),
            bytes[place + 20] <= 2, bytes[place + 21] <= 1
        else { return nil }
        let denominator = word(18)
        patch.delay = .seconds(word(16)) / (denominator == 0 ? 100 : denominator)
        patch.blend = bytes[place + 21] == 0 ? .replace : .over
        switch bytes[place + 20] {
        case 0: patch.disposal = .keep
        case 1: patch.disposal = .clear
        // Before the first frame the canvas is empty.
        default: patch.disposal = patches.isEmpty ? .clear : .restore
        }
        return patch
    }

    // MARK: decoding

    func decode(_ index: Int, into sink: any RowSink) throws(WebImageError) {
        let frame = frames[index]
        do throws(WebImageError) {
            let decoder = try PNGDecoder(options) { (_) throws(WebImageError) in DecodePlan(sink: sink) }
            try push(beginning(of: frame.patch.size), to: decoder)
            for range in shared { try push(range, to: decoder) }
            for chunk in frame.chunks { try push(chunk, to: decoder) }
            try push(PNGChunk.make("IEND", []), to: decoder)
            try decoder.finish()
        } catch {
            guard error.code == .truncatedData else { throw error }
            throw damage("frame \(index) of the APNG has too little data")
        }
    }

    private func beginning(of size: PixelSize) -> [UInt8] {
        guard let imageHeader else { return [] }
        let sides = PNGChunk.big(UInt32(size.width)) + PNGChunk.big(UInt32(size.height))
        return PNGChunk.signature + PNGChunk.make("IHDR", sides + bytes[imageHeader.dropFirst(8)])
    }

    /// Pushes a chunk of data as one of a still picture.
    private func push(_ chunk: Chunk, to decoder: PNGDecoder) throws(WebImageError) {
        guard chunk.name == "fdAT" else { return try push(chunk.range, to: decoder) }
        let data = chunk.data.dropFirst(4)
        let name = Array("IDAT".utf8)
        try push(PNGChunk.big(UInt32(data.count)) + name, to: decoder)
        try push(data, to: decoder)
        let checksum = PNGChunk.checksum(
            PNGChunk.number(bytes, at: chunk.data.upperBound), of: data.count,
            behind: Array(bytes[chunk.range.lowerBound + 4..<data.lowerBound]), movedBehind: name)
        try push(PNGChunk.big(checksum), to: decoder)
    }

    private func push(_ range: Range<Int>, to decoder: PNGDecoder) throws(WebImageError) {
        try bytes[range].withUnsafeBufferPointer { piece throws(WebImageError) in
            _ = try decoder.push(UnsafeRawBufferPointer(piece))
        }
    }

    private func push(_ piece: [UInt8], to decoder: PNGDecoder) throws(WebImageError) {
        try piece.withUnsafeBufferPointer { piece throws(WebImageError) in
            _ = try decoder.push(UnsafeRawBufferPointer(piece))
        }
    }
}
