import WebImageCodecs
import WebImageCore

/// The decoder's end of a pipe, with one real decoder, which knows its caller only through the pipe.
struct PipeWorker {
    private let coder: any ImageCoder
    private let channel: PipeChannel

    init(_ coder: any ImageCoder, _ channel: PipeChannel) {
        self.coder = coder
        self.channel = channel
    }

    /// Handles calls until the caller closes its end.
    func serve() {
        do throws(WebImageError) {
            let (ask, _) = try channel.receive(PipeAsk.self)
            switch ask {
            case .openStill(let options): try serveStill(options)
            case .openAnimation(let format, let options): try serveAnimation(format, options)
            default: break
            }
        } catch {
            // Tells the caller the error, if its end is still open.
            try? channel.send(PipeTell.failed(error))
        }
    }

    private func serveStill(_ options: DecodeOptions) throws(WebImageError) {
        let channel = channel
        let decoder = try coder.makeDecoder(options) { header throws(WebImageError) in
            try channel.send(PipeTell.header(header))
            guard case (.plan(var plan?, let wantsRows), _) = try channel.receive(PipeAsk.self) else {
                throw .cancelled
            }
            plan.sink = wantsRows ? PipeSink(channel) : nil
            return plan
        }
        func tell(_ state: DecodeState?) throws(WebImageError) {
            var told = PipeTell.StillState(header: decoder.header, mayExtendHeader: decoder.mayExtendHeader)
            switch state {
            case .complete: told.isComplete = true
            case .stoppedAtHeader: told.hasStoppedAtHeader = true
            case .needsBytes, nil: break
            }
            try channel.send(PipeTell.still(told))
        }
        try tell(nil)
        while true {
            let (ask, bytes) = try channel.receive(PipeAsk.self)
            switch ask {
            case .push:
                try tell(bytes.withRawBytes { bytes throws(WebImageError) in try decoder.push(bytes) })
            case .finish:
                try decoder.finish()
                try tell(nil)
            case .preview: try send(decoder.preview())
            default: throw PipeChannel.broken
            }
        }
    }

    private func serveAnimation(_ format: ImageFormat, _ options: DecodeOptions) throws(WebImageError) {
        guard let decoder = try coder.makeAnimationDecoder(format, options) else {
            return try channel.send(PipeTell.nothing)
        }
        func tellState() throws(WebImageError) {
            try channel.send(
                PipeTell.animation(
                    PipeTell.AnimationState(
                        header: decoder.header, storedDelays: decoder.storedDelays,
                        beginsWithStill: decoder.beginsWithStill, encodedByteCount: decoder.encodedByteCount,
                        workingByteCount: decoder.workingByteCount)))
        }
        func answer(_ work: () throws(WebImageError) -> Void) throws(WebImageError) {
            var failure: WebImageError?
            do throws(WebImageError) { try work() } catch { failure = error }
            try channel.send(failure.map { PipeTell.failed($0) } ?? .nothing)
            try tellState()
        }
        try tellState()
        while true {
            let (ask, bytes) = try channel.receive(PipeAsk.self)
            switch ask {
            case .push:
                try answer { () throws(WebImageError) in
                    try bytes.withRawBytes { bytes throws(WebImageError) in try decoder.push(bytes) }
                }
            case .finish: try answer { () throws(WebImageError) in try decoder.finish() }
            case .releaseWorkingMemory: try answer { decoder.releaseWorkingMemory() }
            case .frame(let index):
                let frame: PixelBuffer
                do throws(WebImageError) { frame = try decoder.frame(at: index) } catch {
                    try channel.send(PipeTell.failed(error))
                    continue
                }
                try send(frame)
                try tellState()
            case .firstFrameNeeded(let index):
                try channel.send(PipeTell.number(decoder.firstFrameNeeded(for: index)))
            default: throw PipeChannel.broken
            }
        }
    }

    private func send(_ pixels: PixelBuffer?) throws(WebImageError) {
        guard let pixels else { return try channel.send(PipeTell.nothing) }
        try pixels.withBytes { bytes throws(WebImageError) in
            try channel.send(PipeTell.pixels(pixels.size, pixels.layout), bytes)
        }
    }
}

/// Sends rows through a pipe as they are completed. It keeps the whole picture, for decoders that refine it in place.
private final class PipeSink: RowSink {
    private let channel: PipeChannel
    private var buffer: PixelBuffer?

    init(_ channel: PipeChannel) { self.channel = channel }

    func begin(_ format: RowFormat) throws(WebImageError) {
        buffer = try PixelBuffer(size: format.size, layout: format.layout)
        try channel.send(PipeTell.begin(format))
    }

    func band(at row: Int, count: Int) throws(WebImageError) -> UnsafeMutableRawPointer {
        guard let buffer, row + count <= buffer.size.height else { throw PipeChannel.broken }
        return buffer.row(row)
    }

    func commit(at row: Int, count: Int) throws(WebImageError) {
        guard let buffer else { throw PipeChannel.broken }
        let rows = UnsafeRawBufferPointer(start: buffer.row(row), count: count * buffer.bytesPerRow)
        try channel.send(PipeTell.rows(at: row, count: count), rows)
    }

    var wholePicture: UnsafeMutableRawPointer? { buffer?.base }
}
