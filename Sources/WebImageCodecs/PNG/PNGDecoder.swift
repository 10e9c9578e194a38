import CShimPNG
import WebImageCore
import WebImageSystem

/// Decodes one PNG as its bytes arrive; of an animation, the still picture in its `IDAT` chunks.
final class PNGDecoder: ImageDecoder {
    /// How many bytes of data are decoded between two checkpoints.
    private static let pieceLength = 64 << 10

    enum Stage {
        case header
        case data
        case stoppedAtHeader
        case complete
    }

    let options: DecodeOptions
    var header: ImageHeader?
    var stage = Stage.header
    var sink: (any RowSink)?
    /// An interlaced picture's memory.
    var picture: WholePicture?
    var format: RowFormat?
    /// The first row that the sink has not got yet.
    var row = 0
    var receivedAtPreview = 0
    /// The error that stopped the decode from within a call of libpng.
    var failure: WebImageError?
    private(set) var handle: OpaquePointer?
    private(set) var received = 0
    private var planner: DecodePlanner?
    private var chunks: PNGChunkReader
    /// Whether the search for EXIF behind a picture that is not decoded has ended.
    private var isLateOver = false

    /// The number of pixels from which another thread helps.
    private let minPixelsForHelp: Int
    private var isHelped = false

    /// - Parameters:
    ///   - usesZlib: whether zlib inflates, even if a faster library is available. For tests.
    ///   - minPixelsForHelp: the number of pixels from which another thread helps.
    init(
        _ options: DecodeOptions, usesZlib: Bool = false, minPixelsForHelp: Int = .max, plan: @escaping DecodePlanner
    ) throws(WebImageError) {
        self.options = options
        self.minPixelsForHelp = minPixelsForHelp
        self.planner = plan
        let metadata = max(options.limits.metadata.bytes, 0)
        chunks = PNGChunkReader(metadataLimit: metadata)
        handle = wi_png_create(
            metadata, options.keepsBitDepth ? 1 : 0, usesZlib ? 1 : 0, Unmanaged.passUnretained(self).toOpaque(),
            { context, row, count in
                Unmanaged<PNGDecoder>.fromOpaque(context).takeUnretainedValue().nextBand(at: Int(row), &count.pointee)
            })
        guard handle != nil else {
            throw WebImageError(.limitExceeded, "there is no memory for a PNG decoder", format: .png)
        }
    }

    deinit { wi_png_destroy(handle) }

    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
        do throws(WebImageError) { try take(bytes.bindMemory(to: UInt8.self)) } catch {
            // Available rows are passed on also before an error.
            try? flushData()
            throw error
        }
        try flushData()
        switch stage {
        case .complete: return .complete
        case .stoppedAtHeader: return .stoppedAtHeader
        default: return .needsBytes
        }
    }

    private func take(_ bytes: UnsafeBufferPointer<UInt8>) throws(WebImageError) {
        var rest = bytes
        while isOpen, !rest.isEmpty {
            let before = rest.count
            let piece = try chunks.next(&rest)
            try countBytes(before - rest.count)
            guard let piece else { break }
            try take(piece)
        }
        while mayFindLateMetadata, !rest.isEmpty {
            try options.checkpoint?()
            let before = rest.count
            readLate(&rest)
            try countBytes(before - rest.count)
        }
    }

    /// Whether an `eXIf` chunk may still follow the picture.
    var mayFindLateMetadata: Bool { stage == .stoppedAtHeader && !isLateOver && chunks.exif == nil }

    /// Looks for EXIF behind a picture that is not decoded. Its header is complete without it: damage is no error here.
    private func readLate(_ rest: inout UnsafeBufferPointer<UInt8>) {
        do throws(WebImageError) {
            if case .whole(let chunk)? = try chunks.next(&rest) {
                isLateOver = chunk.dropFirst(4).starts(with: "IEND".utf8)
            }
        } catch { isLateOver = true }
        // Nothing else can change: libpng does not get these chunks, and reading its metadata anew takes long.
        if chunks.exif != nil { learnLate() }
    }

    func finish() throws(WebImageError) {
        guard isOpen else { return }
        guard stage == .data, let handle, let format else {
            throw WebImageError(.truncatedData, "the data ends before the picture begins", format: .png)
        }
        let isWhole = wi_png_has_all_rows(handle) != 0
        if picture != nil { try emitPicture(rows: isWhole ? format.size.height : coarseRows) }
        stage = .complete
        guard isWhole else {
            let isCoarse = row == format.size.height
            let there = isCoarse ? "all rows are there, but coarse" : "\(row) of \(format.size.height) rows are there"
            throw WebImageError(.truncatedData, "the PNG's data ends early: \(there)", format: header?.format)
        }
    }

    /// The checkpoint is called before each piece of the data, and before each band of rows.
    var acceptsLongPushes: Bool { true }
    /// The other thread is started again by each push, so pushes should be long.
    var preferredPushLength: Int { isHelped ? 1 << 20 : 0 }

    var isOpen: Bool { stage != .complete && stage != .stoppedAtHeader }

    private func countBytes(_ count: Int) throws(WebImageError) {
        received += count
        try options.limits.check(byteCount: received, of: .png)
    }

    private func take(_ piece: PNGChunkReader.Piece) throws(WebImageError) {
        switch piece {
        case .whole(let chunk):
            try flushData()
            try feed(chunk)
        case .header(let size, let chunk):
            try options.limits.check(size, of: .png)
            isHelped = isWorthHelp(size)
            if let handle, isHelped { wi_png_set_together(handle, Self.together) }
            try feed(chunk)
        case .dataHeader(let chunk):
            try chunk.withUnsafeBufferPointer { bytes throws(WebImageError) in
                guard let handle, let base = bytes.baseAddress else { return }
                try check(wi_png_begin_data(handle, base))
            }
            if stage == .header { try begin() }
        case .data(let bytes):
            var rest = bytes
            while !rest.isEmpty {
                try options.checkpoint?()
                let piece = UnsafeBufferPointer(rebasing: rest.prefix(Self.pieceLength))
                rest = UnsafeBufferPointer(rebasing: rest.dropFirst(piece.count))
                guard let handle, let base = piece.baseAddress else { return }
                try check(wi_png_push_data(handle, base, piece.count))
            }
        }
    }

    // MARK: another thread

    private func isWorthHelp(_ size: PixelSize) -> Bool {
        guard let helpers = options.idleThreads, helpers.idleCount > 0 else { return false }
        return size.pixelCount ?? 0 >= minPixelsForHelp
    }

    /// The call of the shim that another thread makes.
    private struct Help: @unchecked Sendable {
        // Sendable: `share` returns after it has ended, and the shim guards what both threads use.
        let run:
            @convention(c) (
                UnsafeMutableRawPointer, @convention(c) (UnsafeMutableRawPointer) -> Int32, UnsafeMutableRawPointer
            ) -> Void
        let argument: UnsafeMutableRawPointer

        func callAsFunction(_ goesOn: @escaping () -> Bool) {
            var goesOn = goesOn
            withUnsafeMutablePointer(to: &goesOn) { asked in
                run(argument, { $0.assumingMemoryBound(to: (() -> Bool).self).pointee() ? 1 : 0 }, asked)
            }
        }
    }

    private static let together: wi_png_together = { context, work, help, argument in
        let decoder = Unmanaged<PNGDecoder>.fromOpaque(context).takeUnretainedValue()
        guard let helpers = decoder.options.idleThreads else { return work(argument) }
        let help = Help(run: help, argument: argument)
        helpers.share({ work(argument) }, with: { help($0) })
    }

    /// Passes on all rows whose bytes have arrived.
    private func flushData() throws(WebImageError) {
        guard stage == .data, let handle else { return }
        try check(wi_png_flush_data(handle))
    }

    private func feed(_ chunk: [UInt8]) throws(WebImageError) {
        try chunk.withUnsafeBufferPointer { bytes throws(WebImageError) in
            guard let handle, let base = bytes.baseAddress else { return }
            try check(wi_png_push(handle, base, bytes.count))
        }
        guard let handle, wi_png_at_end(handle) != 0 else { return }
        try end()
    }

    /// Throws the error for the shim's result, or that of a sink or checkpoint.
    private func check(_ result: Int32) throws(WebImageError) {
        guard let handle else { return }
        if let failure { throw failure }
        try commitWrittenRows()
        switch Int(result) {
        case WI_PNG_OK: return
        case WI_PNG_NO_MEMORY:
            throw WebImageError(.limitExceeded, "there is no memory to decode the PNG", format: .png)
        default:
            throw WebImageError(.corruptData, "libpng: \(String(cString: wi_png_message(handle)))", format: .png)
        }
    }

    /// The picture's data begins: the header is complete, except for what may follow the data.
    private func begin() throws(WebImageError) {
        var info = wi_png_info()
        guard let handle, wi_png_header(handle, &info) != 0 else { return }
        var header = ImageHeader(
            format: chunks.animation == nil ? .png : .apng,
            size: PixelSize(width: Int(info.width), height: Int(info.height)),
            hasAlpha: info.has_alpha != 0, bitDepth: Int(info.bit_depth), isProgressive: info.is_interlaced != 0,
            iccProfile: iccProfile())
        if info.is_gray != 0 { header.colorModel = .gray }
        if info.has_palette != 0 { header.paletteBits = Int(info.bit_depth) }
        if let animation = chunks.animation { (header.frameCount, header.loopCount) = animation }
        if let description = chunks.colors.description {
            header.colorDescription = description
            header.iccProfile = nil
        } else if header.iccProfile == nil {
            header.colorCalibration = chunks.colors.calibration
        }
        header.metadata = metadata()
        header.orientation = header.metadata.orientation
        self.header = header
        let plan = try planner?(header)
        planner = nil
        guard let sink = plan?.sink else {
            stage = .stoppedAtHeader
            return
        }
        let format = RowFormat(
            size: header.size, layout: info.is_16_bit != 0 ? .rgba16 : .rgba8,
            alpha: header.hasAlpha ? .straight : .opaque)
        try sink.begin(format)
        self.sink = sink
        self.format = format
        stage = .data
        if header.isProgressive { try beginInterlaced(sink, format) }
    }

    /// The end of the file.
    private func end() throws(WebImageError) {
        guard stage == .data, let handle, let format else {
            if stage == .stoppedAtHeader { return }
            throw WebImageError(.corruptData, "the PNG has no picture", format: .png)
        }
        guard wi_png_has_all_rows(handle) != 0 else {
            throw WebImageError(.corruptData, "the PNG has too few rows", format: header?.format)
        }
        learnLate()
        if picture != nil { try emitPicture(rows: format.size.height) }
        stage = .complete
    }

    /// Reads the chunks after the picture's data.
    private func learnLate() {
        let late = metadata()
        guard late != header?.metadata else { return }
        header?.metadata = late
        header?.orientation = late.orientation
    }

    private func metadata() -> ImageMetadata {
        var count = 0
        let xmp = handle.flatMap { wi_png_xmp($0, &count) }.map {
            [UInt8](UnsafeBufferPointer(start: $0, count: count))
        }
        return ImageMetadata(readingEXIF: chunks.exif, xmp: xmp, density: chunks.density)
    }

    private func iccProfile() -> [UInt8]? {
        var count = 0
        guard let handle, let bytes = wi_png_icc(handle, &count) else { return nil }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }
}
