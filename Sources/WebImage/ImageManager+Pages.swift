public import WebImageCodecs
public import WebImageCore

extension ImageManager {
    /// A file of pages: a picture and what requests bring, in their order, each with its own size, depth and orientation.
    /// Requests that differ in ``ImageRequest/page`` alone keep all pages of a TIFF. One after the other is loaded and
    /// written.
    ///
    /// - Throws: `cannotEncode` for a format without pages, what the loads throw, `cancelled` when the task was cancelled.
    /// - Complexity: memory for one page, and for the file.
    public func encode(
        _ first: Image, andPages rest: [ImageRequest], as format: ImageFormat,
        _ options: EncodeOptions = EncodeOptions()
    ) async throws(WebImageError) -> [UInt8] {
        let pages = PagesInMaking(try coders.pageEncoder(for: format, options))
        try await onDecodeExecutor { () throws(WebImageError) in try pages.encoder.add(first) }
        for request in rest {
            let page = try await image(for: request).image
            try await onDecodeExecutor { () throws(WebImageError) in try pages.encoder.add(page) }
        }
        return try await onDecodeExecutor { () throws(WebImageError) in try pages.encoder.finish() }
    }

    /// Does what takes the processor's time off the caller's thread.
    func onDecodeExecutor<Value: Sendable>(
        _ work: @escaping @Sendable () throws(WebImageError) -> Value
    ) async throws(WebImageError) -> Value {
        let result = await withCheckedContinuation { continuation in
            loader.decodeExecutor.run(.normal) { continuation.resume(returning: Result(catching: work)) }
        }
        return try result.get()
    }
}

/// The encoder of one file.
private final class PagesInMaking: @unchecked Sendable {
    // Sendable: each step is awaited before the next one.
    let encoder: any PageEncoder

    init(_ encoder: any PageEncoder) { self.encoder = encoder }
}
