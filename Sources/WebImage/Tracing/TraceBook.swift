import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

/// What a bytes job noted on its way, for the traces of all who waited for it.
final class TraceBook: Sendable {
    enum Mark {
        case looks(in: ImageSource)
        case looked(found: Bool)
        /// Somebody else has just got the original, and nobody knows yet whether it is a picture.
        case waitsForOther
        case asks(isConditional: Bool, isShared: Bool)
        /// Of what was asked with a condition; nil: the origin could not be asked.
        case answered(Int?)
        /// The bytes could not be decoded.
        case failedToDecode(DecodeSpan)
    }

    let started: Duration
    /// Why it does not share the bytes of another load of the same original; nil where there was none.
    let apart: StaticString?
    private let noted = Guarded(Notes())

    init(started: Duration, apart: StaticString? = nil) {
        self.started = started
        self.apart = apart
    }

    func note(_ mark: Mark, at time: Duration) { noted.withLock { $0.add((time, mark)) } }

    var marks: [(time: Duration, mark: Mark)] { noted.withLock { $0.all } }

    /// Most loads note two or three things: these need no memory of their own.
    private struct Notes {
        private var first: (time: Duration, mark: Mark)?
        private var second: (time: Duration, mark: Mark)?
        private var third: (time: Duration, mark: Mark)?
        private var more: [(time: Duration, mark: Mark)] = []

        mutating func add(_ note: (time: Duration, mark: Mark)) {
            if first == nil {
                first = note
            } else if second == nil {
                second = note
            } else if third == nil {
                third = note
            } else {
                more.append(note)
            }
        }

        var all: [(time: Duration, mark: Mark)] { [first, second, third].compactMap(\.self) + more }
    }
}

/// When something was decoded.
struct DecodeSpan: Sendable {
    /// When a thread was asked for, the first time.
    var asked: Duration?
    var began: Duration?
    var ended: Duration = .zero
    /// How long it had a thread.
    var spent: Duration = .zero
}

/// Steps of a chain that were taken at once.
struct StepSpan: Sendable {
    let steps: Range<Int>
    let began: Duration
    let ended: Duration
}

/// Why a picture, or its original, is not kept.
struct NotKept: Sendable {
    var original: StaticString?
    var picture: StaticString?

    var sentences: [String] { [original, picture].compactMap { $0.map { "\($0)" } } }
}

/// What is known of a picture once it is made. Shared by the responses of all who waited for it.
final class LoadRecord: Sendable {
    let request: ImageRequest
    let book: TraceBook
    /// When the first one asked for these pixels.
    let started: Duration
    let byteCount: Int?
    let metrics: TransferMetrics?
    let decode: DecodeSpan?
    let steps: [StepSpan]
    let notKept: NotKept
    /// The picture that it was made of; nil: it was made of bytes, or of one in memory.
    let basis: LoadRecord?
    let isMadeOfPicture: Bool

    init(
        _ job: PixelJob, byteCount: Int? = nil, metrics: TransferMetrics? = nil, decode: DecodeSpan? = nil,
        steps: [StepSpan] = [], notKept: NotKept = NotKept(), basis: LoadRecord? = nil, isMadeOfPicture: Bool = false
    ) {
        (request, book, started) = (job.request, job.bytes.trace, job.started)
        (self.byteCount, self.metrics, self.decode, self.steps) = (byteCount, metrics, decode, steps)
        (self.notKept, self.basis, self.isMadeOfPicture) = (notKept, basis, isMadeOfPicture)
    }

    /// Of a load that failed.
    init(failed job: BytesJob, download: Download?, byteCount: Int?) {
        (request, book, started) = (job.request, job.trace, job.started)
        (self.byteCount, metrics) = (byteCount, download?.metrics)
        (decode, steps, notKept, basis, isMadeOfPicture) = (nil, [], NotKept(), nil, false)
    }
}

/// What one caller's error knows of its way.
final class FailureRecord: Sendable {
    let record: ResponseRecord

    init(_ record: ResponseRecord) { self.record = record }
}

/// What one response knows of its way.
struct ResponseRecord: Sendable {
    var record: LoadRecord
    /// When the caller asked the manager, and when the load began behind the interceptors.
    var asked: Duration
    var began: Duration
    var ended: Duration
    /// How many callers got this picture at once.
    var callers: Int
}

extension ImageResponse {
    /// The same with what is known of its way.
    consuming func with(_ record: LoadRecord) -> ImageResponse {
        var response = self
        response.tracing = ResponseRecord(
            record: record, asked: record.started, began: record.started, ended: record.started, callers: 1)
        return response
    }
}
