public import WebImageCore
public import WebImageDownload
import WebImageSystem

/// A picture's bytes as they come: see ``ImageManager/bytes(for:)``.
///
///     for try await piece in try await manager.bytes(for: request) { try await client.write(piece.bytes) }
///
/// Each iteration begins with the first byte. A reader that is slow holds up nobody: what it has not read yet waits in
/// memory, and beyond a limit in a temporary file (``/WebImageDownload/DownloadConfiguration``).
public struct ImageBytes: AsyncSequence, Sendable {
    public typealias Failure = WebImageError

    /// Some of the bytes, in order and without gaps.
    public struct Piece: Hashable, Sendable {
        /// Where they lie in the whole.
        public let range: Range<Int>
        public let bytes: [UInt8]
    }

    private static let longestPiece = 256 << 10

    /// From where they come.
    public var source: ImageSource { reading.bytes.source }
    /// Status and fields of the origin's answer; nil for what came from a file.
    public var head: ResponseHead? { reading.bytes.head }
    /// How many there will be; nil when the origin does not say.
    public var length: ByteCount? { reading.bytes.log.progress.expected.map { ByteCount($0) } }

    private let reading: BytesReading
    private let executor: any WorkExecutor
    /// Which of the bytes are given.
    private var wanted = 0..<Int.max

    init(_ reading: BytesReading, executor: any WorkExecutor) {
        self.reading = reading
        self.executor = executor
    }

    /// Those bytes alone, each where it lies in the whole. What is beyond the end is not there, and no error. ``length`` stays
    /// that of the whole.
    public subscript(range: Range<Int>) -> ImageBytes {
        var part = self
        part.wanted = range.clamped(to: 0..<Int.max)
        return part
    }

    public func makeAsyncIterator() -> Iterator { Iterator(reading: reading, executor: executor, wanted: wanted) }

    public struct Iterator: AsyncIteratorProtocol {
        private let reading: BytesReading
        private let executor: any WorkExecutor
        private let wanted: Range<Int>
        private var log: ByteLog
        private var offset: Int
        private var hasEnded = false

        fileprivate init(reading: BytesReading, executor: any WorkExecutor, wanted: Range<Int>) {
            self.reading = reading
            self.executor = executor
            self.wanted = wanted
            offset = wanted.lowerBound
            log = reading.bytes.log.latest
        }

        /// - Throws: what the transfer failed with, also when the origin replaced the body while it was read; `cancelled`,
        ///   `deadlineExceeded`.
        public mutating func next() async throws(WebImageError) -> Piece? {
            while !hasEnded, offset < wanted.upperBound {
                switch try await step() {
                case .wait: continue
                case .chunk(let chunk):
                    let count = Swift.min(chunk.count, ImageBytes.longestPiece, wanted.upperBound - offset)
                    let bytes = chunk.withUnsafeBytes { Array($0.prefix(count)) }
                    defer { offset += count }
                    return Piece(range: offset..<offset + count, bytes: bytes)
                case .end(.complete):
                    hasEnded = true
                    // What is kept of it is on its way then.
                    _ = try await reading.whole()
                    reading.noteOutcome(nil)
                case .end(.failed(let error)):
                    if offset == wanted.lowerBound, let successor = log.successor {
                        log = successor
                        continue
                    }
                    hasEnded = true
                    reading.noteOutcome(error)
                    throw error
                }
            }
            return nil
        }

        /// Part of the bytes may be in a file.
        private func step() async throws(WebImageError) -> ByteLog.Step {
            let answer = CancellableAnswer<ByteLog.Step>()
            log.whenReadable(after: offset) { [log, offset, executor, priority = reading.request.options.priority] in
                executor.run(priority) { answer.give(.success(log.read(at: offset))) }
            }
            return try await reading.value(of: answer)
        }
    }
}
