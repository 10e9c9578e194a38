import Synchronization
import WebImageCodecs
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Reads a log until a picture's header is complete, and no further. For a GIF that is the whole file, since its frames
/// must be counted. If the transfer has ended or will end soon, the probe also reads metadata that follows the pixels.
final class HeaderProbe: @unchecked Sendable {
    // Sendable: runs on one thread at a time, each run begun by the last one's end.

    /// Whether to read the rest of the bytes when everything is known except EXIF that may follow the pixels.
    enum Rest: Sendable {
        /// The rest is read only if it is there or arrives soon.
        case unneeded
        /// The rest is read. If the transfer fails before its end, the answer is what was known before. The function is
        /// called as soon as only the rest is missing, perhaps several times.
        case wanted(@Sendable () -> Void)
        /// The rest is read, and without it the probe fails.
        case needed
    }

    private var log: ByteLog
    private let source: ImageSource
    private let place: String
    private let priority: LoadPriority
    private let executor: any WorkExecutor
    private let makeProbe: () -> ImageProbe
    private let rest: Rest
    /// Whether the log ends soon, so that it is read to its end for metadata that follows the pixels.
    private let endsSoon: Bool
    /// The answer if reading the rest fails or takes too long; nil: not enough is known yet.
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

    /// Ends the probe with an error, unless it has ended. If everything except the rest is known, that is the answer.
    func end(_ error: WebImageError) {
        if let details = known.withLock({ $0 }) { return result.give(.success(details)) }
        result.give(.failure(error.endingALoad(of: place)))
    }

    private func resumeWhenReadable() {
        log.whenReadable(after: offset) { self.executor.run(self.priority) { self.run() } }
    }

    private func run() {
        // Nobody waits any more: the task was cancelled, or the answer came too late.
        if result.isGiven { return }
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
                    // Metadata that follows the pixels is not worth a download, but it is read from bytes that are
                    // already there.
                    let mayLearn = probe.mayExtendHeader || ((endsSoon || log.end != nil) && probe.mayFindLateMetadata)
                    guard let header else { continue }
                    if !mayLearn { return answer(header) }
                    if isRestNeeded { continue }
                    if probe.mayFindLateMetadata || !probe.mayExtendHeader { known.withLock { $0 = details(header) } }
                    if case .wanted(let onlyMissing) = rest, !probe.mayExtendHeader { onlyMissing() }
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

    /// Starts again with another body, because the origin has replaced the first one.
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
