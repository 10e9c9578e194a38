import WebImageCore

/// Decodes the best picture of an icon or cursor. A PNG is decoded as its bytes arrive; a bitmap, whose rows begin at
/// the bottom, when it is complete.
final class ICODecoder: ImageDecoder {
    private(set) var header: ImageHeader?
    private let options: DecodeOptions
    private var planner: DecodePlanner?
    private var state = DecodeState.needsBytes
    /// The file up to the end of the chosen entry.
    private var bytes: [UInt8] = []
    private var directory: ICODirectory?
    private var entry: ICODirectory.Entry?
    private var bitmap: IconBitmap?
    private var sink: (any RowSink)?
    /// The decoder of a PNG entry. Nesting ends there, because a PNG contains no icons.
    private var nested: (any ImageDecoder)?
    /// The entry that the plan names instead of the largest one, and its sink.
    private var smaller: (entry: ICODirectory.Entry, size: PixelSize, sink: any RowSink)?
    private var isSmaller = false
    /// How many bytes of the file the nested decoder has received.
    private var fed = 0

    init(_ options: DecodeOptions, plan: @escaping DecodePlanner) {
        self.options = options
        planner = plan
    }

    func push(_ more: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
        guard case .needsBytes = state else { return state }
        try options.limits.check(byteCount: bytes.count + more.count, of: directory?.format ?? .ico)
        bytes.append(contentsOf: more)
        try advance(isWhole: false)
        return state
    }

    func finish() throws(WebImageError) {
        guard case .needsBytes = state else { return }
        try advance(isWhole: true)
        guard case .needsBytes = state else { return }
        state = .complete
        throw truncated
    }

    private var truncated: WebImageError {
        WebImageError(.truncatedData, "the data ends before the picture does", format: directory?.format ?? .ico)
    }

    private func advance(isWhole: Bool) throws(WebImageError) {
        if directory == nil {
            guard let length = try ICODirectory.length(bytes, options.limits), bytes.count >= length else { return }
            directory = try ICODirectory(bytes, options.limits)
        }
        if entry == nil { entry = directory?.best(in: bytes, isWhole: isWhole) }
        guard let directory, let entry else { return }
        // Only the entries themselves state the sizes of the others. The header must not depend on how the bytes
        // arrive.
        guard header != nil || isWhole || directory.entries.count == 1 || bytes.count >= directory.endOfHeads
        else { return }
        if nested == nil, bitmap == nil {
            let there = entry.range.clamped(to: 0..<bytes.count)
            // Enough bytes to distinguish a PNG from a bitmap, and a bitmap's whole header.
            guard there.count >= min(IconBitmap.headerLength, entry.range.count) || (isWhole && !there.isEmpty)
            else { return }
            try begin(directory, bytes[there])
        }
        let range = bitmap?.range(in: entry) ?? entry.range
        let there = range.clamped(to: 0..<bytes.count)
        let hasAll = isWhole || there.upperBound == range.upperBound
        if nested != nil {
            try advanceNested(to: there.upperBound, isWhole: hasAll)
        } else if hasAll {
            try finishBitmap(there, directory.format)
        }
        guard let smaller, !isSmaller else { return }
        (isSmaller, self.entry, nested, bitmap) = (true, smaller.entry, nil, nil)
        try advance(isWhole: isWhole)
    }

    private func begin(_ directory: ICODirectory, _ start: ArraySlice<UInt8>) throws(WebImageError) {
        fed = start.startIndex
        if ICODirectory.isPNG(start) {
            nested = try PNGCoder().makeDecoder(options) { [unowned self] (header) throws(WebImageError) in
                try self.plan(header, directory)
            }
            return
        }
        let limits = options.limits
        let bitmap = try start.withUnsafeBufferPointer { bytes throws(WebImageError) in
            try IconBitmap(UnsafeRawBufferPointer(bytes), limits, of: directory.format)
        }
        self.bitmap = bitmap
        let header = ImageHeader(
            format: directory.format, size: bitmap.size, hasAlpha: true, bitDepth: bitmap.bitDepth)
        sink = try plan(header, directory).sink
    }

    /// Asks for the plan when the chosen entry is known.
    private func plan(
        _ inner: ImageHeader, _ directory: ICODirectory
    ) throws(WebImageError) -> DecodePlan {
        if let smaller {
            // The plan was made for the size that the entry states in its first bytes.
            guard inner.size == smaller.size else {
                throw WebImageError(.corruptData, "an entry has two sizes", format: directory.format)
            }
            return DecodePlan(sink: smaller.sink)
        }
        var header = Self.outer(inner, directory)
        if header.orientation == .up {
            header.otherSizes = directory.sizes(in: bytes, below: header.size, options.limits)
        }
        self.header = header
        let plan = try planner?(header) ?? DecodePlan(sink: nil)
        planner = nil
        guard let sink = plan.sink else {
            state = .stoppedAtHeader
            return plan
        }
        guard let size = plan.size, header.otherSizes.contains(size),
            let entry = directory.best(of: size, in: bytes, options.limits)
        else { return plan }
        smaller = (entry, size, sink)
        return DecodePlan(sink: nil)
    }

    /// The header of the icon. Its entries are the same picture in several sizes, not frames, so the icon is a still.
    private static func outer(_ inner: ImageHeader, _ directory: ICODirectory) -> ImageHeader {
        var header = inner
        header.format = directory.format
        header.frameCount = 1
        header.loopCount = nil
        return header
    }

    private func advanceNested(to end: Int, isWhole: Bool) throws(WebImageError) {
        guard let nested, let directory else { return }
        let piece = bytes[fed..<max(end, fed)]
        fed = max(end, fed)
        let inner = try piece.withUnsafeBufferPointer { piece throws(WebImageError) in
            try nested.push(UnsafeRawBufferPointer(piece))
        }
        if case .needsBytes = inner, isWhole {
            state = .complete
            try nested.finish()
        }
        if case .complete = inner { state = .complete }
        if smaller == nil, let inner = nested.header {
            let others = header?.otherSizes ?? []
            header = Self.outer(inner, directory)
            header?.otherSizes = others
        }
    }

    private func finishBitmap(_ range: Range<Int>, _ format: ImageFormat) throws(WebImageError) {
        guard case .needsBytes = state, let bitmap, let sink else { return }
        state = .complete
        let isComplete = try bytes[range].withUnsafeBufferPointer { bytes throws(WebImageError) -> Bool in
            let entry = UnsafeRawBufferPointer(bytes)
            guard bitmap.hasRows(entry) else { return false }
            var writer = try BandWriter(
                beginning: sink, RowFormat(size: bitmap.size, layout: .rgba8, alpha: .straight), options)
            try bitmap.write(entry, to: &writer)
            return bitmap.isComplete(entry)
        }
        guard isComplete else { throw truncated }
    }

    func preview() throws(WebImageError) -> PixelBuffer? { try nested?.preview() }
}
