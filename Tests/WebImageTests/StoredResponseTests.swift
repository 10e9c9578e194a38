import HTTPTypes
import Testing
import WebImageCache
import WebImageCore
import WebImageDownload

@testable import WebImage

/// The stored response of the HTTP rules survives the way through an entry's metadata.
@Suite struct StoredResponseTests {
    private let rules = HTTPCacheRules.standard

    private func stored(_ request: CacheRequest) throws -> StoredResponse {
        let head = ResponseHead(
            status: 200, headers: [.eTag: "\"a\"", .cacheControl: "max-age=100", .vary: "Accept, X-A", .age: "3"])
        let arrival = CacheExchange.Arrival(
            requestTime: 1_800_000_000, responseTime: 1_800_000_002, place: "https://a.example/x",
            redirects: [ResponseHead(status: 302, headers: [.cacheControl: "max-age=7"])])
        guard case .fetch(let exchange) = rules.decide(.cacheFirst, request, stored: nil, now: 0),
            case .proceed(let plan) = exchange.answer(head, arrival), let response = plan.storing
        else { throw WebImageError(.cacheMiss, "nothing is to be stored") }
        return response
    }

    @Test func metadataKeepsTheWholeStoredResponse() throws {
        let request = CacheRequest(fields: [.accept: "image/png"], credentialScope: "anna")
        let response = try stored(request)
        var metadata = DiskMetadata()
        metadata.url = "https://a.example/x"
        metadata.format = .png
        metadata.set(response)
        #expect(metadata.storedResponse == response)
        #expect(metadata.url == "https://a.example/x" && metadata.format == .png)
        #expect(response.redirectLifetime == 5 && response.vary.count == 2)
        guard case .serve = rules.decide(.httpRules, request, stored: metadata.storedResponse, now: 1_800_000_002)
        else {
            throw WebImageError(.cacheMiss, "the entry is not good for its own request")
        }
        let other = CacheRequest(fields: [.accept: "image/png"], credentialScope: "otto")
        guard case .fetch = rules.decide(.cacheFirst, other, stored: metadata.storedResponse, now: 1_800_000_002) else {
            throw WebImageError(.cacheMiss, "the entry is good for somebody else")
        }
    }

    @Test func aStoredResponseRevealsNeitherScopeNorHeaderValues() throws {
        let response = try stored(CacheRequest(fields: [.accept: "secret"], credentialScope: "anna"))
        let kept = response.storedFields.map(\.value) + response.vary.map(\.value)
        #expect(!kept.contains { $0.contains("anna") || $0.contains("secret") })
    }

    @Test func anEntryWithoutMetadataIsServedButNotFresh() {
        let entry = DiskMetadata().storedResponse
        guard case .serve = rules.decide(.cacheFirst, CacheRequest(), stored: entry, now: 1_800_000_000),
            case .fetch = rules.decide(.httpRules, CacheRequest(), stored: entry, now: 1_800_000_000)
        else {
            Issue.record("another decision")
            return
        }
    }
}
