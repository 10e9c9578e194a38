package import WebImageCodecs
package import WebImageCore

/// The result of decoding some bytes with one coder, for comparisons with other decodes.
package struct DecodeOutcome {
    package var header: ImageHeader?
    package var format: RowFormat?
    /// The rows that the sink received.
    package var pixels: [UInt8] = []
    package var rows = 0
    package var error: WebImageError?
    /// Violations of the protocols by the decoder; must be empty.
    package var faults: [String] = []

    /// The error codes that are allowed for arbitrary bytes.
    package static let typedCodes: Set<WebImageError.Code> = [
        .corruptData, .truncatedData, .unsupportedFeature, .limitExceeded,
    ]

    /// - Parameters:
    ///   - keepsWhole: whether the sink offers memory for the whole picture.
    ///   - previews: whether a preview is requested after each piece.
    ///   - part: selects one of the reduced sizes that the coder offers for the picture; nil for the full size.
    ///   - length: returns the length of the next piece; nil passes all bytes at once.
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

    /// Whether the rows that both have are equal.
    package func agrees(with other: DecodeOutcome) -> Bool {
        let common = min(pixels.count, other.pixels.count)
        return areEqual(pixels, other.pixels, common)
    }

    package func hasSamePixels(as other: DecodeOutcome) -> Bool {
        pixels.count == other.pixels.count && agrees(with: other)
    }
}

/// The result of reading an animation's frames.
package struct AnimationOutcome {
    package var delays: [Duration] = []
    /// The pixels of the first frames; nil for a frame that could not be decoded.
    package var frames: [[UInt8]?] = []
    package var error: WebImageError?
    package var faults: [String] = []

    /// Decodes an animation; nil for coders of stills.
    ///
    /// - Parameters:
    ///   - most: the most frames that are decoded.
    ///   - backwards: whether these frames are decoded from the last to the first.
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

    /// Whether the frames that both have are equal.
    package func agrees(with other: AnimationOutcome) -> Bool {
        zip(frames, other.frames).allSatisfy { mine, theirs in
            guard let mine, let theirs else { return true }
            return mine.count == theirs.count && areEqual(mine, theirs, mine.count)
        }
    }
}

/// Each piece is a copy, so that the sanitizer detects a decoder that keeps the pointer.
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
