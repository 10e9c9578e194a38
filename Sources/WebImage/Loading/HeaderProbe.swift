import WebImageCodecs
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Reads a log until all is known that a picture's header tells, and no further: of a GIF that is all of it, to count its
/// frames.
final class HeaderProbe: @unchecked Sendable {
    // Sendable: runs on one thread at a time, each run begun by the last one's end.
    private var log: ByteLog
    private let source: ImageSource
    private let request: ImageRequest
    private let executor: any WorkExecutor
    private let makeProbe: () -> ImageProbe
    private var probe: ImageProbe
    private var offset = 0
    private let result = CancellableAnswer<ImageDetails>()

    init(log: ByteLog, source: ImageSource, request: ImageRequest, loader: Loader) {
        self.log = log
        self.source = source
        self.request = request
        executor = loader.decodeExecutor
        let registry = request.coder.map { CoderRegistry([$0]) } ?? loader.coders
        makeProbe = { ImageProbe(DecodeOptions(limits: request.limits), registry: registry) }
        probe = makeProbe()
    }

    /// - Throws: `cancelled` as soon as the task is cancelled, though the log may go on for others.
    func details() async throws(WebImageError) -> ImageDetails {
        resumeWhenReadable()
        return try await result.value()
    }

    /// Ends the look with an error, unless it has ended.
    func end(_ error: WebImageError) { result.give(.failure(error.endingALoad(of: request.place))) }

    private func resumeWhenReadable() {
        log.whenReadable(after: offset) { self.executor.run(self.request.priority) { self.run() } }
    }

    private func run() {
        do throws(WebImageError) {
            while true {
                switch log.read(at: offset) {
                case .wait: return resumeWhenReadable()
                case .chunk(let chunk):
                    offset = chunk.range.upperBound
                    let header = try chunk.withUnsafeBytes { bytes throws(WebImageError) in try probe.push(bytes) }
                    if let header, !probe.mayLearnMore { return answer(header) }
                case .end where log.successor != nil: beginAnew()
                case .end(.failed(let error)) where offset == 0: throw error
                case .end(let end):
                    do throws(WebImageError) { return answer(try probe.finish()) } catch {
                        // A transfer that broke off is the better reason for a header that is not there.
                        if case .failed(let broken) = end { throw broken }
                        throw error
                    }
                }
            }
        } catch {
            end(error)
        }
    }

    /// The body was replaced.
    private func beginAnew() {
        log = log.latest
        offset = 0
        probe = makeProbe()
    }

    private func answer(_ header: ImageHeader) {
        let length = log.expectedLength ?? (log.end == nil ? nil : log.receivedCount)
        result.give(.success(ImageDetails(header: header, byteCount: length.map { ByteCount($0) }, source: source)))
    }
}

extension Loader {
    /// Who decodes a picture that begins with `prefix`: the request's own coder, or a registered one. What the bytes say
    /// counts more than the request's hint.
    func coder(
        for format: ImageFormat?, prefix: [UInt8], request: ImageRequest
    ) throws(WebImageError) -> any ImageCoder {
        if let coder = request.coder { return coder }
        // Array's own method rethrows without a type.
        let found = prefix.withUnsafeBytes { bytes -> Result<any ImageCoder, WebImageError> in
            do throws(WebImageError) {
                return .success(try coders.coder(for: format ?? request.formatHint, prefix: bytes))
            } catch { return .failure(error) }
        }
        return try found.get()
    }
}
