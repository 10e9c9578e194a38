import WebImageCore

/// Decodes one QOI picture as its bytes arrive. It is complete with its last pixel; the end marker is not required.
final class QOIDecoder: ImageDecoder {
    private static let headerLength = 14

    private(set) var header: ImageHeader?
    private let options: DecodeOptions
    private var planner: DecodePlanner?
    private var writer: BandWriter?
    private var state = DecodeState.needsBytes
    private var reader = QOIPixelReader()
    /// Bits that every pixel has set: those of alpha in a picture without it.
    private var opaque: UInt32 = 0
    private var column = 0
    private var received = 0
    /// An incomplete header or chunk.
    private var pending = ByteCollector()

    init(_ options: DecodeOptions, plan: @escaping DecodePlanner) {
        self.options = options
        planner = plan
    }

    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
        guard case .needsBytes = state else { return state }
        received += bytes.count
        try options.limits.check(byteCount: received, of: .qoi)
        var rest = bytes.bindMemory(to: UInt8.self)
        if header == nil {
            guard pending.collect(Self.headerLength, &rest) else { return state }
            try begin(pending.take())
        }
        while case .needsBytes = state, let first = pending.bytes.first {
            guard pending.collect(QOIChunk.length(first), &rest) else { return state }
            let chunk = pending.take()
            _ = try chunk.withUnsafeBufferPointer { all throws(WebImageError) in try decode(all) }
        }
        let used = try decode(rest)
        if case .needsBytes = state {
            _ = rest.takeFirst(used)
            _ = pending.collect(rest.count, &rest)
        }
        return state
    }

    func finish() throws(WebImageError) {
        guard case .needsBytes = state else { return }
        guard writer != nil else {
            throw WebImageError(.truncatedData, "the data ends before the picture begins", format: .qoi)
        }
        state = .complete
        try writer?.end(of: .qoi)
    }

    private func begin(_ bytes: [UInt8]) throws(WebImageError) {
        guard bytes.starts(with: "qoif".utf8) else {
            throw WebImageError(.corruptData, "the data does not begin as QOI does", format: .qoi)
        }
        guard bytes[12] == 3 || bytes[12] == 4, bytes[13] <= 1 else {
            throw WebImageError(
                .corruptData, "the QOI header names \(bytes[12]) channels and colour space \(bytes[13])", format: .qoi)
        }
        let number = { (range: Range<Int>) in bytes[range].reduce(0) { $0 << 8 | Int($1) } }
        let size = PixelSize(width: number(4..<8), height: number(8..<12))
        try options.limits.check(size, of: .qoi)
        let header = ImageHeader(format: .qoi, size: size, hasAlpha: bytes[12] == 4)
        self.header = header
        opaque = header.hasAlpha ? 0 : 0xFF00_0000
        let plan = try planner?(header)
        planner = nil
        guard let sink = plan?.sink else {
            state = .stoppedAtHeader
            return
        }
        writer = try BandWriter(
            beginning: sink, RowFormat(size: size, layout: .rgba8, alpha: header.hasAlpha ? .straight : .opaque),
            options)
    }

    /// - Returns: how many of the bytes were used.
    private func decode(_ bytes: UnsafeBufferPointer<UInt8>) throws(WebImageError) -> Int {
        guard case .needsBytes = state, var writer else { return bytes.count }
        defer { self.writer = writer }
        let width = writer.format.size.width
        var used = 0
        while !writer.isDone {
            let row = try writer.nextRow().assumingMemoryBound(to: UInt32.self)
            column += reader.read(bytes, at: &used, into: row + column, count: width - column, opaque: opaque)
            guard column == width else { return used }
            column = 0
            try writer.rowIsDone()
        }
        state = .complete
        return bytes.count
    }
}
