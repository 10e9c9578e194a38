import HTTPTypes
import Testing
import WebImageCore

@testable import WebImageDownload

/// RFC 9111 section 4.4, for the URL of the request. A request modifier may turn the request for a picture into an
/// unsafe one.
@Suite struct InvalidationTests {
    private func plan(
        _ method: HTTPRequest.Method, _ status: Int, _ mode: CacheMode = .cacheFirst
    ) throws -> StorePlan {
        let request = CacheRequest(method: method)
        guard case .fetch(let exchange) = cacheRules.decide(mode, request, stored: nil, now: cacheStart),
            case .proceed(let plan) = exchange.answer(head(status, ["Cache-Control: max-age=9"]), arrival())
        else { throw WebImageError(.cacheMiss, "\(method) is not sent") }
        return plan
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .delete, .patch])
    func aSuccessfulUnsafeRequestRemovesTheEntry(_ method: HTTPRequest.Method) throws {
        for status in [200, 201, 204, 303] {
            #expect(try plan(method, status) == StorePlan(removesStored: true))
        }
        for status in [400, 403, 404, 409] { #expect(try plan(method, status) == StorePlan()) }
        // A request that stores nothing removes nothing.
        #expect(try plan(method, 200, .noStore) == StorePlan())
    }

    @Test(arguments: [HTTPRequest.Method.head, .options, .trace])
    func safeMethodsRemoveNoEntry(_ method: HTTPRequest.Method) throws {
        #expect(try plan(method, 200) == StorePlan())
    }
}
