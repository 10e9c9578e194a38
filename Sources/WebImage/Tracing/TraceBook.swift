import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

/// The notes of a bytes job, for the traces of all callers that waited for it.
final class TraceBook: Sendable {
    enum Mark {
        case looks(in: ImageSource)
        case looked(found: Bool)
        /// Another load has just received the original, and it is not known yet whether it is a picture.
        case waitsForOther
        case asks(isConditional: Bool, isShared: Bool)
        /// The status of the answer to a conditional request; nil: the origin could not be asked.
        case answered(Int?)
        /// The bytes could not be decoded.
        case failedToDecode(DecodeSpan)
    }

    let started: Duration
    /// Why the job does not share the bytes of another load of the same original; nil: there was no such load.
    let apart: StaticString?
    private let noted = Guarded(Notes())

    init(started: Duration, apart: StaticString? = nil) {
        self.started = started
        self.apart = apart
    }

    func note(_ mark: Mark, at time: Duration) { noted.withLock { $0.add((time, mark)) } }

    var marks: [(time: Duration, mark: Mark)] { noted.withLock { $0.all } }

    /// Stores the first three notes inline. Most loads have no more, so they allocate no array.
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

/// The times of one decode.
struct DecodeSpan: Sendable {
    /// When the decode first asked for a thread.
    var asked: Duration?
    var began: Duration?
    var ended: Duration = .zero
    /// How long the decode ran on threads.
    var spent: Duration = .zero
}

/// Steps of a chain of transformers that were applied together, and when.
struct StepSpan: Sendable {
    let steps: Range<Int>
    let began: Duration
    let ended: Duration
}

/// Why a picture is not stored in memory, or its original not on disk.
struct NotKept: Sendable {
    var original: StaticString?
    var picture: StaticString?

    var sentences: [String] { [original, picture].compactMap { $0.map { "\($0)" } } }
}

/// The facts of a load for its traces, complete when the picture is made or the load has failed. All callers that
/// waited for the picture share it.
final class LoadRecord: Sendable {
    let request: ImageRequest
    let book: TraceBook
    /// When the first caller asked for these pixels.
    let started: Duration
    let byteCount: Int?
    let metrics: TransferMetrics?
    let decode: DecodeSpan?
    let steps: [StepSpan]
    let notKept: NotKept
    /// The load of the picture from which this one was made; nil: it was made from bytes, or from a picture in memory.
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

    /// Makes the record of a load that failed.
    init(failed job: BytesJob, download: Download?, byteCount: Int?) {
        (request, book, started) = (job.request, job.trace, job.started)
        (self.byteCount, metrics) = (byteCount, download?.metrics)
        (decode, steps, notKept, basis, isMadeOfPicture) = (nil, [], NotKept(), nil, false)
    }
}

/// The trace of one caller's error, as an object that the error holds.
final class FailureRecord: Sendable {
    let record: ResponseRecord

    init(_ record: ResponseRecord) { self.record = record }
}

/// The trace of one response: the record of the load, and the caller's own times.
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
    /// A copy with the record for its trace.
    consuming func with(_ record: LoadRecord) -> ImageResponse {
        var response = self
        response.tracing = ResponseRecord(
            record: record, asked: record.started, began: record.started, ended: record.started, callers: 1)
        return response
    }
}
