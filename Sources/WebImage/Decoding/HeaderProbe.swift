import Synchronization
import WebImageCodecs
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Reads a log until a picture's header is complete, and no further. For a GIF that is the whole file, since its frames
/// must be counted. Where the transfer has ended, or ends soon, metadata behind a picture is looked for, too.
final class HeaderProbe: @unchecked Sendable {
    // Sendable: runs on one thread at a time, each run begun by the last one's end.

    /// What becomes of bytes that still come when everything but EXIF behind the picture is known.
    enum Rest: Sendable {
        /// They are not read, unless they come soon.
        case unneeded
        /// They are read, but what is known is the answer if they break off. The function is called as soon as only they
        /// are missing, perhaps several times.
        case wanted(@Sendable () -> Void)
        /// They are read, and there is no answer without them.
        case needed
    }

    private var log: ByteLog
    private let source: ImageSource
    private let place: String
    private let priority: LoadPriority
    private let executor: any WorkExecutor
    private let makeProbe: () -> ImageProbe
    private let rest: Rest
    /// Whether the log ends soon, so that it is read to its end for what lies behind the picture.
    private let endsSoon: Bool
    /// What is known while the rest is read, which may fail or take too long.
    private let known = Guarded<ImageDetails?>(nil)
    private var probe: ImageProbe
    private var offset = 0
    private let result = CancellableAnswer<ImageDetails>()

    init(
        _ log: ByteLog, _ source: ImageSource, for request: ImageRequest, by service: DecodeService,
        rest: Rest = .unneeded
    ) {
        self.log = log
        self.source = source
        self.rest = rest
        // A file's bytes arrive in pieces, too, but need not be waited for.
        let isNear = source != .network && request.options.http.loader == nil
        endsSoon = if case .unneeded = rest { isNear } else { true }
        (place, priority) = (request.redactedURL, request.options.priority)
        executor = service.executor
        let recipe = request.recipe
        makeProbe = { service.makeProbe(recipe) }
        probe = makeProbe()
    }

    /// - Throws: `cancelled` as soon as the task is cancelled, even if the log continues for others.
    func details() async throws(WebImageError) -> ImageDetails {
        resumeWhenReadable()
        return try await result.value()
    }

    /// Ends the probe with an error, unless it has ended, or everything but what lies behind the picture is known.
    func end(_ error: WebImageError) {
        if let details = known.withLock({ $0 }) { return result.give(.success(details)) }
        result.give(.failure(error.endingALoad(of: place)))
    }

    private func resumeWhenReadable() {
        log.whenReadable(after: offset) { self.executor.run(self.priority) { self.run() } }
    }

    private func run() {
        do throws(WebImageError) {
            while true {
                switch log.read(at: offset) {
                case .wait: return resumeWhenReadable()
                case .chunk(let chunk) where offset == 0 && log.end == nil && needsWholeFile(chunk):
                    log.whenEnded { self.executor.run(self.priority) { self.run() } }
                    return
                case .chunk(let chunk):
                    if offset == 0, try takeFile(chunk) { continue }
                    offset = chunk.range.upperBound
                    let header = try chunk.withUnsafeBytes { bytes throws(WebImageError) in try probe.push(bytes) }
                    // What lies behind the picture is not worth a download, but a look at bytes that are there.
                    let mayLearn = probe.mayLearnMore || ((endsSoon || log.end != nil) && probe.mayLearnLate)
                    guard let header else { continue }
                    if !mayLearn { return answer(header) }
                    if isRestNeeded { continue }
                    if probe.mayLearnLate || !probe.mayLearnMore { known.withLock { $0 = details(header) } }
                    if case .wanted(let onlyMissing) = rest, !probe.mayLearnMore { onlyMissing() }
                case .end where log.successor != nil: beginAnew()
                case .end(.failed(let error)) where offset == 0: throw error
                case .end(.failed(let error)) where isRestNeeded: throw error
                case .end(let end):
                    do throws(WebImageError) { return answer(try probe.finish()) } catch {
                        // If the header is missing because the transfer was interrupted, the transfer's error is the
                        // better one.
                        if case .failed(let broken) = end { throw broken }
                        throw error
                    }
                }
            }
        } catch {
            end(error)
        }
    }

    private var isRestNeeded: Bool { if case .needed = rest { true } else { false } }

    private func needsWholeFile(_ first: ByteChunk) -> Bool { first.withUnsafeBytes(probe.needsWholeFile) }

    /// Lets a decoder that needs all of a local file read the file itself, if it can.
    private func takeFile(_ first: ByteChunk) throws(WebImageError) -> Bool {
        guard let file = log.localFile, needsWholeFile(first) else { return false }
        let isTaken = try first.withUnsafeBytes { bytes throws(WebImageError) in
            try probe.push(file, beginningWith: bytes)
        }
        if isTaken { offset = file.byteCount }
        return isTaken
    }

    /// The body was replaced.
    private func beginAnew() {
        log = log.latest
        offset = 0
        probe = makeProbe()
        known.withLock { $0 = nil }
    }

    private func answer(_ header: ImageHeader) { result.give(.success(details(header))) }

    private func details(_ header: ImageHeader) -> ImageDetails {
        let length = log.expectedLength ?? (log.end == nil ? nil : log.receivedCount)
        return ImageDetails(header: header, byteCount: length.map { ByteCount($0) }, source: source)
    }
}
