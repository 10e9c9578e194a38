package import WebImageCodecs
package import WebImageCore

/// What came of decoding some bytes with one coder, so that two decodes can be compared.
package struct DecodeOutcome {
    package var header: ImageHeader?
    package var format: RowFormat?
    /// The rows that the sink was given.
    package var pixels: [UInt8] = []
    package var rows = 0
    package var error: WebImageError?
    /// What the decoder did that the protocols do not allow; must be empty.
    package var faults: [String] = []

    /// What bytes may end in, whatever they are.
    package static let typedCodes: Set<WebImageError.Code> = [
        .corruptData, .truncatedData, .unsupportedFeature, .limitExceeded,
    ]

    /// - Parameters:
    ///   - keepsWhole: whether the sink has the whole picture's memory to give.
    ///   - previews: whether a preview is asked for after every piece.
    ///   - part: picks one of the parts of its size that the coder offers for the picture, other than the whole; nil: whole.
    ///   - length: of the next piece; nil: all at once.
    package init(
        _ coder: any ImageCoder, _ bytes: [UInt8], _ options: DecodeOptions = DecodeOptions(),
        keepsWhole: Bool = true, previews: Bool = false, part: Int? = nil, length: (() -> Int)? = nil
    ) {
        let sink = CheckingSink(options.limits, keepsWhole: keepsWhole)
        do throws(WebImageError) {
            let decoder = try coder.makeDecoder(options) { (header) throws(WebImageError) in
                let denominators = coder.scaleDenominators(for: header).filter { $0 > 1 }
                guard let part, !denominators.isEmpty else { return DecodePlan(sink: sink) }
                return DecodePlan(scaleDenominator: denominators[part % denominators.count], sink: sink)
            }
            defer { header = decoder.header }
            try forEachPiece(of: bytes, length) { piece throws(WebImageError) in
                _ = try decoder.push(piece)
                if previews { _ = try decoder.preview() }
            }
            try decoder.finish()
            if decoder.header == nil { faults.append("no error and no header") }
        } catch {
            self.error = error
            if !Self.typedCodes.contains(error.code) { faults.append("ended in \(error)") }
        }
        format = sink.format
        rows = sink.rows
        pixels = sink.takePixels()
        faults += sink.faults
        if error == nil, rows != format?.size.height { faults.append("no error, but \(rows) rows of \(format as Any)") }
    }

    /// Whether the rows that both have are the same.
    package func agrees(with other: DecodeOutcome) -> Bool {
        let common = min(pixels.count, other.pixels.count)
        return areEqual(pixels, other.pixels, common)
    }

    package func hasSamePixels(as other: DecodeOutcome) -> Bool {
        pixels.count == other.pixels.count && agrees(with: other)
    }
}

/// What came of reading an animation's frames.
package struct AnimationOutcome {
    package var delays: [Duration] = []
    /// The first frames' pixels; nil for one that could not be decoded.
    package var frames: [[UInt8]?] = []
    package var error: WebImageError?
    package var faults: [String] = []

    /// nil from coders of stills.
    ///
    /// - Parameters:
    ///   - most: how many frames are decoded at most.
    ///   - backwards: whether the last of them is decoded first.
    package init?(
        _ coder: any ImageCoder, _ format: ImageFormat, _ bytes: [UInt8], _ options: DecodeOptions = DecodeOptions(),
        most: Int, backwards: Bool = false, length: (() -> Int)? = nil
    ) {
        let decoder: any AnimationDecoder
        do throws(WebImageError) {
            guard let made = try coder.makeAnimationDecoder(format, options) else { return nil }
            decoder = made
        } catch {
            self.error = error
            return
        }
        do throws(WebImageError) {
            try forEachPiece(of: bytes, length) { piece throws(WebImageError) in try decoder.push(piece) }
            try decoder.finish()
        } catch { take(error) }
        delays = decoder.storedDelays
        let count = min(delays.count, most)
        frames = Array(repeating: nil, count: count)
        for index in backwards ? Array((0..<count).reversed()) : Array(0..<count) {
            do throws(WebImageError) {
                let frame = try decoder.frame(at: index)
                if frame.size != decoder.header?.size { faults.append("frame \(index) is \(frame.size)") }
                frames[index] = frame.withBytes { Array($0) }
            } catch { take(error) }
        }
    }

    private mutating func take(_ error: WebImageError) {
        self.error = self.error ?? error
        if !DecodeOutcome.typedCodes.contains(error.code) { faults.append("ended in \(error)") }
    }

    /// Whether the frames that both have are the same.
    package func agrees(with other: AnimationOutcome) -> Bool {
        zip(frames, other.frames).allSatisfy { mine, theirs in
            guard let mine, let theirs else { return true }
            return mine.count == theirs.count && areEqual(mine, theirs, mine.count)
        }
    }
}

/// Each piece is a copy of its own, so that a decoder that keeps the pointer is found out by the sanitizer.
private func forEachPiece(
    of bytes: [UInt8], _ length: (() -> Int)?, _ body: (UnsafeRawBufferPointer) throws(WebImageError) -> Void
) throws(WebImageError) {
    var offset = 0
    while offset < bytes.count {
        let count = min(max(length?() ?? bytes.count, 1), bytes.count - offset)
        let piece = Array(bytes[offset..<offset + count])
        try piece.withUnsafeBufferPointer { piece throws(WebImageError) in try body(UnsafeRawBufferPointer(piece)) }
        offset += count
    }
}
