import WebImageCore
import WebImageSystem

/// An animation decoder that works in another process, whose state can be lost at any time.
final class IsolatedAnimationDecoder: AnimationDecoder {
    private let picture: IsolatedPicture
    private let formats: Set<ImageFormat>
    private var state = AnimationState()
    /// How many delays this worker has reported.
    private var toldDelays = 0
    /// The error of `push` or `finish`, which was thrown. Another worker will report it again.
    private var failure: WebImageError?
    private(set) var header: ImageHeader?
    private(set) var storedDelays: [Duration] = []

    init(_ coder: any ImageCoder, _ pool: DecoderPool, _ format: ImageFormat, _ options: DecodeOptions) {
        formats = coder.decodableFormats
        picture = IsolatedPicture(
            coder, pool, options,
            .animation(AnimationOpening(coder: coder.key, options: options, format: format)))
    }

    var beginsWithStill: Bool { state.beginsWithStill }
    var encodedByteCount: Int { picture.byteCount }
    var workingByteCount: Int { picture.isOpen ? state.workingByteCount : 0 }

    func releaseWorkingMemory() {
        picture.close()
        state.workingByteCount = 0
    }

    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
        try picture.keep(bytes)
        try run()
    }

    func push(file: [UInt8]) throws(WebImageError) {
        try picture.keep(whole: WholeFile(file))
        try run()
    }

    func finish() throws(WebImageError) { try run(finishes: true) }

    func frame(at index: Int) throws(WebImageError) -> PixelBuffer {
        var pixels: PixelBuffer?
        var refusal: WebImageError?
        let header = header
        let layouts = picture.options.layouts
        try run(IsolatedPicture.Call(request: .frame, argument: index.wireBytes)) {
            [unowned self] (process) throws(DecoderProcess.Failure) in
            do throws(DecoderProcess.Failure) {
                pixels = try picture.takePixels(process) {
                    $0.size == header?.size && layouts.contains($0.layout)
                }
            } catch {
                guard case .decoderError(let error) = error else { throw error }
                refusal = error
            }
            _ = try takeState(process)
        }
        if let refusal { throw refusal }
        guard let pixels else { throw WebImageError(.corruptData, "the frame is not there", format: header?.format) }
        return pixels
    }

    func firstFrameNeeded(for index: Int) -> Int {
        var first = index
        // A worker that does not hold the animation must begin with the first frame.
        guard picture.isOpen else { return 0 }
        let call = IsolatedPicture.Call(request: .firstFrameNeeded, argument: index.wireBytes)
        try? run(call) { [unowned self] (process) throws(DecoderProcess.Failure) in
            let (reply, message) = try picture.receive(process)
            guard reply == .number else { throw .invalidMessage }
            first = try DecoderProcess.value(message)
            guard 0...index ~= first else { throw .protocolViolation("it needs a frame that cannot be needed") }
        }
        return first
    }

    /// Pushes missing bytes, and sends the call.
    private func run(
        finishes: Bool = false, _ call: IsolatedPicture.Call? = nil,
        answer: ((DecoderProcess) throws(DecoderProcess.Failure) -> Void)? = nil
    ) throws(WebImageError) {
        let known = failure
        // The calls for the bytes come first, and end in the same way.
        try picture.run(finishes: finishes, call, begins: { toldDelays = 0 }) {
            [unowned self] (process, isCall) throws(DecoderProcess.Failure) in
            if isCall, let answer { return try answer(process) }
            if let error = try takeState(process) { failure = failure ?? error }
        }
        if known == nil, let failure { throw failure }
    }

    /// Receives the end of a call.
    ///
    /// - Returns: the error of the call.
    private func takeState(_ process: DecoderProcess) throws(DecoderProcess.Failure) -> WebImageError? {
        var failure: WebImageError?
        while true {
            let (reply, message) = try picture.receive(process)
            switch reply {
            case .failed where failure == nil: failure = try DecoderProcess.value(message)
            case .animation:
                let next = try DecoderProcess.value(message, AnimationState.self)
                try learn(next)
                return failure
            default: throw .invalidMessage
            }
        }
    }

    /// More than any process has, and few enough to be added.
    private static let possibleLengths = 0...(1 << 40)

    private func learn(_ next: AnimationState) throws(DecoderProcess.Failure) {
        let limits = picture.options.limits
        let metadata = min(max(limits.metadata.bytes, 0), Self.possibleLengths.upperBound)
        let delays = Array(storedDelays.prefix(toldDelays)) + next.newDelays
        guard Self.possibleLengths.contains(next.workingByteCount), next.newDelays.allSatisfy({ $0 >= .zero }),
            delays.count <= max(limits.frames, 0),
            delays.starts(with: storedDelays.prefix(delays.count))
        else { throw .protocolViolation("its number of frames is impossible") }
        toldDelays = delays.count
        if delays.count > storedDelays.count { storedDelays = delays }
        if let header = next.header {
            guard (try? limits.check(header.size)) != nil, self.header.map({ $0.size == header.size }) ?? true,
                formats.contains(header.format), 1...64 ~= header.bitDepth,
                header.frameCount ?? 1 >= 0, header.loopCount ?? 0 >= 0,
                header.metadata.byteCount + (header.iccProfile?.count ?? 0) <= 3 * metadata
            else { throw .protocolViolation("its header is impossible") }
            self.header = header
        }
        state = next
        state.workingByteCount = min(next.workingByteCount, most(of: header))
    }

    /// The most working memory that is believed: what a decoder of such frames can need. The memory cache makes room for
    /// it, so that a worker could empty that by a false number.
    private func most(of header: ImageHeader?) -> Int {
        let pixels = min(header?.size.pixelCount ?? 0, Self.possibleLengths.upperBound)
        return 32 * pixels + (32 << 20)
    }
}
