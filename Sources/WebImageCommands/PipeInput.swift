import Synchronization
import WebImage
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Standard input, a pipe or a device. A thread of its own reads it, because reads may wait for a long time.
final class PipeInput: Sendable {
    private struct State {
        /// Nil until it is opened.
        var file: Int32?
        var count = 0
        /// The time until which the rest is read; nil until the rest begins.
        var restEnd: ContinuousClock.Instant?
    }

    private enum Step: Sendable {
        case bytes([UInt8])
        case end
        /// No more bytes of the rest will be waited for.
        case pause
    }

    /// How long to wait for the next bytes of the rest, in milliseconds.
    private static let grace: Int32 = 100
    /// How long to read the rest, even if the sender never stops.
    private static let restTime = Duration.seconds(2)

    private let input: String
    private let limit: Int
    /// The longest wait for bytes, in seconds; 0 means no limit.
    private let timeout: Double
    private let thread = ThreadPool(name: "wi-input", width: 1)
    private let state = Guarded(State())

    /// - Parameters:
    ///   - input: a path, or `-`.
    ///   - limit: the most bytes that are read.
    ///   - timeout: the longest wait for bytes, in seconds; 0 means no limit.
    init(_ input: String, limit: Int, timeout: Double) {
        (self.input, self.limit, self.timeout) = (input, limit, timeout)
    }

    deinit {
        if let file = state.withLock({ $0.file }), file > 0 { close(file) }
    }

    private var name: String { input == "-" ? "standard input" : "the input" }

    /// Returns the next bytes; nil at the end, or if no more of the rest is waited for. Calls must not overlap.
    func next() async throws(WebImageError) -> [UInt8]? {
        switch try await step() {
        case .bytes(let bytes): bytes
        case .end, .pause: nil
        }
    }

    /// Returns all bytes.
    func all() async throws(WebImageError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try await next() { bytes += piece }
        return bytes
    }

    /// Begins the rest: the bytes from now on are not worth a long wait. Reading ends when the sender pauses, or sends
    /// for too long.
    func beginRest() {
        state.withLock { state in
            if state.restEnd == nil { state.restEnd = .now + Self.restTime }
        }
    }

    /// Reads the rest without keeping it.
    ///
    /// - Returns: the length of the whole input; nil if its end was not reached.
    func countToEnd() async -> Int? {
        beginRest()
        while let step = try? await step() {
            switch step {
            case .bytes: continue
            case .end: return state.withLock { $0.count }
            case .pause: return nil
            }
        }
        return nil
    }

    private func step() async throws(WebImageError) -> Step {
        let answer: Result<Step, WebImageError> = await withCheckedContinuation { continuation in
            thread.run(.normal) {
                do throws(WebImageError) {
                    continuation.resume(returning: .success(try self.read()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try answer.get()
    }

    private func read() throws(WebImageError) -> Step {
        let file = try opened()
        guard try waitForBytes(file) else { return .pause }
        // One byte more than the limit shows that there is more.
        let room = min(256 << 10, limit + 1 - state.withLock { $0.count })
        guard room > 0 else { throw tooLong }
        var (count, reason) = (0, Int32(0))
        let bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, used in
            repeat { count = systemRead(file, buffer.baseAddress, room) } while count < 0 && errno == EINTR
            reason = errno
            used = max(count, 0)
        }
        if count == 0 { return .end }
        if count < 0 { if reason == EAGAIN { return .bytes([]) } else { throw failed(reason) } }
        let sum = state.withLock { state in
            state.count += count
            return state.count
        }
        guard sum <= limit else { throw tooLong }
        return .bytes(bytes)
    }

    private var tooLong: WebImageError {
        WebImageError(
            .bodyTooLarge, "\(name) is longer than \(ByteCount(limit)); raise --max-bytes to allow it", location: input)
    }

    /// - Returns: false if no more of the rest is waited for.
    private func waitForBytes(_ file: Int32) throws(WebImageError) -> Bool {
        let begin = ContinuousClock.now
        while true {
            var waiting = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            // The wait is short, so that the beginning of the rest is noticed.
            let isReadable = poll(&waiting, 1, Self.grace) != 0
            if let end = state.withLock({ $0.restEnd }) { return isReadable && ContinuousClock.now < end }
            if isReadable { return true }
            if timeout > 0, ContinuousClock.now - begin >= .seconds(timeout) {
                throw WebImageError(
                    .deadlineExceeded, "nothing came from \(name) for \(timeout) seconds; --timeout allows more",
                    location: input)
            }
        }
    }

    private func opened() throws(WebImageError) -> Int32 {
        if let file = state.withLock({ $0.file }) { return file }
        // Opening does not wait for a writer; the wait for bytes has its own limit.
        let file = input == "-" ? 0 : open(input, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw failed(errno) }
        state.withLock { $0.file = file }
        return file
    }

    private func failed(_ reason: Int32) -> WebImageError {
        WebImageError(.cannotRead, "\(name) cannot be read: \(SystemErrorText.of(reason))", location: input)
    }
}

/// Passes a pipe's bytes to the pipeline as they arrive, so that no more are read than needed.
struct PipeLoader: ImageLoader {
    let name = "pipe"
    let pipe: PipeInput

    func canLoad(_ url: String) -> Bool { true }

    func load(_ url: String, to receiver: ImageReceiver) async throws {
        while let bytes = try await pipe.next() { try await receiver.receive(bytes) }
    }
}

/// Calls `read(2)`, whose name is shadowed by a method of the type above.
private func systemRead(_ file: Int32, _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int) -> Int {
    read(file, bytes, count)
}
