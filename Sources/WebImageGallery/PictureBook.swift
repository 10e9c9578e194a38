import Synchronization
import WebImage
import WebImageSystem

/// What is known of how pictures were loaded: of the last thousand, by their URLs.
///
/// It stands between the callers of a manager and its loads, and so also sees what was loaded ahead. What it keeps are no
/// pixels. Any thread may use it.
final class PictureBook: ImageInterceptor {
    private struct Page {
        /// Of the last load that brought the picture.
        var facts: PictureFacts?
        /// Of the last load, if it failed.
        var failure: WebImageError?
    }

    private struct State {
        var pages: [String: Page] = [:]
        /// The URLs of all pages, the oldest first.
        var order: [String] = []
    }

    private static let limit = 1000
    private let state = Guarded(State())

    /// How the picture of a URL was loaded last; nil when it was not, or too long ago.
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

    /// What the last load of a URL failed with; nil when it did not.
    func failure(of url: String) -> WebImageError? { state.withLock { $0.pages[url]?.failure } }

    private func note(_ url: String, _ change: (inout Page) -> Void) {
        state.withLock { state in
            if state.pages[url] == nil { state.order.append(url) }
            change(&state.pages[url, default: Page()])
            if state.order.count > Self.limit { state.pages[state.order.removeFirst()] = nil }
        }
    }
}

/// What there is to tell of a load that has brought a picture.
struct PictureFacts: Sendable {
    let source: ImageSource
    /// Of the original; nil where no original was read.
    let byteCount: ByteCount?
    let format: ImageFormat?
    /// Of the original, upright.
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
