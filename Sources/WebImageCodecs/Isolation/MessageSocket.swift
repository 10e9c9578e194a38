import CShimSandbox
import WebImageCore
import WebImageSystem

/// One end of the socket between host and worker. A message has a kind, a session and a value. Several messages go in
/// one packet, so that the other end wakes up once for them; long ones are split.
final class MessageSocket {
    enum Failure: Error {
        /// The other end is closed.
        case closed
        /// The received bytes are not a valid message.
        case protocolViolation
    }

    struct Message {
        var kind: UInt8
        var session: UInt32
        var bytes: [UInt8]

        /// - Throws: `protocolViolation`.
        func value<Value: WireValue>(_ type: Value.Type = Value.self) throws(Failure) -> Value {
            do throws(WireReader.Fault) {
                return try bytes.withBytes { bytes throws(WireReader.Fault) in try Value(wireBytes: bytes) }
            } catch {
                throw .protocolViolation
            }
        }
    }

    /// Kind, whether more of the message follows, its length plus one (two bytes; 0: the rest of the packet), the
    /// session.
    private static let headCount = 8
    private static let longestPacket = 32 << 10
    /// The longest pause between two pieces of a message.
    private static let longestPause = Duration.seconds(2)

    /// How many microseconds to poll for an expected message, because waking up takes as long. Zero if there is only
    /// one processor, which the other end needs.
    static let pollingTime: Int32 = Processors.count > 1 ? 60 : 0

    private let file: Int32
    private let timeout: Duration
    private let takesFiles: Bool
    private let buffer: UnsafeMutableRawBufferPointer
    /// Received bytes that were not taken yet.
    private var came = 0..<0
    private var outgoing: [UInt8] = []
    /// Received descriptors that were not taken yet.
    private var files: [Int32] = []

    /// - Parameters:
    ///   - timeout: milliseconds after which a wait for a message ends without one.
    ///   - takesFiles: whether the other end may send open files. Otherwise they are closed.
    init(_ file: Int32, timeout: Int32, takesFiles: Bool = false) {
        self.file = file
        self.takesFiles = takesFiles
        self.timeout = .milliseconds(Int(timeout))
        buffer = .allocate(byteCount: Self.longestPacket, alignment: 16)
        wi_message_set_timeout(file, timeout)
    }

    deinit {
        buffer.deallocate()
        for file in files { wi_close(file) }
    }

    /// Queues a message for the next packet.
    func put(_ kind: UInt8, _ session: UInt32, _ bytes: [UInt8] = [], _ wait: Wait = .untilTaken) throws(Failure) {
        let room = Self.longestPacket - Self.headCount
        if outgoing.count + bytes.count > room { try flush(wait) }
        var sent = 0
        while bytes.count - sent > room {
            putHead(kind, session, room, hasMore: true)
            outgoing += bytes[sent..<sent + room]
            try flush(wait)
            sent += room
        }
        putHead(kind, session, bytes.count - sent, hasMore: false)
        outgoing += bytes[sent...]
    }

    /// Sends a message at once, with an open file.
    func send(
        _ kind: UInt8, _ session: UInt32, _ bytes: [UInt8], file: Int32, _ wait: Wait = .untilTaken
    ) throws(Failure) {
        try flush(wait)
        try put(kind, session, bytes, wait)
        try flush(wait, file: file)
    }

    /// The next received descriptor, which the caller must close.
    func takeFile() -> Int32? { files.isEmpty ? nil : files.removeFirst() }

    private func putHead(_ kind: UInt8, _ session: UInt32, _ count: Int, hasMore: Bool) {
        let head = (kind, UInt8(hasMore ? 1 : 0), UInt16(count + 1), session)
        withUnsafeBytes(of: head) { outgoing.append(contentsOf: $0) }
    }

    /// How long to wait while the other end accepts nothing.
    enum Wait {
        case untilTaken
        case not
        /// Until the function returns true; it is called repeatedly.
        case until(() -> Bool)
    }

    /// Sends the queued messages.
    ///
    /// - Parameter file: sent with them.
    /// - Throws: `closed`, also if the wait was given up.
    func flush(_ wait: Wait = .untilTaken, file descriptor: Int32? = nil) throws(Failure) {
        guard !outgoing.isEmpty else { return }
        let milliseconds: Int32 =
            switch wait {
            case .untilTaken: -1
            case .not: 0
            case .until: 50
            }
        while true {
            let result = outgoing.withUnsafeBytes { bytes in
                if let descriptor {
                    return wi_message_send_file(file, bytes.baseAddress, bytes.count, descriptor, milliseconds)
                }
                return wi_message_send(file, bytes.baseAddress, bytes.count, milliseconds)
            }
            if result == WI_MESSAGE_NONE, case .until(let isGivenUp) = wait, !isGivenUp() { continue }
            guard result == 0 else { throw .closed }
            outgoing.removeAll(keepingCapacity: true)
            return
        }
    }

    /// Receives the next message.
    ///
    /// - Parameters:
    ///   - longest: the maximum length in bytes.
    ///   - isSoon: whether the message is expected at once.
    /// - Returns: nil if none came within `timeout`.
    func receive(longest: Int, isSoon: Bool = false) throws(Failure) -> Message? {
        var message: Message?
        var pause = Duration.zero
        while true {
            if came.isEmpty {
                let count = receivePacket(pollingTime: isSoon ? Self.pollingTime : 0)
                if count == WI_MESSAGE_NONE {
                    guard message != nil else { return nil }
                    // After a first piece the next one is expected soon, unless the other end misbehaves.
                    pause += timeout
                    guard pause < Self.longestPause else { throw .protocolViolation }
                    continue
                }
                guard count > 0 else { throw .closed }
                came = 0..<count
            }
            let (piece, hasMore) = try takePiece()
            var whole = message ?? Message(kind: piece.kind, session: piece.session, bytes: [])
            // With a second reference, appending a piece would copy all earlier bytes.
            message = nil
            guard whole.kind == piece.kind, whole.session == piece.session,
                whole.bytes.count + piece.bytes.count <= longest
            else { throw .protocolViolation }
            whole.bytes.append(contentsOf: piece.bytes)
            guard hasMore else { return whole }
            // The sender fills its packets. Smaller pieces could come for ever without an end.
            guard piece.bytes.count == Self.longestPacket - Self.headCount else { throw .protocolViolation }
            message = whole
        }
    }

    private func receivePacket(pollingTime: Int32) -> Int {
        guard takesFiles else { return wi_message_receive(file, buffer.baseAddress, buffer.count, pollingTime, nil) }
        var beside: Int32 = -1
        let count = wi_message_receive(file, buffer.baseAddress, buffer.count, pollingTime, &beside)
        if beside >= 0 { files.append(beside) }
        return count
    }

    private func takePiece() throws(Failure) -> (
        (kind: UInt8, session: UInt32, bytes: UnsafeRawBufferPointer), hasMore: Bool
    ) {
        guard came.count >= Self.headCount else { throw .protocolViolation }
        let start = came.lowerBound
        let stored = Int(buffer.loadUnaligned(fromByteOffset: start + 2, as: UInt16.self))
        let body = start + Self.headCount
        let count = stored == 0 ? came.upperBound - body : stored - 1
        guard count <= came.upperBound - body else { throw .protocolViolation }
        came = body + count..<came.upperBound
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[body..<body + count])
        let session = buffer.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self)
        return ((buffer[start], session, bytes), buffer[start + 1] == 1)
    }
}
