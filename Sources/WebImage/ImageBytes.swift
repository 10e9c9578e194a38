public import WebImageCore
public import WebImageDownload
import WebImageSystem

/// The bytes of a picture as they arrive: see ``ImageManager/bytes(for:)``.
///
///     for try await piece in try await manager.bytes(for: request) { try await client.write(piece.bytes) }
///
/// Each iteration begins with the first byte. A slow reader does not slow the transfer or other readers: bytes that it
/// has not read yet wait in memory, and beyond a limit in a temporary file
/// (``/WebImageDownload/DownloadConfiguration``).
public struct ImageBytes: AsyncSequence, Sendable {
    public typealias Failure = WebImageError

    /// Some of the bytes, in order and without gaps.
    public struct Piece: Hashable, Sendable {
        /// The position of the bytes in the whole body.
        public let range: Range<Int>
        public let bytes: [UInt8]
    }

    private static let longestPiece = 256 << 10

    /// Where the bytes come from.
    public var source: ImageSource { reading.bytes.source }
    /// Status and headers of the origin's answer; nil if the bytes came from a file.
    public var head: ResponseHead? { reading.bytes.head }
    /// The length of the whole body; nil if the origin does not announce it.
    public var length: ByteCount? { reading.bytes.log.progress.expected.map { ByteCount($0) } }

    /// How many bytes of the whole body have arrived so far.
    public var receivedByteCount: ByteCount { ByteCount(reading.bytes.log.latest.receivedCount) }

    private let reading: BytesReading
    private let executor: any WorkExecutor
    /// The range of the body that the sequence delivers.
    private var wanted = 0..<Int.max

    init(_ reading: BytesReading, executor: any WorkExecutor) {
        self.reading = reading
        self.executor = executor
    }

    /// Only the bytes of a range. The positions of pieces and ``length`` still refer to the whole body. A range beyond
    /// the end has fewer bytes, which is not an error. A range of a range is the intersection of both.
    public subscript(range: Range<Int>) -> ImageBytes {
        var part = self
        part.wanted = range.clamped(to: wanted)
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

        /// - Throws: the error of the transfer, also when the origin replaced the body while it was read; `cancelled`,
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
                    // When this returns, the store of the original has been announced.
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

        /// Waits for more bytes, and reads them on a file thread, because some may be in a file.
        private func step() async throws(WebImageError) -> ByteLog.Step {
            let answer = CancellableAnswer<ByteLog.Step>()
            log.whenReadable(after: offset) { [log, offset, executor, priority = reading.request.options.priority] in
                executor.run(priority) { answer.give(.success(log.read(at: offset))) }
            }
            return try await reading.value(of: answer)
        }
    }
}
