import WebImageCore
import WebImageSystem

/// A picture in a decoding process: the calls, and the recovery if the process is lost.
///
/// All bytes, or the file with them, are kept here. If a worker's state is lost, another worker starts the picture anew
/// and reaches the same point, because it gets the same bytes.
final class IsolatedPicture {
    /// How the picture is opened.
    enum Opening {
        case still(StillOpening)
        case animation(AnimationOpening)
    }

    /// The call that follows the bytes.
    struct Call {
        var request: WorkerRequest
        var argument: [UInt8] = []
    }

    typealias Serve = (_ process: DecoderProcess, _ isCall: Bool) throws(DecoderProcess.Failure) -> Void

    let pool: DecoderPool
    let options: DecodeOptions
    /// The format's name in error messages.
    let format: String
    private let kind: WorkerKind
    private let opening: Opening
    private var kept: [UInt8] = []
    /// Instead of `kept`, if all bytes came at once.
    private var whole: WholeFile?
    /// Instead of both: a file that workers read themselves.
    private var file: HeldFile?
    private var hasFile = false
    private var isFinished = false
    private var process: DecoderProcess?
    private var session: UInt32 = 0
    /// How many bytes the session has received.
    private var sent = 0
    private var hasToldEnd = false

    init(_ coder: any ImageCoder, _ pool: DecoderPool, _ options: DecodeOptions, _ opening: Opening) {
        self.pool = pool
        self.options = options
        self.opening = opening
        kind = WorkerKind(of: coder)
        // The shortest name is that of the plain format: tiff, not bigtiff.
        let names = coder.decodableFormats.map(\.rawValue)
        format = names.min { ($0.utf8.count, $0) < ($1.utf8.count, $1) } ?? "picture"
    }

    deinit { close() }

    var positions: RingPositions? { process?.positions }
    var isOpen: Bool { process.map(pool.isAlive) ?? false }

    /// The longest message that a worker may send with these options.
    private var longestMessage: Int {
        let metadata = max(0, min(options.limits.metadata.bytes, 1 << 30))
        return 4 * metadata + 16 * max(0, min(options.limits.frames, 1 << 24)) + (1 << 16)
    }

    var byteCount: Int { file?.byteCount ?? whole?.bytes.count ?? kept.count }

    func keep(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
        try check(byteCount + bytes.count)
        if let file = whole {
            kept = Array(file.bytes)
            whole = nil
        }
        kept.append(contentsOf: bytes)
    }

    func keep(whole file: WholeFile) throws(WebImageError) {
        guard kept.isEmpty, whole == nil else { return try keep(file.bytes) }
        try check(file.bytes.count)
        whole = file
    }

    /// Must be called before any bytes were kept.
    func keep(file: HeldFile) throws(WebImageError) {
        try check(file.byteCount)
        self.file = file
    }

    private func check(_ count: Int) throws(WebImageError) {
        try options.limits.check(byteCount: count, of: ImageFormat(rawValue: format))
    }

    /// Releases the worker's state.
    func close() {
        if let process { pool.closeSession(session, process) }
        process = nil
    }

    /// Sends a worker all bytes that it does not have, then the call.
    ///
    /// - Parameters:
    ///   - begins: called each time a worker begins with the picture.
    ///   - serve: handles the worker's messages until a call has ended: one for bytes, or `call`.
    func run(
        finishes: Bool = false, _ call: Call? = nil, begins: () -> Void,
        serve: Serve
    ) throws(WebImageError) {
        if finishes { isFinished = true }
        try options.checkpoint?()
        var hasTriedAnew = false
        while true {
            let found = try pool.lease(kind, boundTo: process, isFresh: hasTriedAnew, options.checkpoint)
            if found !== process {
                // The old process may still have the picture.
                if let process { pool.closeSession(session, process) }
                process = found
                sent = 0
                (hasToldEnd, hasFile) = (false, false)
                session = 0
            }
            do throws(DecoderProcess.Failure) {
                if session == 0 {
                    session = pool.openSession(found)
                    begins()
                    switch opening {
                    case .still(let value): try put(.openStill, value.wireBytes, to: found)
                    case .animation(let value): try put(.openAnimation, value.wireBytes, to: found)
                    }
                }
                try bringUp(found, serve)
                if let call {
                    try put(call.request, call.argument, to: found)
                    try serve(found, true)
                }
                return pool.giveBack(found)
            } catch {
                let lost = try settle(error, found)
                // A process that served others may have been damaged by them.
                guard lost.hasServedOthers, !hasTriedAnew else { throw lost.error }
                hasTriedAnew = true
            }
        }
    }

    private func bringUp(_ process: DecoderProcess, _ serve: Serve) throws(DecoderProcess.Failure) {
        if let file, !hasFile {
            hasFile = true
            try process.send(.file, session, file.byteCount.wireBytes, file: file, options.checkpoint)
            try serve(process, false)
        }
        let count = file == nil ? byteCount : 0
        // While the rows of one piece are taken here, the worker decodes the next one.
        var unanswered = 0
        while sent < count || unanswered > 0 {
            if sent < count, unanswered < SharedMemory.inputPieces {
                try sendPiece(process)
                unanswered += 1
            } else {
                try serve(process, false)
                unanswered -= 1
            }
        }
        guard isFinished, !hasToldEnd else { return }
        hasToldEnd = true
        try put(.finish, to: process)
        try serve(process, false)
    }

    /// Sends the next bytes, alternating between the parts of the input.
    private func sendPiece(_ process: DecoderProcess) throws(DecoderProcess.Failure) {
        let size = SharedMemory.inputCount / SharedMemory.inputPieces
        let piece = InputPiece(
            offset: process.nextInput * size, count: min(size, byteCount - sent))
        process.nextInput = (process.nextInput + 1) % SharedMemory.inputPieces
        func copy(_ bytes: UnsafeRawBufferPointer) {
            let target = UnsafeMutableRawBufferPointer(start: process.memory.input + piece.offset, count: piece.count)
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[sent..<sent + piece.count]))
        }
        if let whole { copy(whole.bytes) } else { kept.withUnsafeBytes(copy) }
        try put(.push, piece.wireBytes, to: process)
        sent += piece.count
        // The next piece takes a moment.
        if sent < byteCount { try process.flush(options.checkpoint) }
    }

    /// Handles a failed call: returns the process to the pool, or ends it.
    ///
    /// - Returns: why it was lost, if another process may succeed.
    private func settle(
        _ failure: DecoderProcess.Failure, _ process: DecoderProcess
    ) throws(WebImageError) -> DecoderPool.Lost {
        let what = "it decoded a \(format)"
        switch failure {
        case .decoderError(let error):
            if case .still = opening {
                pool.closeSession(session, process, isKnown: true)
                self.process = nil
            }
            // A truncated picture is not an attack.
            pool.giveBack(process, retires: error.code != .truncatedData && error.code != .cancelled)
            throw becameShorter ?? error
        case .callerGaveUp(let error):
            pool.end(process, .ended, while: what)
            self.process = nil
            throw error
        case .ended:
            self.process = nil
            let lost = pool.end(process, .crashed, while: what)
            // A process that accesses a part that the file no longer has crashes.
            if let shorter = becameShorter { throw shorter }
            return lost
        case .protocolViolation(let words):
            self.process = nil
            return pool.end(process, .crashed, while: what, distrust: words)
        }
    }

    private var becameShorter: WebImageError? {
        guard let file, file.becameShorter else { return nil }
        return WebImageError(.truncatedBody, "the file became shorter while it was read")
    }

    /// Receives the worker's next message.
    func receive(
        _ process: DecoderProcess, isSoon: Bool = false
    ) throws(DecoderProcess.Failure) -> (WorkerReply, MessageSocket.Message) {
        try process.receive(session, longest: longestMessage, isSoon: isSoon, options.checkpoint)
    }

    func put(
        _ request: WorkerRequest, _ bytes: [UInt8] = [], to process: DecoderProcess
    ) throws(DecoderProcess.Failure) {
        try process.put(request, session, bytes, options.checkpoint)
    }

    /// Takes a run of rows from the ring.
    ///
    /// - Parameters:
    ///   - next: the rows at which the run may begin: skipped rows would be unwritten memory.
    ///   - take: receives rows in the ring.
    func takeRows(
        _ message: MessageSocket.Message, _ format: RowFormat, _ shape: RingShape, next: ClosedRange<Int>,
        from process: DecoderProcess, wantsMore: () -> Bool,
        take: (_ row: Int, _ count: Int, UnsafeRawPointer) throws(WebImageError) -> Void
    ) throws(DecoderProcess.Failure) {
        let run = try DecoderProcess.value(message, RowRun.self)
        let positions = process.positions
        guard run.count > 0, next.contains(run.row), run.row <= format.size.height - run.count else {
            throw .protocolViolation("it gives rows that the picture does not have")
        }
        let start = shape.start(behind: positions.end, wraps: run.wraps)
        let offset = start % shape.capacity
        guard run.count <= (shape.capacity - offset) / shape.bytesPerRow else {
            throw .protocolViolation("it gives more rows than there is room for")
        }
        var done = 0
        while done < run.count {
            let count = min(RowBand.rows, run.count - done)
            let rows = UnsafeRawPointer(process.memory.ring + offset + done * shape.bytesPerRow)
            do throws(WebImageError) { try take(run.row + done, count, rows) } catch { throw .callerGaveUp(error) }
            done += count
        }
        positions.end = start + run.count * shape.bytesPerRow
        guard positions.end - positions.taken >= shape.capacity / 4 else { return }
        try tellTaken(process, wantsMore: wantsMore())
    }

    /// Tells the worker that all rows it has reported were taken.
    func tellTaken(_ process: DecoderProcess, wantsMore: Bool) throws(DecoderProcess.Failure) {
        process.positions.taken = process.positions.end
        try put(.taken, RowsTaken(bytes: process.positions.end, wantsMore: wantsMore).wireBytes, to: process)
    }

    /// Receives a picture that a worker has created: its format, its rows, its end.
    ///
    /// - Returns: nil if there is none.
    func takePixels(_ process: DecoderProcess, isAllowed: (RowFormat) -> Bool)
        throws(DecoderProcess.Failure) -> PixelBuffer?
    {
        var made: (buffer: PixelBuffer, format: RowFormat, shape: RingShape)?
        var rows = 0
        while true {
            let (reply, message) = try receive(process)
            switch (reply, made) {
            case (.pixels, nil):
                let format = try DecoderProcess.value(message, RowFormat.self)
                guard isAllowed(format) else {
                    throw .protocolViolation("it returned another picture than it announced")
                }
                do throws(WebImageError) {
                    made = (try PixelBuffer(size: format.size, layout: format.layout), format, try RingShape(format))
                } catch { throw .callerGaveUp(error) }
            case (.rows, let (buffer, format, shape)?):
                try takeRows(message, format, shape, next: rows...rows, from: process, wantsMore: { true }) {
                    buffer.row($0).copyMemory(from: $2, byteCount: $1 * shape.bytesPerRow)
                    rows = $0 + $1
                }
            case (.waiting, _?): try tellTaken(process, wantsMore: true)
            case (.nothing, _):
                guard made.map({ rows == $0.format.size.height }) ?? true else {
                    throw .protocolViolation("rows are missing")
                }
                return made?.buffer
            case (.failed, _): throw .decoderError(try DecoderProcess.value(message))
            default: throw .invalidMessage
            }
        }
    }
}
