import Synchronization
import WebImage
import WebImageSystem

/// Remembers how the last thousand pictures were loaded, by their URLs.
///
/// As an interceptor it is between the callers of a manager and its loads, so that it also sees prefetched pictures. It
/// keeps no pixels. Any thread may use it.
final class PictureBook: ImageInterceptor {
    private struct Page {
        /// About the last load that succeeded.
        var facts: PictureFacts?
        /// The error of the last load, if it failed.
        var failure: WebImageError?
    }

    private struct State {
        var pages: [String: Page] = [:]
        /// The URLs of all pages, the oldest first.
        var order: [String] = []
    }

    private static let limit = 1000
    private let state = Guarded(State())

    /// How the picture of a URL was last loaded; nil if it was not, or too long ago.
    subscript(url: String) -> PictureFacts? { state.withLock { $0.pages[url]?.facts } }

    func intercept<Answer>(
        _ request: ImageRequest, _ load: InterceptedLoad<Answer>
    ) async throws(WebImageError) -> Answer {
        do throws(WebImageError) {
            let answer = try await load(request)
            if let response = answer as? ImageResponse {
                note(request.url) { $0 = Page(facts: PictureFacts(response)) }
            }
            return answer
        } catch {
            if error.code != .cancelled { note(request.url) { $0.failure = error } }
            throw error
        }
    }

    /// The error of the last load of a URL; nil if it did not fail.
    func failure(of url: String) -> WebImageError? { state.withLock { $0.pages[url]?.failure } }

    private func note(_ url: String, _ change: (inout Page) -> Void) {
        state.withLock { state in
            if state.pages[url] == nil { state.order.append(url) }
            change(&state.pages[url, default: Page()])
            if state.order.count > Self.limit { state.pages[state.order.removeFirst()] = nil }
        }
    }
}

/// Facts about a load that succeeded.
struct PictureFacts: Sendable {
    let source: ImageSource
    /// The size of the original in bytes; nil if no original was read.
    let byteCount: ByteCount?
    let format: ImageFormat?
    /// The size of the upright original.
    let originalSize: PixelSize?
    let timings: LoadTimings
    let trace: LoadTrace

    init(_ response: ImageResponse) {
        source = response.source
        byteCount = response.byteCount
        format = response.header?.format
        originalSize = response.header?.displaySize
        timings = response.timings
        trace = response.trace
    }
}
