package import WebImageCodecs
package import WebImageCore
import WebImageSystem

/// A coder whose decoders run elsewhere. Each decoder is on a thread of its own, and everything between it and its
/// caller is encoded and sent through a pipe. This shows that a decoder needs nothing else from its caller.
package struct PipeCoder: ImageCoder {
    private let coder: any ImageCoder

    package init(_ coder: any ImageCoder) { self.coder = coder }

    /// A registry whose decoders all run at the other end of a pipe.
    package static func registry(_ registry: CoderRegistry = .standard) -> CoderRegistry {
        CoderRegistry(registry.coders.map { PipeCoder($0) })
    }

    package var key: String { coder.key }
    package var decodableFormats: Set<ImageFormat> { coder.decodableFormats }
    package var encodableFormats: Set<ImageFormat> { coder.encodableFormats }
    package var losslessFormats: Set<ImageFormat> { coder.losslessFormats }
    package var decodesInOneCall: Bool { coder.decodesInOneCall }
    package var readsPages: Bool { coder.readsPages }

    package func canDecode(_ format: ImageFormat?, prefix: UnsafeRawBufferPointer) -> Bool {
        coder.canDecode(format, prefix: prefix)
    }

    package func scaleDenominators(for header: ImageHeader) -> [Int] { coder.scaleDenominators(for: header) }
    package func scalingMargin(for header: ImageHeader, denominator: Int) -> Double {
        coder.scalingMargin(for: header, denominator: denominator)
    }

    package func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        try coder.encode(image, as: format, options)
    }

    package func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        let line = try PipeLine(coder, options.checkpoint)
        return try PipeDecoder(line, options, plan: plan)
    }

    package func makeAnimationDecoder(
        _ format: ImageFormat, _ options: DecodeOptions
    ) throws(WebImageError) -> (any AnimationDecoder)? {
        try PipeAnimationDecoder(PipeLine(coder, options.checkpoint), format, options)
    }
}

/// The caller's end of a pipe, and the thread of the decoder at the other end.
final class PipeLine {
    private let channel: PipeChannel
    private let checkpoint: (@Sendable () throws(WebImageError) -> Void)?
    private let thread = ThreadPool(name: "pipe-decoder", width: 1)

    init(
        _ coder: any ImageCoder, _ checkpoint: (@Sendable () throws(WebImageError) -> Void)?
    ) throws(WebImageError) {
        let (here, there) = try PipeChannel.makePair()
        channel = here
        self.checkpoint = checkpoint
        thread.run(.normal) { PipeWorker(coder, there).serve() }
    }

    func ask(_ ask: PipeAsk, _ bytes: UnsafeRawBufferPointer = .init(start: nil, count: 0)) throws(WebImageError) {
        try checkpoint?()
        try channel.send(ask, bytes)
    }

    /// Receives the next message from the other end.
    ///
    /// - Throws: the error with which the other end failed.
    func next() throws(WebImageError) -> (PipeTell, [UInt8]) {
        try checkpoint?()
        let (tell, bytes) = try channel.receive(PipeTell.self)
        if case .failed(let error) = tell { throw error }
        return (tell, bytes)
    }
}

/// Makes a buffer from pixels that came through a pipe.
func makePixels(_ size: PixelSize, _ layout: PixelLayout, _ bytes: [UInt8]) throws(WebImageError) -> PixelBuffer {
    let buffer = try PixelBuffer(size: size, layout: layout)
    guard buffer.byteCount.bytes == bytes.count else { throw PipeChannel.broken }
    buffer.mutableBytes.copyBytes(from: bytes)
    return buffer
}

/// Forwards to a decoder of a still at the other end of a pipe.
final class PipeDecoder: ImageDecoder {
    private let line: PipeLine
    private let plan: DecodePlanner
    private var sink: (any RowSink)?
    private var bytesPerRow = 0
    private var state = PipeTell.StillState(header: nil, mayExtendHeader: false)

    init(_ line: PipeLine, _ options: DecodeOptions, plan: @escaping DecodePlanner) throws(WebImageError) {
        self.line = line
        self.plan = plan
        try line.ask(.openStill(options))
        try serve()
    }

    var header: ImageHeader? { state.header }
    var mayExtendHeader: Bool { state.mayExtendHeader }

    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
        try line.ask(.push, bytes)
        try serve()
        return state.isComplete ? .complete : state.hasStoppedAtHeader ? .stoppedAtHeader : .needsBytes
    }

    func finish() throws(WebImageError) {
        try line.ask(.finish)
        try serve()
    }

    func preview() throws(WebImageError) -> PixelBuffer? {
        try line.ask(.preview)
        guard case (.pixels(let size, let layout), let bytes) = try line.next() else { return nil }
        return try makePixels(size, layout, bytes)
    }

    /// Handles messages from the other end until its call has ended.
    private func serve() throws(WebImageError) {
        while true {
            let (tell, bytes) = try line.next()
            switch tell {
            case .header(let header):
                state.header = header
                let plan = try plan(header)
                sink = plan.sink
                try line.ask(.plan(plan, wantsRows: plan.sink != nil))
            case .begin(let format):
                bytesPerRow = format.bytesPerRow
                try sink?.begin(format)
            case .rows(let row, let count):
                guard let sink, bytes.count == count * bytesPerRow else { throw PipeChannel.broken }
                let band = try sink.band(at: row, count: count)
                bytes.withUnsafeBytes { rows in
                    if let base = rows.baseAddress { band.copyMemory(from: base, byteCount: rows.count) }
                }
                try sink.commit(at: row, count: count)
            case .still(let state):
                self.state = state
                return
            default: throw PipeChannel.broken
            }
        }
    }
}

/// Forwards to a decoder of an animation at the other end of a pipe.
final class PipeAnimationDecoder: AnimationDecoder {
    private let line: PipeLine
    private var state: PipeTell.AnimationState

    /// Returns nil if the coder decodes only stills.
    init?(_ line: PipeLine, _ format: ImageFormat, _ options: DecodeOptions) throws(WebImageError) {
        self.line = line
        try line.ask(.openAnimation(format, options))
        guard case (.animation(let state), _) = try line.next() else { return nil }
        self.state = state
    }

    var header: ImageHeader? { state.header }
    var storedDelays: [Duration] { state.storedDelays }
    var beginsWithStill: Bool { state.beginsWithStill }
    var encodedByteCount: Int { state.encodedByteCount }
    var workingByteCount: Int { state.workingByteCount }

    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) { try call(.push, bytes) }

    func finish() throws(WebImageError) { try call(.finish) }

    func releaseWorkingMemory() { try? call(.releaseWorkingMemory) }

    func frame(at index: Int) throws(WebImageError) -> PixelBuffer {
        try line.ask(.frame(index))
        guard case (.pixels(let size, let layout), let bytes) = try line.next() else { throw PipeChannel.broken }
        guard case (.animation(let state), _) = try line.next() else { throw PipeChannel.broken }
        self.state = state
        return try makePixels(size, layout, bytes)
    }

    func firstFrameNeeded(for index: Int) -> Int {
        do throws(WebImageError) {
            try line.ask(.firstFrameNeeded(index))
            guard case (.number(let first), _) = try line.next() else { return index }
            return first
        } catch {
            return index
        }
    }

    /// Makes a call. Each call, even one that fails, ends with the decoder's state.
    private func call(
        _ ask: PipeAsk, _ bytes: UnsafeRawBufferPointer = .init(start: nil, count: 0)
    ) throws(WebImageError) {
        try line.ask(ask, bytes)
        var failure: WebImageError?
        do throws(WebImageError) {
            guard case (.nothing, _) = try line.next() else { throw PipeChannel.broken }
        } catch {
            failure = error
        }
        guard case (.animation(let state), _) = try line.next() else { throw PipeChannel.broken }
        self.state = state
        if let failure { throw failure }
    }
}
