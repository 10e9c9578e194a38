import CShimSandbox
import Synchronization
import WebImageCore
import WebImageSystem

/// The host's side of a worker. Only the thread that has leased it uses it.
final class DecoderProcess: @unchecked Sendable {
    // Sendable: the pool lends it to one thread at a time, and guards `lending`.

    /// The pool's data about it; used only under the pool's lock.
    struct Lending {
        var isBusy = true
        /// Whether its first message has arrived.
        var isGreeted = false
        /// Whether it takes no new pictures, and ends when it holds none.
        var isRetiring = false
        var isDead = false
        /// Pictures that it holds.
        var sessions: Set<UInt32> = []
        /// Unneeded pictures that it has not been told to close.
        var closing: [UInt32] = []
        /// How many pictures were opened in all.
        var opened: UInt32 = 0
        var idleSince = ContinuousClock.now

        /// Whether it can take pictures.
        var isFree: Bool { !isBusy && !isRetiring && !isDead }
    }

    /// Why a call of a worker failed.
    enum Failure: Error {
        /// The decoder's error for the picture.
        case decoderError(WebImageError)
        /// The worker has ended.
        case ended
        /// The worker broke the protocol, in this way.
        case protocolViolation(String)
        /// The caller has cancelled, or its time is over.
        case callerGaveUp(WebImageError)

        static let invalidMessage = Failure.protocolViolation("its message does not follow the protocol")
    }

    /// How long the host waits before it checks whether the picture is still needed.
    private static let messageTimeout: Int32 = 50

    let kind: WorkerKind
    let positions = RingPositions()
    let memory: SharedMemory
    var lending = Lending()
    private var heard = 0
    /// The other end of the socket, if there is no process; else -1.
    private var otherEnd: Int32 = -1
    /// The part of the shared input for the next piece.
    var nextInput = 0
    /// Locked, because the pool may end it at any time.
    private let worker: Guarded<wi_worker>
    /// Its process number.
    let processNumber: Int32
    private let socket: MessageSocket

    /// - Throws: `decoderUnavailable` if no such process can be started.
    init(_ kind: WorkerKind, _ settings: WorkerSettings) throws(WebImageError) {
        var worker = wi_worker()
        let options = Int32(kind.options | settings.hiddenOptions)
        // An encoder reads no untrusted bytes, so its memory is not limited (0), as in this process.
        let limit = kind == .encoders ? 0 : UInt64(max(settings.memory.bytes, 0))
        let result =
            if let program = settings.program {
                wi_worker_start(program, options, limit, SharedMemory.byteCount, &worker)
            } else if wi_worker_can_be_this_program() != 0 {
                wi_worker_start(nil, options, limit, SharedMemory.byteCount, &worker)
            } else {
                // The executable is a stranger's, which loaded this library, and would do its own work once more.
                throw WebImageError(
                    .decoderUnavailable,
                    "the program webimage-decoder is not found; DecoderIsolation.program can name its path")
            }
        guard result == 0, let base = worker.memory else {
            throw WebImageError(
                .decoderUnavailable, "no process for decoding can be started: \(SystemErrorText.of(result))")
        }
        self.kind = kind
        memory = SharedMemory(base: base)
        socket = MessageSocket(worker.socket, timeout: Self.messageTimeout)
        processNumber = worker.process
        self.worker = Guarded(worker)
    }

    /// Creates the host's side without a process; the messages of the imagined worker are written into the socket.
    ///
    /// - Returns: nil if the system has no workers.
    init?(saying packets: [[UInt8]]) {
        var worker = wi_worker()
        let other = wi_worker_imitate(SharedMemory.byteCount, &worker)
        guard other >= 0, let base = worker.memory else { return nil }
        for packet in packets where !packet.isEmpty {
            guard packet.withUnsafeBytes({ wi_message_send(other, $0.baseAddress, $0.count, 0) }) == 0 else { break }
        }
        wi_end_of_packets(other)
        self.kind = .pictures
        otherEnd = other
        memory = SharedMemory(base: base)
        socket = MessageSocket(worker.socket, timeout: Self.messageTimeout)
        processNumber = worker.process
        self.worker = Guarded(worker)
        lending.isBusy = false
        lending.isGreeted = true
    }

    deinit {
        if otherEnd >= 0 { wi_close(otherEnd) }
        _ = killAndReap()
        worker.withLock { wi_worker_close(&$0) }
    }

    func kill() { worker.withLock { wi_worker_kill(&$0) } }

    /// Waits without the lock: until the process is reaped its number belongs to no other.
    private func killAndReap() -> wi_worker_end {
        kill()
        var waiting = worker.withLock { $0 }
        let end = wi_worker_wait(&waiting)
        worker.withLock { wi_worker_reap(&$0) }
        return end
    }

    /// Ends it.
    ///
    /// - Returns: the error that describes how it ended.
    func end(while what: String) -> WebImageError {
        let end = killAndReap()
        let name = kind.worker
        guard end.is_known != 0 else {
            return WebImageError(.decoderCrashed, "the \(name)'s process ended while \(what)")
        }
        guard end.signal != 0 else {
            return WebImageError(.decoderCrashed, "the \(name)'s process left with status \(end.status) while \(what)")
        }
        switch wi_signal_name(end.signal).map({ String(cString: $0) }) ?? "" {
        case "SIGSYS":
            return WebImageError(
                .decoderCrashed, "the \(name) did what the sandbox forbids, and was ended, while \(what)")
        case "SIGXCPU": return WebImageError(.limitExceeded, "the \(name) used up its processor time while \(what)")
        case "SIGKILL":
            return WebImageError(.decoderCrashed, "the \(name)'s process went silent or was killed while \(what)")
        case let signal:
            return WebImageError(.decoderCrashed, "the \(name) was ended by \(signal) while \(what)")
        }
    }

    // MARK: messages

    typealias Checkpoint = @Sendable () throws(WebImageError) -> Void

    /// Queues a message for the next packet, which is sent when an answer is awaited.
    func put(
        _ request: WorkerRequest, _ session: UInt32, _ bytes: [UInt8] = [], _ checkpoint: Checkpoint?
    ) throws(Failure) {
        try sending(checkpoint) { (wait) throws(MessageSocket.Failure) in
            try socket.put(request.rawValue, session, bytes, wait)
        }
    }

    /// Sends a message at once, with a file that the worker reads itself.
    func send(
        _ request: WorkerRequest, _ session: UInt32, _ bytes: [UInt8], file: HeldFile, _ checkpoint: Checkpoint?
    ) throws(Failure) {
        try sending(checkpoint) { (wait) throws(MessageSocket.Failure) in
            try socket.send(request.rawValue, session, bytes, file: file.descriptor, wait)
        }
    }

    /// Sends the queued messages.
    func flush(_ checkpoint: Checkpoint?) throws(Failure) {
        try sending(checkpoint) { (wait) throws(MessageSocket.Failure) in try socket.flush(wait) }
    }

    /// - Parameter checkpoint: called while the worker accepts nothing; its error ends the wait.
    private func sending(
        _ checkpoint: Checkpoint?, _ body: (MessageSocket.Wait) throws(MessageSocket.Failure) -> Void
    ) throws(Failure) {
        var reason: WebImageError?
        do throws(MessageSocket.Failure) {
            try withoutActuallyEscaping({ () -> Bool in
                do throws(WebImageError) { try checkpoint?() } catch { reason = error }
                return reason != nil
            }) { (isGivenUp) throws(MessageSocket.Failure) in try body(.until(isGivenUp)) }
        } catch {
            throw reason.map { .callerGaveUp($0) } ?? .ended
        }
    }

    /// Tells the worker that a picture is no longer needed, without waiting.
    ///
    /// - Returns: false if the worker does not accept the message.
    func sendClose(of session: UInt32) -> Bool {
        do throws(MessageSocket.Failure) {
            try socket.put(WorkerRequest.close.rawValue, session, [], .not)
            try socket.flush(.not)
            return true
        } catch {
            return false
        }
    }

    /// Receives the next message about a picture.
    ///
    /// - Parameters:
    ///   - longest: the maximum length in bytes.
    ///   - isSoon: whether the message is expected at once.
    ///   - checkpoint: called while no message comes; its error ends the wait.
    func receive(
        _ session: UInt32, longest: Int, isSoon: Bool = false, _ checkpoint: Checkpoint?
    ) throws(Failure) -> (WorkerReply, MessageSocket.Message) {
        try flush(checkpoint)
        while true {
            var received: MessageSocket.Message?
            do throws(MessageSocket.Failure) {
                received = try socket.receive(longest: longest, isSoon: isSoon)
            } catch {
                throw error == .closed ? .ended : .invalidMessage
            }
            if let message = received {
                // A worker that sends messages without end is treated like one that is silent.
                heard += 1
                if heard % 64 == 0 {
                    do throws(WebImageError) { try checkpoint?() } catch { throw .callerGaveUp(error) }
                }
                guard message.session == session, let reply = WorkerReply(rawValue: message.kind) else {
                    throw .invalidMessage
                }
                return (reply, message)
            }
            do throws(WebImageError) { try checkpoint?() } catch { throw .callerGaveUp(error) }
        }
    }

    /// Decodes the value of a message.
    static func value<Value: WireValue>(
        _ message: MessageSocket.Message, _ type: Value.Type = Value.self
    ) throws(Failure) -> Value {
        do throws(MessageSocket.Failure) { return try message.value() } catch {
            throw .protocolViolation("its message cannot be read")
        }
    }

    /// Waits for its first message.
    func waitForHello(_ checkpoint: Checkpoint?) throws(Failure) -> WorkerHello {
        let limit = ContinuousClock.now + .seconds(20)
        let (reply, message) = try receive(0, longest: 1 << 10) { () throws(WebImageError) in
            try checkpoint?()
            guard ContinuousClock.now < limit else {
                throw WebImageError(.decoderUnavailable, "the process for decoding does not begin")
            }
        }
        let hello = try Self.value(message, WorkerHello.self)
        guard reply == .hello, hello.version == WorkerHello.currentVersion else {
            throw .protocolViolation("it is of another version")
        }
        return hello
    }
}
