import WebImageCore
import WebImageSystem

/// A decoder for stills that works in another process.
final class IsolatedDecoder: FileReadingDecoder {
    /// The reported rows, and how many of them the sink has.
    private struct Rows {
        let format: RowFormat
        let shape: RingShape
        var done = 0
    }

    private let coder: any ImageCoder
    private let picture: IsolatedPicture
    private let planner: DecodePlanner
    private var plan: DecodePlan?
    private var plannedHeader: ImageHeader?
    private var rows: Rows?
    /// Whether this worker has reported the format of its rows.
    private var hasBegun = false
    private var state = StillState()
    private(set) var header: ImageHeader?

    init(_ coder: any ImageCoder, _ pool: DecoderPool, _ options: DecodeOptions, plan: @escaping DecodePlanner) {
        self.coder = coder
        planner = plan
        picture = IsolatedPicture(
            coder, pool, options, .still(StillOpening(coder: coder.key, options: options)))
    }

    var mayExtendHeader: Bool { state.mayExtendHeader }
    var mayFindLateMetadata: Bool { state.mayFindLateMetadata }
    /// The checkpoint is called whenever this decoder waits for the worker.
    var acceptsLongPushes: Bool { true }
    /// The worker decodes one piece while the next one is being sent.
    var preferredPushLength: Int { SharedMemory.inputCount }

    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
        guard !state.isComplete || state.mayExtendHeader else { return .complete }
        try picture.keep(bytes)
        return try pushed()
    }

    func push(whole file: WholeFile) throws(WebImageError) -> DecodeState {
        try picture.keep(whole: file)
        return try pushed()
    }

    func push(file: HeldFile) throws(WebImageError) -> DecodeState {
        try picture.keep(file: file)
        return try pushed()
    }

    private func pushed() throws(WebImageError) -> DecodeState {
        // A decode in one long call does nothing before the end.
        guard picture.options.isForHeader || !coder.decodesInOneCall else { return .needsBytes }
        try run()
        if state.isComplete { return .complete }
        return state.hasStoppedAtHeader ? .stoppedAtHeader : .needsBytes
    }

    func finish() throws(WebImageError) {
        guard !state.isComplete || state.mayExtendHeader else { return }
        try run(finishes: true)
        guard header != nil, plannedHeader != nil, isWhole else {
            picture.close()
            throw WebImageError(.decoderCrashed, "the decoder's process returned fewer rows than it announced")
        }
        // Most pictures are decoded once: the worker's state is released with the decoder.
        picture.close()
    }

    func preview() throws(WebImageError) -> PixelBuffer? {
        guard picture.isOpen, let plannedHeader else { return nil }
        var pixels: PixelBuffer?
        try picture.run(IsolatedPicture.Call(request: .preview), begins: { hasBegun = false }) {
            [unowned self] (process, isCall) throws(DecoderProcess.Failure) in
            var refusal: WebImageError?
            guard isCall else {
                while try take(process, &refusal) {}
                return
            }
            pixels = try picture.takePixels(process) { self.isAllowed($0, plannedHeader) }
        }
        return pixels
    }

    /// Whether everything that was requested has arrived: memory that was not written must never be shown.
    private var isWhole: Bool {
        guard let sink = plan?.sink, sink.wantsRows else { return true }
        return rows.map { $0.done == $0.format.size.height } ?? false
    }

    private func run(finishes: Bool = false) throws(WebImageError) {
        var refusal: WebImageError?
        do throws(WebImageError) {
            try picture.run(finishes: finishes, begins: { hasBegun = false }) {
                [unowned self] (process, _) throws(DecoderProcess.Failure) in
                while try take(process, &refusal) {}
            }
        } catch {
            // The planner's error counts, not the worker's message about it.
            throw refusal ?? error
        }
    }

    /// Handles a message of the worker.
    ///
    /// - Returns: false at the end of a call.
    private func take(
        _ process: DecoderProcess, _ refusal: inout WebImageError?
    ) throws(DecoderProcess.Failure) -> Bool {
        let (reply, message) = try picture.receive(process, isSoon: plannedHeader == nil)
        switch reply {
        case .header: try answer(try DecoderProcess.value(message), process, &refusal)
        case .begin: try begin(try DecoderProcess.value(message))
        case .rows:
            guard hasBegun, let rows, let sink = plan?.sink else {
                throw .protocolViolation("it gives rows without a picture")
            }
            try picture.takeRows(
                message, rows.format, rows.shape, next: 0...rows.done, from: process, wantsMore: { sink.wantsRows }
            ) { [unowned self] (row, count, bytes) throws(WebImageError) in
                try write(row, count, bytes, sink, rows.shape)
            }
        case .waiting: try picture.tellTaken(process, wantsMore: plan?.sink?.wantsRows ?? false)
        case .still:
            state = try DecoderProcess.value(message)
            if let header = state.header { self.header = try checked(header) }
            // The decode stops at the header only if no rows are wanted.
            let ends = state.isComplete || (state.hasStoppedAtHeader && plan?.sink != nil)
            guard !ends || (plannedHeader != nil && isWhole) else {
                throw .protocolViolation("it ends before its last row")
            }
            return false
        case .learned: header = try checked(try DecoderProcess.value(message), isRefused: true)
        case .failed: throw .decoderError(try DecoderProcess.value(message))
        default: throw .invalidMessage
        }
        return true
    }

    private func answer(
        _ header: ImageHeader, _ process: DecoderProcess, _ refusal: inout WebImageError?
    ) throws(DecoderProcess.Failure) {
        let header = try checked(header)
        if let plannedHeader {
            guard plannedHeader == header else { throw .protocolViolation("it reports another header than before") }
        } else {
            self.header = header
            do throws(WebImageError) {
                plan = try planner(header)
                plannedHeader = header
            } catch {
                refusal = error
            }
        }
        guard refusal == nil, let plan else {
            return try picture.put(.plan, PlanAnswer(nil).wireBytes, to: process)
        }
        // A sink that keeps the picture has its memory from `begin` on; the worker keeps it too, for decoders that
        // refine rows.
        let answer = PlanAnswer(plan, wantsRows: plan.sink != nil, keepsWhole: plan.sink != nil)
        try picture.put(.plan, answer.wireBytes, to: process)
    }

    /// No format has longer sides. Larger numbers could overflow where sizes are computed.
    private static let longestSide = 1 << 32

    /// - Parameter isRefused: whether the picture may exceed the limits, because it is not decoded.
    /// - Throws: if no decoder could report such a header.
    private func checked(
        _ header: ImageHeader, isRefused: Bool = false
    ) throws(DecoderProcess.Failure) -> ImageHeader {
        let limit = picture.options.limits
        let metadata = header.metadata
        let lengths = [header.iccProfile, metadata.exif, metadata.xmp, metadata.iptc].map { $0?.count }
        let sizes = [header.size, header.storedSize] + header.otherSizes
        guard coder.decodableFormats.contains(header.format), 1...64 ~= header.bitDepth,
            header.frameCount ?? 1 >= 0, header.loopCount ?? 0 >= 0,
            lengths.allSatisfy({ $0 ?? 0 <= max(limit.metadata.bytes, 0) }),
            sizes.allSatisfy({ 0...Self.longestSide ~= $0.width && 0...Self.longestSide ~= $0.height }),
            isRefused || sizes.allSatisfy({ !$0.isEmpty && $0.pixelCount != nil }),
            !header.isVector || header.format.isVector,
            header.isVector || isRefused || (try? limit.check(header.size)) != nil
        else { throw .protocolViolation("its header is impossible") }
        return header
    }

    private func isAllowed(_ format: RowFormat, _ header: ImageHeader) -> Bool {
        let whole = plan?.raster?.size ?? plan?.size ?? header.size
        let divisor = max(plan?.scaleDenominator ?? 1, 1)
        func scaled(_ side: Int) -> Int { side / divisor + (side % divisor > 0 ? 1 : 0) }
        let size = PixelSize(width: scaled(whole.width), height: scaled(whole.height))
        return format.size == size && picture.options.layouts.contains(format.layout) && format.alpha != .premultiplied
    }

    private func begin(_ format: RowFormat) throws(DecoderProcess.Failure) {
        // The header may have been replaced by a later one, to which the limits were not applied.
        guard let plannedHeader, let sink = plan?.sink, !hasBegun, isAllowed(format, plannedHeader) else {
            throw .protocolViolation("it returned another picture than it announced")
        }
        hasBegun = true
        if let rows {
            guard rows.format == format else { throw .protocolViolation("it gives another picture than before") }
            return
        }
        do throws(WebImageError) {
            rows = Rows(format: format, shape: try RingShape(format))
            try sink.begin(format)
        } catch { throw .callerGaveUp(error) }
    }

    /// Writes rows; those that the sink has already, from another worker, are left out.
    private func write(
        _ row: Int, _ count: Int, _ bytes: UnsafeRawPointer, _ sink: any RowSink, _ shape: RingShape
    ) throws(WebImageError) {
        let known = max(0, min(count, (rows?.done ?? 0) - row))
        guard known < count else { return }
        let bytes = bytes + known * shape.bytesPerRow
        try sink.band(at: row + known, count: count - known)
            .copyMemory(from: bytes, byteCount: (count - known) * shape.bytesPerRow)
        try sink.commit(at: row + known, count: count - known)
        rows?.done = row + count
    }
}

extension DecodeOptions {
    /// The layouts that a decoder with these options may give.
    var layouts: [PixelLayout] { keepsBitDepth ? [.rgba8, .rgba16] : [.rgba8] }
}
