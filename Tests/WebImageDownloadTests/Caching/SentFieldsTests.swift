import HTTPTypes
import Testing

@testable import WebImageDownload

/// The fields and cookies that were really sent, hop by hop, decide which requests may reuse an answer.
@Suite struct SentFieldsTests {
    private let fresh = ["Cache-Control: max-age=100"]
    private let shared = ["Cache-Control: public, max-age=100"]

    private func stored(
        _ lines: [String], _ hops: [SentHop], redirects: [ResponseHead] = [], request: CacheRequest = CacheRequest()
    ) -> StoredResponse? {
        var arrived = arrival(redirects: redirects)
        arrived.hops = hops
        return storedResponse(lines, request: request, arrival: arrived)
    }

    private func hop(_ lines: [String] = [], place: String = "", cookies: String? = nil) -> SentHop {
        SentHop(place: place, fields: httpFields(lines), cookies: cookies)
    }

    /// A request with a jar that has these cookies, by the URL of each hop; the empty URL is the first hop.
    private func asker(_ cookies: [String: String], _ lines: [String] = []) -> CacheRequest {
        CacheRequest(method: .get, fields: httpFields(lines), scope: AskerScope(), cookies: { cookies[$0] })
    }

    private func open(_ scope: AskerScope = AskerScope()) -> CacheRequest {
        CacheRequest(method: .get, fields: [:], scope: scope, knowsFields: false)
    }

    private func isFor(_ request: CacheRequest, _ stored: StoredResponse?) throws -> Bool {
        cacheRules.isFor(request, try #require(stored))
    }

    @Test func anEntryIsBoundToTheFieldsActuallySent() throws {
        let entry = stored(fresh, [hop(["Authorization: Bearer b"])])
        #expect(try isFor(CacheRequest(fields: [.authorization: "Bearer b"]), entry))
        #expect(try !isFor(CacheRequest(), entry) && !isFor(CacheRequest(fields: [.authorization: "Bearer a"]), entry))
        let varying = stored(fresh + ["Vary: Accept"], [hop(["Accept: image/webp"])])
        #expect(try isFor(CacheRequest(fields: [.accept: "image/webp"]), varying))
        #expect(try !isFor(CacheRequest(), varying))
    }

    @Test func anEntryIsBoundToTheCookiesOfEachHop() throws {
        let (first, second) = ("", "http://cdn.test/a")
        let entry = stored(
            fresh, [hop(cookies: "s=1"), hop(place: second, cookies: "t=1")], redirects: [head(301)],
            request: asker([:]))
        #expect(try isFor(asker([first: "s=1", second: "t=1"]), entry))
        #expect(try !isFor(asker([first: "s=1", second: "t=2"]), entry))
        #expect(try !isFor(asker([first: "s=2", second: "t=1"]), entry))
        #expect(try !isFor(asker([first: "s=1"]), entry) && !isFor(asker([:]), entry))
        // A request without a jar sends no cookies.
        #expect(try !isFor(CacheRequest(), entry))
        let strangers = stored(fresh, [hop()], request: asker([:]))
        #expect(try isFor(asker([:]), strangers) && !isFor(asker([first: "s=1"]), strangers))
    }

    @Test func boundCookiesSurviveTheEncodingOfAnEntry() throws {
        let entry = try #require(
            stored(fresh, [hop(cookies: "s=1"), hop(place: "http://cdn.test/a")], request: asker([:])))
        #expect(StoredResponse(encoded: entry.encoded()) == entry && entry.cookies.count == 2)
        #expect(!entry.storedFields.contains { $0.value.contains("s=1") && !$0.value.contains("<") })
    }

    @Test func publicEntriesAreSharedUnlessTheyVaryWithCredentials() throws {
        let entry = stored(shared, [hop(["Authorization: Bearer a"], cookies: "s=1")], request: asker([:]))
        #expect(try isFor(CacheRequest(), entry) && isFor(asker(["": "s=2"]), entry) && isFor(open(), entry))
        for name in ["Cookie", "Authorization"] {
            let varying = stored(
                shared + ["Vary: \(name)"], [hop(["Authorization: Bearer a"], cookies: "s=1")], request: asker([:]))
            #expect(try isFor(asker(["": "s=1"], ["Authorization: Bearer a"]), varying))
            #expect(try !isFor(CacheRequest(), varying) && !isFor(open(), varying))
            #expect(try !isFor(asker(["": "s=2"], ["Authorization: Bearer a"]), varying) || name == "Authorization")
        }
    }

    @Test func withAnUnaskedModifierOnlyPublicEntriesAreUsed() throws {
        #expect(try !isFor(open(), stored(fresh, [hop()])))
        #expect(try isFor(open(), stored(shared, [hop()])))
        #expect(try !isFor(open(), stored(shared + ["Vary: Accept"], [hop()])))
        // A modifier may declare for whom it asks.
        let declared = AskerScope(ofModifier: "anna")
        let request = CacheRequest(method: .get, fields: [:], scope: declared)
        let entry = stored(fresh, [hop(["Authorization: Signed 1"])], request: request)
        #expect(try isFor(open(declared), entry) && !isFor(open(AskerScope(ofModifier: "otto")), entry))
        #expect(try !isFor(open(declared), stored(fresh + ["Vary: Accept"], [hop()], request: request)))
    }

    /// A look-up could not tell what would be sent to a later hop.
    @Test func entriesBoundToFieldsOfALaterHopAreNotStored() {
        let place = "http://cdn.test/a"
        let later = [hop(), hop(["Authorization: Bearer a"], place: place)]
        #expect(stored(fresh, later, redirects: [head(301)]) == nil)
        #expect(stored(shared, later, redirects: [head(301)]) != nil)
        #expect(stored(shared + ["Vary: Authorization"], later, redirects: [head(301)]) == nil)
        let language = [hop(["Accept-Language: de"]), hop(["Accept-Language: fr"], place: place)]
        #expect(stored(fresh + ["Vary: Accept-Language"], language, redirects: [head(301)]) == nil)
        #expect(stored(fresh, language, redirects: [head(301)]) != nil)
        // Credentials that are dropped on the way to another origin were sent to the first hop.
        let dropped = [hop(["Authorization: Bearer a"]), hop(place: place)]
        #expect(stored(fresh, dropped, redirects: [head(301)]) != nil)
    }

    @Test func anEntryVariesByTheVaryOfItsRedirects() throws {
        let hops = [hop(["Accept-Language: de"]), hop(["Accept-Language: de"], place: "http://a.example/de")]
        let entry = stored(shared, hops, redirects: [head(301, ["Vary: Accept-Language"])])
        #expect(try isFor(CacheRequest(fields: [.acceptLanguage: "de"]), entry))
        #expect(try !isFor(CacheRequest(fields: [.acceptLanguage: "fr"]), entry) && !isFor(CacheRequest(), entry))
        #expect(stored(shared, hops, redirects: [head(301, ["Vary: *"])]) == nil)
    }

    @Test func anEntryIsBoundToTheURLThatAModifierChose() throws {
        var moved = hop()
        moved.target = "http://a.example/anna"
        let entry = stored(fresh, [moved])
        func asking(_ target: String?) -> CacheRequest {
            CacheRequest(method: .get, fields: [:], scope: AskerScope(), target: target)
        }
        #expect(try isFor(asking("http://a.example/anna"), entry))
        #expect(try !isFor(asking("http://a.example/otto"), entry) && !isFor(asking(nil), entry))
    }
}
