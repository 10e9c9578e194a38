import WebImageCore

/// Decodes one bitmap as its bytes arrive. Rows of a top-down file without alpha are passed on at once. Other files begin with their
/// last row, or may turn out to be opaque; they are passed on when they are complete, directly from their bytes if these arrive all
/// at once.
final class BMPDecoder: ImageDecoder {
    private enum Stage {
        case header
        /// The palette, and anything else before the pixels.
        case gap
        case pixels
        case stoppedAtHeader
        case complete
    }

    private let options: DecodeOptions
    private(set) var header: ImageHeader?
    private var stage = Stage.header
    private var planner: DecodePlanner?
    private var info: BMPHeader?
    /// The bytes up to the end of the palette.
    private var start = ByteCollector()
    private var received = 0
    private var partial = ByteCollector()
    private var runs: BMPRunReader?
    private var writer: BMPRowWriter?

    init(_ options: DecodeOptions, plan: @escaping DecodePlanner) {
        self.options = options
        self.planner = plan
    }

    var acceptsLongPushes: Bool { true }

    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
        var rest = bytes.bindMemory(to: UInt8.self)
        if stage == .header { try readHeader(&rest) }
        if stage == .gap { try readGap(&rest) }
        if stage == .pixels { try readPixels(&rest) }
        switch stage {
        case .complete: return .complete
        case .stoppedAtHeader: return .stoppedAtHeader
        default: return .needsBytes
        }
    }

    func finish() throws(WebImageError) {
        switch stage {
        case .complete, .stoppedAtHeader: return
        case .header, .gap:
            throw WebImageError(.truncatedData, "the data ends before the picture begins", format: .bmp)
        case .pixels: break
        }
        stage = .complete
        let height = header?.size.height ?? 0
        // Some writers leave out the end after the last pixel.
        if runs?.isRowFull == true, writer?.rowsDone == height - 1 { try writeRunRow() }
        let rows = writer?.rowsDone ?? 0
        try writer?.finish()
        guard rows < height else { return }
        throw WebImageError(
            .truncatedData, "the BMP's data ends early: \(rows) of \(height) rows are there", format: .bmp)
    }

    // MARK: before the pixels

    private func readHeader(_ input: inout UnsafeBufferPointer<UInt8>) throws(WebImageError) {
        while true {
            // First enough bytes to determine the length, then all of the header.
            let wanted = try BMPHeader.length(start.bytes) ?? (start.count < 18 ? 18 : 34)
            if start.count == wanted { break }
            guard try collect(wanted, &input) else { return }
        }
        let info = try BMPHeader(start.bytes)
        try options.limits.check(info.size, of: .bmp)
        var header = ImageHeader(format: .bmp, size: info.size, hasAlpha: info.hasAlpha)
        header.metadata = ImageMetadata(density: info.density)
        if info.bitsPerPixel <= 8 { header.paletteBits = info.bitsPerPixel }
        self.info = info
        self.header = header
        let plan = try planner?(header)
        planner = nil
        guard let sink = plan?.sink else {
            stage = .stoppedAtHeader
            return
        }
        let format = RowFormat(size: info.size, layout: .rgba8, alpha: info.hasAlpha ? .straight : .opaque)
        try sink.begin(format)
        writer = BMPRowWriter(sink, format, isTopDown: info.isTopDown, options)
        stage = .gap
    }

    private func readGap(_ input: inout UnsafeBufferPointer<UInt8>) throws(WebImageError) {
        guard let info else { return }
        let paletteEnd = info.paletteOffset + info.paletteCount * info.paletteEntryLength
        if start.count < paletteEnd { guard try collect(paletteEnd, &input) else { return } }
        let skipped = min(info.pixelOffset - received, input.count)
        try takeOff(max(skipped, 0), &input)
        guard received >= info.pixelOffset else { return }
        writer?.converter = BMPRowConverter(info, palette: Array(start.bytes[info.paletteOffset...]))
        if info.hasRuns { runs = BMPRunReader(width: info.size.width, isNibbles: info.compression == .runs4) }
        _ = start.take()
        stage = .pixels
    }

    private func collect(_ count: Int, _ input: inout UnsafeBufferPointer<UInt8>) throws(WebImageError) -> Bool {
        let before = input.count
        let isWhole = start.collect(count, &input)
        try countBytes(before - input.count)
        return isWhole
    }

    private func takeOff(_ count: Int, _ input: inout UnsafeBufferPointer<UInt8>) throws(WebImageError) {
        input = UnsafeBufferPointer(rebasing: input.dropFirst(count))
        try countBytes(count)
    }

    private func countBytes(_ count: Int) throws(WebImageError) {
        received += count
        try options.limits.check(byteCount: received, of: .bmp)
    }

    // MARK: pixels

    private func readPixels(_ input: inout UnsafeBufferPointer<UInt8>) throws(WebImageError) {
        try options.checkpoint?()
        if runs != nil { try readRuns(&input) } else { try readRows(&input) }
        try writer?.flush()
        if writer?.isComplete == true {
            try writer?.finish()
            stage = .complete
        }
    }

    private func readRows(_ input: inout UnsafeBufferPointer<UInt8>) throws(WebImageError) {
        guard let info else { return }
        let length = info.bytesPerRow
        let (total, overflow) = length.multipliedReportingOverflow(by: info.size.height)
        if writer?.rowsDone == 0, partial.isEmpty, !overflow, input.count >= total, let base = input.baseAddress {
            try takeOff(total, &input)
            try writer?.writeAll(base, bytesPerRow: length)
            return
        }
        while writer?.isComplete == false, !input.isEmpty {
            if partial.isEmpty, input.count >= length, let base = input.baseAddress {
                try writer?.write(base)
                try takeOff(length, &input)
                continue
            }
            let before = input.count
            let isWhole = partial.collect(length, &input)
            try countBytes(before - input.count)
            if isWhole { try writePartial() }
        }
    }

    private func writePartial() throws(WebImageError) {
        let row = partial.bytes
        partial.removeAll()
        try row.withUnsafeBufferPointer { bytes throws(WebImageError) in
            if let base = bytes.baseAddress { try writer?.write(base) }
        }
    }

    private func readRuns(_ input: inout UnsafeBufferPointer<UInt8>) throws(WebImageError) {
        while writer?.isComplete == false {
            let before = input.count
            let event = runs?.next(&input)
            try countBytes(before - input.count)
            guard let event else { return }
            try writeRunRow()
            // Rows that are not in the data have index 0.
            while event == .end, writer?.isComplete == false { try writeRunRow() }
        }
    }

    private func writeRunRow() throws(WebImageError) {
        guard let indices = runs?.indices else { return }
        try indices.withUnsafeBufferPointer { bytes throws(WebImageError) in
            if let base = bytes.baseAddress { try writer?.write(base) }
        }
        runs?.beginRow()
    }
}
