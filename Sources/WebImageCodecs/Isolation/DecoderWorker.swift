import CShimSandbox
import Synchronization
import WebImageCore
import WebImageProcessing
import WebImageSystem

/// The main program of a worker: it confines itself, then decodes what its host sends until the host has ended. It uses
/// one thread, apart from those of libraries.
final class DecoderWorker {
    /// Decoders for tests only.
    static let hostileCoders = Guarded<[any ImageCoder]>([])

    private enum Session {
        case still(any ImageDecoder, StillParts)
        case animation(any AnimationDecoder, AnimationParts)
        /// The decoder could not be opened; the first call reports it.
        case refused(WebImageError, isAnimation: Bool)
        case encoder(EncoderSession)
    }

    private final class StillParts {
        var sink: RingSink?
        var toldHeader: ImageHeader?
        /// The last reported state.
        var state = StillState()
    }

    private final class AnimationParts {
        var toldHeader: ImageHeader?
        var toldDelays = 0
    }

    /// The milliseconds without a message after which the worker returns memory to the system.
    private static let idleTime: Int32 = 1000

    private let socket = MessageSocket(Int32(WI_WORKER_SOCKET), timeout: DecoderWorker.idleTime, takesFiles: true)
    private let memory: SharedMemory
    private let coders: [any ImageCoder]
    private let positions = RingPositions()
    private var sessions: [UInt32: Session] = [:]
    /// Messages that arrived while another one was awaited.
    private var early: [MessageSocket.Message] = []
    /// The picture of the current call.
    private var current: UInt32 = 0

    private init(_ memory: SharedMemory, _ coders: [any ImageCoder]) {
        self.memory = memory
        self.coders = coders
    }

    /// Never returns before the host has ended.
    ///
    /// - Returns: the process's exit status.
    static func serve(options: Int32, memoryLimit: UInt64) -> Int32 {
        wi_worker_add_hostile()
        let kind = WorkerKind(options: Int(options))
        let coders =
            CoderRegistry.builtIn.filter { WorkerKind(of: $0) == kind.ofCoders } + hostileCoders.withLock { $0 }
        kind.warmUp(coders)
        // Must be computed while system calls are still allowed.
        _ = MessageSocket.pollingTime
        var size = 0
        guard let base = wi_worker_map(&size), size == SharedMemory.byteCount else { return 1 }
        let worker = DecoderWorker(SharedMemory(base: base), coders)
        var done = wi_confinement()
        let fault = wi_worker_confine(options, memoryLimit, &done)
        let hello = WorkerHello(
            hasSeccomp: done.has_seccomp != 0, landlock: Int(done.landlock), fault: Int(fault))
        worker.reply(.hello, hello.wireBytes)
        worker.flush()
        guard fault == 0 else { return 1 }
        worker.run()
    }

    private func run() -> Never {
        while true {
            let message = nextMessage()
            // The host has taken all rows, unless it sends the next piece of the same picture.
            if message.kind != WorkerRequest.push.rawValue || message.session != current {
                positions.taken = positions.end
            }
            current = message.session
            guard let request = WorkerRequest(rawValue: message.kind) else { wi_worker_leave(2) }
            answer(request, message)
        }
    }

    private func answer(_ request: WorkerRequest, _ message: MessageSocket.Message) {
        switch request {
        case .openStill: sessions[current] = openStill(value(message))
        case .openAnimation: sessions[current] = openAnimation(value(message))
        case .close: sessions[current] = nil
        case .taken: break
        case .plan: wi_worker_leave(2)
        case .push:
            let bytes = inputBytes(message)
            call { (decoder) throws(WebImageError) in
                try decoder.push(bytes)
            } animation: {
                (decoder) throws(WebImageError) in
                try decoder.push(bytes)
            }
        case .file:
            let file = fileSent(value(message))
            call { (decoder) throws(WebImageError) in
                try push(file.get(), to: decoder)
            } animation: { (_) throws(WebImageError) in
                wi_worker_leave(2)
            }
        case .finish:
            call { (decoder) throws(WebImageError) in
                try decoder.finish()
                return nil
            } animation: { (decoder) throws(WebImageError) in
                try decoder.finish()
            }
        case .preview:
            guard case .still(let decoder, _) = sessions[current] else { return tellRefusal() }
            sendPixels { () throws(WebImageError) in try decoder.preview() }
        case .frame:
            guard case .animation(let decoder, _) = sessions[current] else { return tellRefusal() }
            let index: Int = value(message)
            guard decoder.storedDelays.indices.contains(index) else { wi_worker_leave(2) }
            sendPixels { () throws(WebImageError) in try decoder.frame(at: index) }
        case .firstFrameNeeded:
            guard case .animation(let decoder, _) = sessions[current] else { return tellRefusal() }
            let index: Int = value(message)
            guard decoder.storedDelays.indices.contains(index) else { wi_worker_leave(2) }
            reply(.number, decoder.firstFrameNeeded(for: index).wireBytes)
        case .colors:
            let asked: ProfileAsked = value(message)
            reply(.colors, ProfileRead(table: ProfileTable(iccProfile: asked.profile)).wireBytes)
        case .openEncoder: sessions[current] = .encoder(EncoderSession(value(message), coders))
        case .picture: withEncoder { $0.begin(value(message)) }
        case .pixels:
            let bytes = inputBytes(message)
            withEncoder { (encoder) throws(WebImageError) in
                try encoder.take(bytes)
                reply(.nothing)
            }
        case .encode:
            withEncoder { (encoder) throws(WebImageError) in reply(.file, try encoder.finish()) }
        }
    }

    private func withEncoder(_ body: (EncoderSession) throws(WebImageError) -> Void) {
        guard case .encoder(let encoder) = sessions[current] else { wi_worker_leave(2) }
        do throws(WebImageError) {
            try body(encoder)
        } catch {
            reply(.failed, error.wireBytes)
            sessions[current] = nil
        }
    }

    /// The piece of the shared input that a message names.
    private func inputBytes(_ message: MessageSocket.Message) -> UnsafeRawBufferPointer {
        let piece: InputPiece = value(message)
        guard piece.isWithinInput else { wi_worker_leave(2) }
        return UnsafeRawBufferPointer(start: memory.input + piece.offset, count: piece.count)
    }

    /// The file that came with a message.
    private func fileSent(_ byteCount: Int) -> Result<WholeFile, WebImageError> {
        guard byteCount > 0, let descriptor = socket.takeFile() else { wi_worker_leave(2) }
        do throws(WebImageError) {
            return .success(WholeFile(try FileMapping(descriptor: descriptor, byteCount: byteCount)))
        } catch {
            return .failure(error)
        }
    }

    private func push(_ file: WholeFile, to decoder: any ImageDecoder) throws(WebImageError) -> DecodeState {
        if let collecting = decoder as? any CollectingDecoder { return try collecting.push(whole: file) }
        return try decoder.push(file.bytes)
    }

    // MARK: sessions

    private func coder(_ key: String) throws(WebImageError) -> any ImageCoder {
        guard let coder = coders.first(where: { $0.key == key }) else {
            throw WebImageError(.decoderUnavailable, "the decoder process has no \(key)")
        }
        return coder
    }

    private func openStill(_ opening: StillOpening) -> Session {
        let parts = StillParts()
        do throws(WebImageError) {
            let decoder = try coder(opening.coder).makeDecoder(opening.options) {
                [unowned self] (header) throws(WebImageError) in try plan(header, parts)
            }
            return .still(decoder, parts)
        } catch {
            return .refused(error, isAnimation: false)
        }
    }

    private func openAnimation(_ opening: AnimationOpening) -> Session {
        do throws(WebImageError) {
            let coder = try coder(opening.opening.coder)
            guard let decoder = try coder.makeAnimationDecoder(opening.format, opening.opening.options) else {
                throw WebImageError(.unsupportedFeature, "the decoder knows no animations")
            }
            return .animation(decoder, AnimationParts())
        } catch {
            return .refused(error, isAnimation: true)
        }
    }

    private func plan(_ header: ImageHeader, _ parts: StillParts) throws(WebImageError) -> DecodePlan {
        parts.toldHeader = header
        reply(.header, header.wireBytes)
        let answer: PlanAnswer = value(receive(.plan))
        guard var plan = answer.plan else { throw .cancelled }
        if answer.wantsRows {
            let sink = makeSink(keepsWhole: answer.keepsWhole)
            parts.sink = sink
            plan.sink = sink
        }
        return plan
    }

    private func makeSink(formatReply: WorkerReply = .begin, keepsWhole: Bool) -> RingSink {
        RingSink(memory, positions, formatReply: formatReply, keepsWhole: keepsWhole) { [unowned self] in
            reply($0, $1)
        } sendNow: { [unowned self] in
            flush()
        } waitForTaken: { [unowned self] in
            _ = receive(.taken)
        }
    }

    // MARK: calls

    private func call(
        still: (any ImageDecoder) throws(WebImageError) -> DecodeState?,
        animation: (any AnimationDecoder) throws(WebImageError) -> Void
    ) {
        switch sessions[current] {
        case .still(let decoder, let parts): call(decoder, parts, still)
        case .animation(let decoder, let parts):
            do throws(WebImageError) {
                try animation(decoder)
            } catch {
                reply(.failed, error.wireBytes)
            }
            tellState(decoder, parts)
        case .refused, .encoder, nil: tellRefusal()
        }
    }

    private func call(
        _ decoder: any ImageDecoder, _ parts: StillParts,
        _ body: (any ImageDecoder) throws(WebImageError) -> DecodeState?
    ) {
        // More bytes of a complete picture may still arrive.
        let mayLearn = parts.state.mayExtendHeader || parts.state.mayFindLateMetadata
        guard mayLearn || !(parts.state.isComplete || parts.state.hasStoppedAtHeader) else {
            return reply(.still, parts.state.wireBytes)
        }
        var failure: WebImageError?
        var result: DecodeState?
        do throws(WebImageError) { result = try body(decoder) } catch { failure = error }
        parts.sink?.flush()
        var state = StillState()
        if let header = decoder.header, header != parts.toldHeader {
            parts.toldHeader = header
            state.header = header
        }
        if case .complete = result { state.isComplete = true }
        if case .stoppedAtHeader = result { state.hasStoppedAtHeader = true }
        if let failure {
            if let header = state.header { reply(.learned, header.wireBytes) }
            reply(.failed, failure.wireBytes)
            sessions[current] = nil
        } else {
            state.mayExtendHeader = decoder.mayExtendHeader
            state.mayFindLateMetadata = decoder.mayFindLateMetadata
            reply(.still, state.wireBytes)
            state.header = nil
            parts.state = state
        }
    }

    private func tellState(_ decoder: any AnimationDecoder, _ parts: AnimationParts) {
        var state = AnimationState()
        if let header = decoder.header, header != parts.toldHeader {
            parts.toldHeader = header
            state.header = header
        }
        let delays = decoder.storedDelays
        state.newDelays = Array(delays.dropFirst(parts.toldDelays))
        parts.toldDelays = delays.count
        state.beginsWithStill = decoder.beginsWithStill
        state.workingByteCount = decoder.workingByteCount
        reply(.animation, state.wireBytes)
    }

    private func tellRefusal() {
        // The host may have sent another piece before it learned that the first had failed. That piece is not answered.
        guard case .refused(let error, let isAnimation) = sessions[current] else { return }
        reply(.failed, error.wireBytes)
        if isAnimation { reply(.animation, AnimationState().wireBytes) } else { sessions[current] = nil }
    }

    /// Sends a picture that a decoder has created.
    private func sendPixels(_ make: () throws(WebImageError) -> PixelBuffer?) {
        do throws(WebImageError) {
            if let pixels = try make() {
                let sink = makeSink(formatReply: .pixels, keepsWhole: false)
                try sink.begin(RowFormat(size: pixels.size, layout: pixels.layout, alpha: .straight))
                let format = RowFormat(size: pixels.size, layout: pixels.layout, alpha: .straight)
                var writer = BandWriter(sink, format, DecodeOptions())
                while !writer.isComplete {
                    let row = pixels.row(writer.row)
                    try writer.nextRow().copyMemory(from: row, byteCount: format.bytesPerRow)
                    try writer.rowIsDone()
                }
                sink.flush()
            }
            reply(.nothing)
        } catch {
            reply(.failed, error.wireBytes)
            if case .still = sessions[current] { sessions[current] = nil }
        }
        if case .animation(let decoder, let parts) = sessions[current] { tellState(decoder, parts) }
    }

    // MARK: the wire

    /// Queues a message, which is sent when the worker waits.
    private func reply(_ kind: WorkerReply, _ bytes: [UInt8] = []) {
        do throws(MessageSocket.Failure) {
            try socket.put(kind.rawValue, current, bytes)
        } catch {
            wi_worker_leave(0)
        }
    }

    private func flush() {
        do throws(MessageSocket.Failure) { try socket.flush() } catch { wi_worker_leave(0) }
    }

    private func receive(isSoon: Bool = false) -> MessageSocket.Message {
        flush()
        do throws(MessageSocket.Failure) {
            var hasTrimmed = false
            while true {
                if let message = try socket.receive(longest: .max, isSoon: isSoon) { return message }
                // The worker has been idle for a while.
                if !hasTrimmed { ProcessMemory.returnFree() }
                hasTrimmed = true
            }
        } catch {}
        // The host has ended.
        wi_worker_leave(0)
    }

    /// The next message of the main loop.
    private func nextMessage() -> MessageSocket.Message { early.isEmpty ? receive(nil) : early.removeFirst() }

    /// The next message of a kind, or of any. Other messages before it are left for the main loop; the host's progress
    /// with rows is recorded.
    @discardableResult
    private func receive(_ request: WorkerRequest?) -> MessageSocket.Message {
        while true {
            // The host makes a plan at once, and after a picture or a piece the next one may be ready.
            let message = receive(isSoon: request != .taken)
            if message.kind == WorkerRequest.taken.rawValue { note(value(message), of: message.session) }
            if message.kind == request?.rawValue, message.session == current { return message }
            if message.kind == WorkerRequest.taken.rawValue { continue }
            if request == nil { return message }
            guard early.count < SharedMemory.inputPieces else { wi_worker_leave(2) }
            early.append(message)
        }
    }

    private func note(_ taken: RowsTaken, of session: UInt32) {
        guard session == current else { return }
        positions.taken = max(positions.taken, min(taken.bytes, positions.end))
        if case .still(_, let parts) = sessions[current], !taken.wantsMore { parts.sink?.wantsRows = false }
    }

    private func value<Value: WireValue>(_ message: MessageSocket.Message) -> Value {
        do throws(MessageSocket.Failure) { return try message.value() } catch { wi_worker_leave(2) }
    }
}

/// Called by the shim before `main` in a worker process.
@_cdecl("wi_worker_serve") func workerServe(_ options: Int32, _ memoryLimit: UInt64) -> Int32 {
    DecoderWorker.serve(options: options, memoryLimit: memoryLimit)
}
