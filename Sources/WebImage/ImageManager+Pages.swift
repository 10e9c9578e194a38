public import WebImageCodecs
public import WebImageCore
import WebImageSystem

extension ImageManager {
    /// Encodes a file with several pages: a picture, followed by the pictures of `requests` in their order. Each page
    /// has its own size, depth and orientation. To copy all pages of a TIFF, use requests that differ in
    /// ``ImageRequest/Decoding/page`` alone. The pictures are loaded and written one after the other.
    ///
    /// - Throws: `cannotEncode` for a format without pages, what the loads throw, `cancelled` when the task was cancelled.
    /// - Complexity: memory for one page, and for the file.
    public func encode(
        _ first: Image, andPages rest: [ImageRequest], as format: ImageFormat,
        _ options: EncodeOptions = EncodeOptions()
    ) async throws(WebImageError) -> [UInt8] {
        try await encode(first, andPages: AnySequence(rest), as: format, options)
    }

    /// The same with a sequence that makes each request only when it is needed.
    ///
    /// - Parameters:
    ///   - leavesOutDamaged: whether a page of which nothing can be read is left out, if its request allows partial
    ///     pictures; else that is an error.
    ///   - onPartial: called with the reason for each page that is incomplete or left out.
    package func encode(
        _ first: Image, andPages rest: AnySequence<ImageRequest>, as format: ImageFormat, _ options: EncodeOptions,
        leavesOutDamaged: Bool = false, onPartial: (WebImageError) -> Void = { _ in }
    ) async throws(WebImageError) -> [UInt8] {
        let pages = PagesInMaking(try coders.pageEncoder(for: format, options))
        try await onDecodeExecutor { () throws(WebImageError) in try pages.encoder.add(first) }
        for request in rest {
            let response: ImageResponse
            do throws(WebImageError) { response = try await image(for: request) } catch {
                guard leavesOutDamaged, request.options.decoding.allowsPartial, error.tellsOfDamage else { throw error }
                onPartial(error)
                continue
            }
            if let error = response.partialError { onPartial(error) }
            let page = response.image
            try await onDecodeExecutor { () throws(WebImageError) in try pages.encoder.add(page) }
        }
        return try await onDecodeExecutor { () throws(WebImageError) in try pages.encoder.finish() }
    }

    /// Decodes the other pages of a TIFF, to see whether they are whole. Other formats have none.
    ///
    /// - Parameters:
    ///   - header: the header of the page that was loaded.
    ///   - settings: the request by which that page was loaded.
    /// - Throws: the error of the first page that is damaged or missing.
    package func checkPages(
        of file: [UInt8], _ header: ImageHeader, _ settings: ImageRequest
    ) async throws(WebImageError) {
        if let error = header.missingPages(in: file, limit: settings.decoding.limits.frames) { throw error }
        let count = min(header.pageCount, settings.decoding.limits.frames)
        var settings = settings
        settings.includesData = false
        let known = min(settings.decoding.page, count)
        for pages in [0..<known, min(known + 1, count)..<count] where !pages.isEmpty {
            for page in settings.reading(file, pages: pages) {
                if let error = try await image(for: page).partialError { throw error }
            }
        }
    }

    /// Runs work that needs the processor on the decoding threads, before decodes of the same priority begin.
    ///
    /// - Throws: `cancelled` as soon as the task is cancelled; work that has not begun is then never done.
    func onDecodeExecutor<Value: Sendable>(
        _ priority: LoadPriority = .normal, _ answer: CancellableAnswer<Value> = CancellableAnswer(),
        _ work: @escaping @Sendable () throws(WebImageError) -> Value
    ) async throws(WebImageError) -> Value {
        loader.decoding.executor.complete(priority) { answer.give(from: work) }
        return try await answer.value()
    }
}

extension ImageHeader {
    private var isPaged: Bool { [.tiff, .bigTIFF].contains(format) }
    /// Whether the file may have further frames, which are not pages.
    var mayBeAnimated: Bool { frameCount != 1 && !isPaged }
    /// The number of pages of a TIFF; 1 for other formats.
    package var pageCount: Int { isPaged ? frameCount ?? 1 : 1 }

    /// Why the last pages of a TIFF cannot be found; nil if nothing says that there are more.
    ///
    /// - Parameter limit: the maximum number of pages that are looked for.
    package func missingPages(in file: [UInt8], limit: Int) -> WebImageError? {
        guard isPaged, TIFFExcerpts.endsEarly(file, limit: limit) else { return nil }
        return WebImageError(.truncatedData, "the file ends before its next page", format: .tiff)
    }
}

extension ImageRequest {
    /// Requests for pages of a TIFF whose bytes are in memory. Each is made when it is needed, and contains only the
    /// bytes of its page if they can be separated. Otherwise the time for all pages would grow with the square of their
    /// number, because a decoder in another process receives all bytes of a request and searches them for the page.
    package func reading(_ file: [UInt8], pages: Range<Int>) -> AnySequence<ImageRequest> {
        let limits = self.decoding.limits
        let excerpts = TIFFExcerpts(file, limit: limits.frames, metadataLimit: limits.metadata.bytes)
        let requests = pages.lazy.map { page in
            let excerpt = excerpts.file(ofPage: page)
            var request = reading(excerpt ?? file)
            request.decoding.page = excerpt == nil ? page : 0
            request.caching.policy = .noStore
            return request
        }
        return AnySequence(requests)
    }
}

/// The encoder of one file.
private final class PagesInMaking: @unchecked Sendable {
    // Sendable: each step is awaited before the next one.
    let encoder: any PageEncoder

    init(_ encoder: any PageEncoder) { self.encoder = encoder }
}
