package import WebImageCore
package import WebImageSystem

/// Reads only a picture's header, from bytes as they arrive. Not thread-safe.
package final class ImageProbe {
    private let registry: CoderRegistry
    private let hint: ImageFormat?
    private var options: DecodeOptions
    private var prefix: [UInt8] = []
    private var decoder: (any ImageDecoder)?
    private let time: WorkTime

    /// - Parameters:
    ///   - options: reading may take `limits.time`, not counting the time between two pieces.
    ///   - hint: the format to assume for bytes without a known signature.
    package init(
        _ options: DecodeOptions = DecodeOptions(), registry: CoderRegistry = .standard,
        hint: ImageFormat? = nil, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        let time = WorkTime(limit: options.limits.time, now: now)
        let asked = options.checkpoint
        self.time = time
        self.options = options
        self.options.isForHeader = true
        self.options.checkpoint = { () throws(WebImageError) in
            try asked?()
            try time.check()
        }
        self.registry = registry
        self.hint = hint
    }

    /// Whether further bytes may add to the header without decoding.
    package var mayExtendHeader: Bool { decoder?.mayExtendHeader ?? false }

    /// Whether further bytes may contain metadata that follows the picture.
    package var mayFindLateMetadata: Bool { decoder?.mayFindLateMetadata ?? false }

    /// Whether all bytes of a picture that begins with these are needed for its header.
    package func needsWholeFile(_ first: UnsafeRawBufferPointer) -> Bool {
        guard decoder == nil, prefix.isEmpty else { return false }
        return (try? coder(for: first))?.needsWholeFile ?? false
    }

    /// Reads the header from a whole file. No bytes may be pushed then.
    ///
    /// - Parameter first: its first bytes.
    /// - Returns: false if the decoder does not read files.
    package func push(_ file: HeldFile, beginningWith first: UnsafeRawBufferPointer) throws(WebImageError) -> Bool {
        time.begin()
        defer { time.end() }
        let made = try makeDecoder(coder(for: first))
        guard let reading = made as? any FileReadingDecoder else { return false }
        decoder = reading
        _ = try reading.push(file: file)
        try time.check()
        return true
    }

    /// Takes the next bytes.
    ///
    /// - Returns: the header, as soon as it is known.
    /// - Throws: errors of ``CoderRegistry/coder(for:prefix:)`` and the decoder; `limitExceeded` if it takes too long.
    package func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> ImageHeader? {
        time.begin()
        defer { time.end() }
        if let decoder { return try push(bytes, into: decoder) }
        prefix.append(contentsOf: bytes)
        let format = ImageFormat(sniffing: prefix)
        guard format != nil || prefix.count >= ImageFormat.sniffingLength else { return nil }
        return try begin(format)
    }

    /// Ends the input.
    ///
    /// - Throws: `truncatedData` if the header is not complete; also the errors of `push`.
    package func finish() throws(WebImageError) -> ImageHeader {
        time.begin()
        defer { time.end() }
        if decoder == nil, let header = try begin(ImageFormat(sniffing: prefix)) { return header }
        if let decoder, decoder.header != nil {
            // The number of frames may become known at the end.
            if decoder.mayExtendHeader { try? decoder.finish() }
            if let header = decoder.header { return header }
        }
        try decoder?.finish()
        guard let header = decoder?.header else {
            throw WebImageError(.truncatedData, "the data ends before the picture's size is told")
        }
        return header
    }

    private func begin(_ format: ImageFormat?) throws(WebImageError) -> ImageHeader? {
        let bytes = prefix
        prefix = []
        return try bytes.withUnsafeBufferPointer { buffer throws(WebImageError) -> ImageHeader? in
            let bytes = UnsafeRawBufferPointer(buffer)
            let decoder = try makeDecoder(registry.coder(for: format ?? hint, prefix: bytes))
            self.decoder = decoder
            return try push(bytes, into: decoder)
        }
    }

    private func coder(for first: UnsafeRawBufferPointer) throws(WebImageError) -> any ImageCoder {
        try registry.coder(for: ImageFormat(sniffing: first) ?? hint, prefix: first)
    }

    private func makeDecoder(_ coder: any ImageCoder) throws(WebImageError) -> any ImageDecoder {
        try coder.makeDecoder(options) { (_) throws(WebImageError) in DecodePlan(sink: nil) }
    }

    private func push(
        _ bytes: UnsafeRawBufferPointer, into decoder: any ImageDecoder
    ) throws(WebImageError) -> ImageHeader? {
        _ = try decoder.push(bytes)
        try time.check()
        return decoder.header
    }
}

extension CoderRegistry {
    /// Reads the header of a picture whose bytes are complete.
    ///
    /// - Throws: as ``ImageProbe``.
    package func readHeader(
        of bytes: UnsafeRawBufferPointer, _ options: DecodeOptions = DecodeOptions()
    ) throws(WebImageError) -> ImageHeader {
        let probe = ImageProbe(options, registry: self)
        if let header = try probe.push(bytes) { return header }
        return try probe.finish()
    }
}
