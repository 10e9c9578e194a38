import WebImageCore

/// Decodes one PNM picture as its bytes arrive; of a file with several, the first.
final class PNMDecoder: ImageDecoder {
    /// How many bytes of text are read between two checkpoints.
    private static let pieceLength = 64 << 10
    /// How many pixels are converted at once, because a row may be announced as longer than all memory. A multiple of
    /// 8.
    private static let runLength = 4096

    private(set) var header: ImageHeader?
    private let options: DecodeOptions
    private var planner: DecodePlanner?
    private var parser = PNMHeaderParser()
    private var converter: PNMRowConverter?
    private var writer: BandWriter?
    /// The rows of a format whose last row comes first.
    private var upended: UpendedRows?
    private var state = DecodeState.needsBytes
    private var received = 0
    /// A run of samples; of a text format, the available ones.
    private var samples: [UInt16] = []
    private var sampleCount = 0
    /// Pixels of the row that are converted.
    private var column = 0
    /// The part of a row of bytes that has arrived.
    private var pending = ByteCollector()
    private var number: Int?
    private var isComment = false

    init(_ options: DecodeOptions, plan: @escaping DecodePlanner) {
        self.options = options
        planner = plan
    }

    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
        guard case .needsBytes = state else { return state }
        received += bytes.count
        try options.limits.check(byteCount: received, of: .pnm)
        var rest = bytes.bindMemory(to: UInt8.self)
        while header == nil, let first = rest.first {
            rest = UnsafeBufferPointer(rebasing: rest.dropFirst())
            if let header = try parser.push(first) { try begin(header) }
        }
        try take(rest)
        return state
    }

    func finish() throws(WebImageError) {
        guard case .needsBytes = state else { return }
        guard writer != nil else {
            throw WebImageError(.truncatedData, "the data ends before the picture begins", format: .pnm)
        }
        // The last number of a text may end with the file.
        if number != nil { try takeText(10) }
        state = .complete
        guard let upended else {
            try writer?.end(of: .pnm)
            return
        }
        try upended.end(of: .pnm)
    }

    private func begin(_ format: PNMHeader) throws(WebImageError) {
        try options.limits.check(format.size, of: .pnm)
        var header = ImageHeader(
            format: .pnm, size: format.size, hasAlpha: format.hasAlpha, bitDepth: format.bitDepth)
        if format.channels < 3 { header.colorModel = .gray }
        header.keepsWholePicture = format.hasFloats
        if format.hasFloats { header.colorDescription = ColorDescription(primaries: 1, transfer: 8) }
        self.header = header
        let plan = try planner?(header)
        planner = nil
        guard let sink = plan?.sink else {
            state = .stoppedAtHeader
            return
        }
        let isWide = options.keepsBitDepth && format.most > 255
        converter = PNMRowConverter(format, isWide: isWide)
        let rows = RowFormat(
            size: format.size, layout: isWide ? .rgba16 : .rgba8, alpha: format.hasAlpha ? .straight : .opaque)
        writer = try BandWriter(beginning: sink, rows, options)
        if format.hasFloats { upended = try UpendedRows(sink, rows, options) }
        samples = [UInt16](repeating: 0, count: min(format.size.width, Self.runLength) * format.channels)
    }

    private func take(_ bytes: UnsafeBufferPointer<UInt8>) throws(WebImageError) {
        guard case .needsBytes = state, let format = converter?.header else { return }
        switch format.samples {
        case .bits, .bytes, .floats: try takeRows(bytes, length: format.bytesPerRow)
        case .textBits, .textNumbers:
            for (index, byte) in bytes.enumerated() {
                if index % Self.pieceLength == 0 { try options.checkpoint?() }
                try takeText(byte)
                guard case .needsBytes = state else { return }
            }
        }
    }

    // MARK: bytes

    private func takeRows(_ bytes: UnsafeBufferPointer<UInt8>, length: Int) throws(WebImageError) {
        var rest = bytes
        while case .needsBytes = state, !rest.isEmpty {
            if pending.isEmpty, rest.count >= length {
                try takeRow(rest.takeFirst(length))
                continue
            }
            guard pending.collect(length, &rest) else { return }
            let row = pending.bytes
            pending.removeAll()
            try row.withUnsafeBufferPointer { row throws(WebImageError) in try takeRow(row) }
        }
    }

    private func takeRow(_ row: UnsafeBufferPointer<UInt8>) throws(WebImageError) {
        guard let converter, let base = row.baseAddress else { return }
        while column < converter.header.size.width {
            let run = self.run
            if converter.readsBytes {
                try writePixels(run) { converter.convert(bytes: base, run, into: $0) }
                continue
            }
            samples.withUnsafeMutableBufferPointer { samples in
                guard let start = samples.baseAddress else { return }
                converter.unpack(base, run, into: start)
            }
            try convert(run)
        }
        try finishRow()
    }

    // MARK: text

    /// Comments are also accepted between numbers, as by Netpbm's readers.
    private func takeText(_ byte: UInt8) throws(WebImageError) {
        if isComment {
            isComment = byte != 10 && byte != 13
            return
        }
        guard let format = converter?.header else { return }
        if byte == UInt8(ascii: "#") || PNMHeader.isSpace(byte) {
            isComment = byte == UInt8(ascii: "#")
            guard let number else { return }
            self.number = nil
            try add(number, format)
        } else if format.samples == .textBits {
            try add(try PNMHeader.append(byte, to: nil), format)
        } else {
            number = try PNMHeader.append(byte, to: number)
        }
    }

    private func add(_ sample: Int, _ format: PNMHeader) throws(WebImageError) {
        guard sample <= format.most else { throw PNMHeader.corrupt("sample \(sample) is over \(format.most)") }
        samples[sampleCount] = UInt16(sample)
        sampleCount += 1
        let run = self.run
        guard sampleCount == run.count * format.channels else { return }
        sampleCount = 0
        try convert(run)
        if column == format.size.width { try finishRow() }
    }

    // MARK: pixels

    /// The pixels of the row that are converted next.
    private var run: Range<Int> {
        column..<min(column + Self.runLength, converter?.header.size.width ?? 0)
    }

    private func convert(_ run: Range<Int>) throws(WebImageError) {
        guard let converter else { return }
        try writePixels(run) { pixels in
            samples.withUnsafeBufferPointer { samples in
                guard let start = samples.baseAddress else { return }
                converter.convert(start, into: pixels, count: run.count)
            }
        }
    }

    private func writePixels(
        _ run: Range<Int>, _ write: (UnsafeMutableRawPointer) -> Void
    ) throws(WebImageError) {
        guard let format = writer?.format, let row = try nextRow() else { return }
        write(row + run.lowerBound * format.layout.bytesPerPixel)
        column = run.upperBound
    }

    private func nextRow() throws(WebImageError) -> UnsafeMutableRawPointer? {
        if let upended { return try upended.nextRow() }
        return try writer?.nextRow()
    }

    private func finishRow() throws(WebImageError) {
        column = 0
        guard upended == nil else {
            upended?.rowIsDone()
            guard let upended, upended.isComplete else { return }
            state = .complete
            return try upended.end(of: .pnm)
        }
        try writer?.rowIsDone()
        if writer?.isDone == true { state = .complete }
    }
}
