import WebImageCore

/// An encoder in a process of its own: if it crashes, only its picture fails, and if it is cancelled, it ends at once,
/// although its library cannot be interrupted. It keeps the process from its first picture to its end.
///
/// If there is no sandbox, the encoder runs in this process: its input is pixels, and no untrusted bytes.
final class IsolatedEncoder: AnimationEncoder {
    private enum State {
        case unused
        case elsewhere(DecoderProcess, session: UInt32)
        case here
        case over(WebImageError)
    }

    /// A file may be at most this many times as long as the pixels, plus ``maxMoreBytes`` bytes.
    private static let maxGrowth = 2
    private static let maxMoreBytes = 16 << 20

    private let here: any AnimationEncoder
    private let pool: DecoderPool
    private let opening: EncoderOpening
    private let checkpoint: DecoderPool.Checkpoint?
    private var state = State.unused
    /// The most bytes that the file may have.
    private var maxBytes = IsolatedEncoder.maxMoreBytes
    private let isFresh: Bool
    /// Whether the process was lost, and had encoded other pictures, which may have damaged it.
    private(set) var mayTryAnew = false

    /// - Parameters:
    ///   - here: the same encoder in this process.
    ///   - isFresh: whether the process must not have encoded anything.
    init(_ here: any AnimationEncoder, _ pool: DecoderPool, _ opening: EncoderOpening, isFresh: Bool = false) {
        self.here = here
        self.pool = pool
        self.opening = opening
        self.isFresh = isFresh
        checkpoint = opening.options.context.checkpoint
    }

    deinit { release(WebImageError.cancelled) }

    func add(_ frame: Image, delay: Duration) throws(WebImageError) {
        let picture = PictureToEncode(frame, delay: delay).wireBytes
        maxBytes += picture.count + Self.maxGrowth * frame.pixels.byteCount.bytes
        let isElsewhere: Void? = try callElsewhere { (process, session) throws(DecoderProcess.Failure) in
            try process.put(.picture, session, picture, checkpoint)
            try frame.pixels.withBytes { (bytes) throws(DecoderProcess.Failure) in
                try send(bytes, to: process, session)
            }
        }
        if isElsewhere == nil { try here.add(frame, delay: delay) }
    }

    func finish() throws(WebImageError) -> [UInt8] {
        let file: [UInt8]? = try callElsewhere { (process, session) throws(DecoderProcess.Failure) in
            try process.put(.encode, session, [], checkpoint)
            let (reply, message) = try answer(of: process, session)
            guard reply == .file else { throw .invalidMessage }
            return message.bytes
        }
        guard let file else { return try here.finish() }
        release(WebImageError(.cannotEncode, "the file is finished", format: opening.format))
        return file
    }

    /// Returns the process.
    private func release(_ reason: WebImageError) {
        guard case .elsewhere(let process, let session) = state else { return }
        state = .over(reason)
        pool.closeSession(session, process)
        pool.giveBack(process)
    }

    // MARK: calls

    /// - Returns: nil if there is no sandbox, so that the encoder runs here.
    /// - Throws: the encoder's error, that of the checkpoint, or `cannotEncode` if the process is lost. All later calls
    ///   throw it, too.
    private func callElsewhere<Value>(
        _ body: (DecoderProcess, _ session: UInt32) throws(DecoderProcess.Failure) -> Value
    ) throws(WebImageError) -> Value? {
        guard let (process, session, isNew) = try leased() else { return nil }
        do throws(DecoderProcess.Failure) {
            if isNew { try process.put(.openEncoder, session, opening.wireBytes, checkpoint) }
            return try body(process, session)
        } catch {
            let failure = settle(error, process)
            state = .over(failure)
            throw failure
        }
    }

    /// - Returns: the leased process; nil if there is no sandbox.
    private func leased() throws(WebImageError) -> (DecoderProcess, session: UInt32, isNew: Bool)? {
        switch state {
        case .elsewhere(let process, let session): return (process, session, false)
        case .over(let reason): throw reason
        case .here: return nil
        case .unused: break
        }
        do throws(WebImageError) {
            let process = try pool.lease(.encoders, isFresh: isFresh, checkpoint)
            let session = pool.openSession(process)
            state = .elsewhere(process, session: session)
            return (process, session, true)
        } catch {
            guard error.code == .decoderUnavailable else { throw error }
            state = .here
            return nil
        }
    }

    private func send(
        _ bytes: UnsafeRawBufferPointer, to process: DecoderProcess, _ session: UInt32
    ) throws(DecoderProcess.Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(SharedMemory.inputCount))
            rest = rest.dropFirst(part.count)
            UnsafeMutableRawBufferPointer(start: process.memory.input, count: part.count).copyMemory(from: part)
            let piece = InputPiece(offset: 0, count: part.count)
            try process.put(.pixels, session, piece.wireBytes, checkpoint)
            guard try answer(of: process, session).0 == .nothing else { throw .invalidMessage }
        }
    }

    private func answer(
        of process: DecoderProcess, _ session: UInt32
    ) throws(DecoderProcess.Failure) -> (WorkerReply, MessageSocket.Message) {
        let (reply, message) = try process.receive(session, longest: maxBytes, checkpoint)
        guard reply != .failed else { throw .decoderError(try DecoderProcess.value(message)) }
        return (reply, message)
    }

    /// Handles a failed call: returns the process to the pool, or ends it.
    private func settle(_ failure: DecoderProcess.Failure, _ process: DecoderProcess) -> WebImageError {
        let what = "it encoded a \(opening.format.rawValue)"
        let lost: DecoderPool.Lost
        switch failure {
        case .decoderError(let error):
            release(error)
            return error
        case .callerGaveUp(let error):
            pool.end(process, .ended, while: what)
            return error
        case .ended: lost = pool.end(process, .crashed, while: what)
        case .protocolViolation(let words): lost = pool.end(process, .crashed, while: what, distrust: words)
        }
        if lost.error.code == .shutDown { return lost.error }
        mayTryAnew = lost.hasServedOthers
        return WebImageError(
            .cannotEncode, "no \(opening.format.rawValue) was made: \(lost.error.message)", cause: lost.error,
            format: opening.format)
    }
}
