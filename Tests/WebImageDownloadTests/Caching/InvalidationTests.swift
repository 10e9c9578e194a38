import HTTPTypes
import Testing

@testable import WebImageDownload

/// RFC 9111 section 4.4.
@Suite struct InvalidationTests {
    private func invalidated(
        _ method: HTTPRequest.Method, _ status: Int = 200, _ lines: [String] = []
    ) -> [String] {
        cacheRules.invalidated(
            by: CacheRequest(method: method), url: "https://a.example/p/x?y#z", head(status, lines))
    }

    @Test func aChangeThatWentWellInvalidates() {
        for method in [HTTPRequest.Method.post, .put, .delete, .patch] {
            #expect(invalidated(method) == ["https://a.example/p/x?y"])
            #expect(invalidated(method, 303) == ["https://a.example/p/x?y"])
            #expect(invalidated(method, 404).isEmpty && invalidated(method, 500).isEmpty)
        }
    }

    @Test func lookingChangesNothing() {
        for method in [HTTPRequest.Method.get, .head, .options, .trace] {
            #expect(invalidated(method, 200, ["Location: /q"]).isEmpty)
        }
    }

    @Test func whatTheAnswerNamesGoesTooWithinTheOrigin() {
        let lines = ["Location: ../q", "Content-Location: https://A.example:443/r"]
        #expect(
            invalidated(.post, 201, lines) == [
                "https://a.example/p/x?y", "https://a.example/q", "https://a.example/r",
            ])
        for elsewhere in ["https://b.example/q", "http://a.example/q", "https://a.example:8443/q", "ftp://a.example/"] {
            #expect(invalidated(.put, 200, ["Location: \(elsewhere)"]).count == 1, "\(elsewhere)")
        }
        #expect(invalidated(.put, 200, ["Location: x?y", "Content-Location: x?y"]).count == 1)
    }

    @Test func theAnswerToAChangeIsNotStored() {
        guard
            case .fetch(let exchange) = cacheRules.decide(
                .cacheFirst, CacheRequest(method: .post), stored: nil, now: cacheStart),
            case .proceed(let plan) = exchange.answer(head(200, ["Cache-Control: max-age=9"]), arrival())
        else {
            Issue.record("a POST is not sent")
            return
        }
        #expect(plan == StorePlan())
    }
}
