import HTTPTypes
import Testing
import WebImageCore

@testable import WebImageDownload

/// A row of the table of answers: a stored entry, a request that goes to the origin, its answer, and what is done with
/// it. `LookupCase` has the table of lookups.
struct AnswerCase: Sendable, CustomTestStringConvertible {
    enum Outcome: String, Sendable {
        /// The answer's body is delivered. It is stored; or not stored; or not stored, and the old entry is removed.
        case store, pass, passAndRemove
        /// The entry's body is delivered. Its metadata is updated; or the entry is removed.
        case update, useAndRemove
        case useStale, askAgain, fail
    }

    enum Event: Sendable {
        case head(Int, [String])
        case failure(WebImageError.Code)
    }

    let name: String
    let mode: CacheMode
    /// The header fields of the stored entry; nil if there is no entry.
    let stored: [String]?
    let event: Event
    let expected: Outcome
    var after: Int64 = 1000
    var fields: [String] = []
    var place = "https://a.example/x"

    init(
        _ name: String, _ mode: CacheMode, _ stored: [String]?, _ event: Event, _ expected: Outcome,
        after: Int64 = 1000, fields: [String] = [], place: String = "https://a.example/x"
    ) {
        self.name = name
        self.mode = mode
        self.stored = stored
        self.event = event
        self.expected = expected
        self.after = after
        self.fields = fields
        self.place = place
    }

    var testDescription: String { name }

    func answer() throws -> CacheAnswer {
        var entry: StoredResponse?
        if let stored {
            let kept: StoredResponse = try #require(storedResponse(stored, mode: .cacheFirst))
            entry = kept
        }
        let request = CacheRequest(fields: httpFields(fields))
        let exchange: CacheExchange
        switch cacheRules.decide(mode, request, stored: entry, now: cacheStart + after) {
        case .fetch(let one), .revalidate(let one), .serveAndRevalidate(_, let one): exchange = one
        case .serve, .fail: throw WebImageError(.cacheMiss, "the case has no exchange")
        }
        switch event {
        case .head(let status, let lines):
            return exchange.answer(head(status, lines), arrival(at: after, place: place))
        case .failure(let code): return exchange.failed(WebImageError(code, ""), now: cacheStart + after)
        }
    }
}

extension AnswerCase.Outcome {
    init(_ answer: CacheAnswer) {
        switch answer {
        case .proceed(let plan): self = plan.removesStored ? .passAndRemove : plan.storing != nil ? .store : .pass
        case .useStored(_, let plan): self = plan.removesStored ? .useAndRemove : .update
        case .useStale: self = .useStale
        case .askAgain: self = .askAgain
        case .fail: self = .fail
        }
    }
}

private let tag = ["ETag: \"a\"", "Cache-Control: max-age=100"]
private let weak = ["ETag: W/\"a\"", "Cache-Control: max-age=100"]
private let dated = ["Last-Modified: \(date(-5000))", "Cache-Control: max-age=100"]
private let graced = ["ETag: \"a\"", "Cache-Control: max-age=100, stale-if-error=1000"]

extension AnswerCase {
    static let all: [AnswerCase] = [
        .init("200 is stored", .httpRules, nil, .head(200, tag), .store),
        .init("200 replaces", .httpRules, tag, .head(200, ["ETag: \"b\""]), .store),
        .init("200 without a word is stored", .cacheFirst, nil, .head(200, []), .store),
        .init("200 in a reload is stored", .reload, tag, .head(200, tag), .store),
        .init("200 in a reload from the origin is stored", .reloadFromOrigin, tag, .head(200, tag), .store),
        .init("200 in a refresh is stored", .refresh, tag, .head(200, ["ETag: \"b\""]), .store),
        .init("200 after a revalidation is stored", .revalidate, tag, .head(200, ["ETag: \"b\""]), .store),
        .init(
            "200 with no-store leaves nothing", .httpRules, tag, .head(200, ["Cache-Control: no-store"]), .passAndRemove
        ),
        .init("200 with no-store in a reload", .reload, nil, .head(200, ["Cache-Control: no-store"]), .passAndRemove),
        .init("200 with Vary: * leaves nothing", .cacheFirst, nil, .head(200, tag + ["Vary: *"]), .passAndRemove),
        .init("200 where nothing is stored", .noStore, nil, .head(200, tag), .pass),
        .init(
            "200 with no-store where nothing is stored", .noStore, nil, .head(200, ["Cache-Control: no-store"]), .pass),
        .init("404 takes the entry along", .httpRules, tag, .head(404, ["Cache-Control: no-store"]), .passAndRemove),
        .init("410 takes the entry along", .reload, nil, .head(410, ["Cache-Control: no-store"]), .passAndRemove),
        .init("404 that may be kept", .httpRules, tag, .head(404, ["Cache-Control: max-age=9"]), .store),
        .init("404 where nothing is stored", .noStore, nil, .head(404, []), .pass),
        .init("403 leaves the entry", .revalidate, tag, .head(403, []), .pass),
        .init("429 leaves the entry", .revalidate, tag, .head(429, ["Retry-After: 5"]), .pass),
        .init("401 leaves the entry", .httpRules, tag, .head(401, []), .pass),

        .init("304 for the entity tag", .httpRules, tag, .head(304, ["ETag: \"a\""]), .update),
        .init("304 without a validator", .httpRules, tag, .head(304, []), .update),
        .init("304 that is weak now", .httpRules, tag, .head(304, ["ETag: W/\"a\""]), .update),
        .init("304 for a weak tag", .httpRules, weak, .head(304, ["ETag: W/\"a\""]), .update),
        .init("304 for another tag", .httpRules, tag, .head(304, ["ETag: \"b\""]), .askAgain),
        .init("304 for another tag in a refresh", .refresh, tag, .head(304, ["ETag: \"b\""]), .askAgain),
        .init("304 with a strong tag for a date", .httpRules, dated, .head(304, ["ETag: \"b\""]), .askAgain),
        .init("304 with a weak tag for a date", .httpRules, dated, .head(304, ["ETag: W/\"b\""]), .update),
        .init(
            "304 with a tag and the date for a date", .httpRules, dated,
            .head(304, ["ETag: \"b\"", "Last-Modified: \(date(-5000))"]), .update),
        .init(
            "304 with a tag and another date for a date", .httpRules, dated,
            .head(304, ["ETag: \"b\"", "Last-Modified: \(date(-4000))"]), .askAgain),
        .init("304 with Vary: the last time", .httpRules, tag, .head(304, ["Vary: *"]), .useAndRemove),
        .init("304 that varies", .httpRules, tag, .head(304, ["Vary: Accept"]), .update),
        .init("304 for the date", .httpRules, dated, .head(304, ["Last-Modified: \(date(-5000))"]), .update),
        .init("304 for another date", .httpRules, dated, .head(304, ["Last-Modified: \(date(-4000))"]), .askAgain),
        .init("304 with a tag that is none", .httpRules, tag, .head(304, ["ETag: a"]), .update),
        .init(
            "304 from elsewhere", .httpRules, tag, .head(304, ["ETag: \"a\""]), .askAgain, place: "https://b.example/x"),
        .init(
            "304 with no-store: the last time", .httpRules, tag, .head(304, ["Cache-Control: no-store"]), .useAndRemove),
        .init("304 after a revalidation", .revalidate, tag, .head(304, []), .update),
        .init("304 after a refresh", .refresh, tag, .head(304, []), .update),
        .init("304 to no condition", .httpRules, nil, .head(304, []), .fail),
        .init("304 in a reload", .reload, tag, .head(304, []), .fail),
        .init("304 for an entry without validator", .httpRules, ["Cache-Control: max-age=1"], .head(304, []), .fail),
        .init(
            "304 to the caller's condition", .cacheFirst, tag, .head(304, []), .fail, fields: ["If-None-Match: \"a\""]),
        .init("206 that nobody asked for", .httpRules, nil, .head(206, tag), .fail),
        .init("206 that the caller asked for", .httpRules, nil, .head(206, tag), .pass, fields: ["Range: bytes=0-9"]),

        .init("500 within the grace", .httpRules, graced, .head(500, []), .useStale),
        .init("502 within the grace", .httpRules, graced, .head(502, []), .useStale),
        .init("503 within the grace", .httpRules, graced, .head(503, []), .useStale),
        .init("504 to the grace's last second", .httpRules, graced, .head(504, []), .useStale, after: 1100),
        .init("503 after the grace", .httpRules, graced, .head(503, []), .pass, after: 1101),
        .init("501 is no outage", .httpRules, graced, .head(501, ["Cache-Control: no-store"]), .pass),
        .init("503 without grace", .httpRules, tag, .head(503, []), .pass),
        .init(
            "503 with the request's grace", .httpRules, tag, .head(503, []), .useStale,
            fields: ["Cache-Control: stale-if-error=2000"]),
        .init(
            "503 with grace, but must-revalidate", .httpRules,
            ["ETag: \"a\"", "Cache-Control: max-age=1, must-revalidate, stale-if-error=9999"], .head(503, []), .pass),
        .init(
            "503 with grace, but no-cache", .httpRules,
            ["ETag: \"a\"", "Cache-Control: no-cache, stale-if-error=9999"], .head(503, []), .pass),
        .init("503 to a revalidation", .revalidate, graced, .head(503, []), .useStale),
        .init("503 to a revalidation while fresh", .revalidate, graced, .head(503, []), .useStale, after: 5),
        .init("503 to a reload", .reload, graced, .head(503, []), .pass),
        .init("503 without an entry", .httpRules, nil, .head(503, []), .pass),
        .init("no connection within the grace", .httpRules, graced, .failure(.connectionRefused), .useStale),
        .init("no name within the grace", .httpRules, graced, .failure(.dnsFailed), .useStale),
        .init("a cut body within the grace", .httpRules, graced, .failure(.truncatedBody), .useStale),
        .init("a silent host within the grace", .revalidate, graced, .failure(.firstByteTimeout), .useStale),
        .init("an open circuit within the grace", .httpRules, graced, .failure(.circuitOpen), .useStale),
        .init("no connection after the grace", .httpRules, graced, .failure(.connectionRefused), .fail, after: 1101),
        .init("no connection without grace", .httpRules, tag, .failure(.connectionRefused), .fail),
        .init("a cancel is no outage", .httpRules, graced, .failure(.cancelled), .fail),
        .init("a refused address is no outage", .httpRules, graced, .failure(.addressRefused), .fail),
        .init("too large is no outage", .httpRules, graced, .failure(.bodyTooLarge), .fail),
    ]
}

@Suite struct CacheAnswerTests {
    @Test(arguments: AnswerCase.all) func everyAnswerHasItsExpectedOutcome(_ one: AnswerCase) throws {
        #expect(AnswerCase.Outcome(try one.answer()) == one.expected, "\(one.name)")
    }

    @Test func theConditionsAreTheEntrysValidators() throws {
        let both = try #require(storedResponse(["ETag: W/\"a\"", "Last-Modified: \(date(-5000))"]))
        guard
            case .revalidate(let exchange) = cacheRules.decide(
                .revalidate, CacheRequest(), stored: both, now: cacheStart)
        else { throw WebImageError(.cacheMiss, "no revalidation") }
        #expect(exchange.fields[.ifNoneMatch] == "W/\"a\"")
        #expect(exchange.fields[.ifModifiedSince] == date(-5000))
        // A cache between us and the origin must revalidate, too.
        #expect(exchange.fields[.cacheControl] == "max-age=0")
        #expect(exchange.fields.count == 3)
        #expect(exchange.unconditional.fields.isEmpty && !exchange.unconditional.isConditional)
    }

    @Test func onlyReloadFromOriginSendsCacheControlNoCache() {
        for (mode, value) in [(CacheMode.reload, nil), (.reloadFromOrigin, "no-cache"), (.noStore, nil)] {
            guard case .fetch(let exchange) = cacheRules.decide(mode, CacheRequest(), stored: nil, now: 0) else {
                Issue.record("\(mode) does not fetch")
                continue
            }
            #expect(exchange.fields[.cacheControl] == value)
        }
    }

    @Test func a304MayAddFieldsToVary() throws {
        let entry = try #require(storedResponse(["ETag: \"a\"", "Vary: Accept"], mode: .cacheFirst))
        let request = CacheRequest(fields: httpFields(["Accept-Language: de"]))
        guard
            case .revalidate(let exchange) = cacheRules.decide(.revalidate, request, stored: entry, now: cacheStart),
            case .useStored(let merged, _) = exchange.answer(head(304, ["Vary: Accept-Language"]), arrival())
        else { throw WebImageError(.cacheMiss, "the entry is not confirmed") }
        #expect(merged["vary"] == "accept, accept-language")
        #expect(merged.vary.map(\.name) == ["accept", "accept-language"])
        #expect(cacheRules.isFor(request, merged))
        #expect(!cacheRules.isFor(CacheRequest(fields: httpFields(["Accept-Language: en"])), merged))
    }

    /// How long redirects may be reused: -1 means that they must be followed again, 0 that they state no lifetime.
    @Test(
        arguments: [
            (301, [], nil, nil), (308, [], nil, nil), (302, [], 0, 0), (307, [], 0, 0),
            (302, ["Cache-Control: max-age=60"], 60, 60), (301, ["Cache-Control: max-age=60"], 60, 60),
            (301, ["Vary: *"], -1, -1), (301, ["Vary: Accept"], nil, nil), (301, ["Cache-Control: no-store"], -1, -1),
            (301, ["Cache-Control: no-cache"], -1, -1),
            (302, ["Cache-Control: max-age=60", "Age: 60"], -1, -1), (302, ["Expires: 0"], -1, -1),
            (301, ["Cache-Control: private"], nil, -1), (302, ["Cache-Control: private, max-age=60"], 60, -1),
            (301, ["Cache-Control: s-maxage=1"], nil, 1), (302, ["Cache-Control: s-maxage=0, max-age=60"], 60, -1),
        ] as [(Int, [String], Int64?, Int64?)])
    func redirectsHaveALifetimeToo(status: Int, lines: [String], own: Int64?, shared: Int64?) {
        var rules = cacheRules
        let redirects = [head(308), head(status, lines)]
        let time = cacheStart
        #expect(rules.redirectLifetime(redirects, requestTime: time, responseTime: time) == own)
        rules.isShared = true
        #expect(rules.redirectLifetime(redirects, requestTime: time, responseTime: time) == shared)
    }

    @Test func aServersCacheHearsOfRedirectsAndDelays() {
        var answer = head(200, ["Cache-Control: max-age=100"])
        func freshness(_ redirectLifetime: Int64?) -> SharedFreshness {
            answer.arrival = .init(
                requestTime: cacheStart - 30, responseTime: cacheStart - 10, redirectLifetime: redirectLifetime)
            return SharedFreshness(answer, now: Int(cacheStart))
        }
        #expect(freshness(nil).redirects == .unlimited && freshness(nil).lifetime == 100)
        #expect(freshness(nil).age == 20 && !freshness(nil).forbidsStaleness)
        #expect(freshness(0).redirects == .unstated && !freshness(0).forbidsStaleness)
        #expect(freshness(7).redirects == .limited(7) && !freshness(7).forbidsStaleness)
        #expect(freshness(-1).redirects == .limited(0) && freshness(-1).forbidsStaleness)
    }

    @Test func failuresHaveTheirOwnErrorCodes() throws {
        let cases: [(AnswerCase, WebImageError.Code)] = [
            (.init("", .reload, nil, .head(304, []), .fail), .notModified),
            (.init("", .reload, nil, .head(206, []), .fail), .protocolError),
            (.init("", .reload, nil, .failure(.dnsFailed), .fail), .dnsFailed),
        ]
        for (one, code) in cases {
            guard case .fail(let error) = try one.answer() else {
                Issue.record("\(code.name) did not come")
                continue
            }
            #expect(error.code == code)
        }
        guard case .fail(let error) = cacheRules.decide(.cacheOnly, CacheRequest(), stored: nil, now: 0) else {
            throw WebImageError(.cacheMiss, "a miss is no failure")
        }
        #expect(error.code == .cacheMiss)
    }

    @Test func a304UpdatesCacheFieldsButNotTheContentType() throws {
        let old = [
            "ETag: \"a\"", "Cache-Control: max-age=100", "Age: 90", "Date: \(date(-90))", "Content-Type: image/png",
            "Last-Modified: \(date(-9000))",
        ]
        let one = AnswerCase(
            "", .httpRules, old, .head(304, ["Cache-Control: max-age=7", "Content-Type: text/html", "X: y"]), .update)
        guard case .useStored(let merged, let plan) = try one.answer() else {
            throw WebImageError(.cacheMiss, "the entry is not used")
        }
        #expect(plan.storing == merged)
        #expect(merged["cache-control"] == "max-age=7")
        #expect(merged["content-type"] == "image/png")
        #expect(merged["etag"] == "\"a\"")
        #expect(merged["last-modified"] == date(-9000))
        #expect(merged["age"] == nil && merged["date"] == nil)
        #expect(merged.responseTime == cacheStart + 1000)
        // The entry is as fresh as a new one: neither the old `Age` nor the old `Date` remains.
        #expect(cacheRules.remaining(merged, now: cacheStart + 1000) == 7)
    }

    @Test func anEntryThatWasNotStoredByTheseRulesIsServedButNeverFresh() {
        let entry = StoredResponse(
            status: nil, storedFields: [], vary: [], requestTime: nil, responseTime: nil, storedAt: cacheStart)
        for (mode, outcome) in [(CacheMode.cacheFirst, CacheOutcome.serve), (.cacheOnly, .serve), (.httpRules, .fetch)]
        {
            let decision = cacheRules.decide(mode, CacheRequest(), stored: entry, now: cacheStart)
            #expect(CacheOutcome(decision) == outcome)
        }
    }

    @Test func staleIfErrorOfTheRulesHoldsForFailedRevalidations() throws {
        var rules = cacheRules
        rules.staleIfError = 500
        let entry = try #require(storedResponse(["ETag: \"a\"", "Cache-Control: max-age=100"]))
        for (after, isUsed) in [(Int64(600), true), (601, false)] {
            guard
                case .revalidate(let exchange) = rules.decide(
                    .httpRules, CacheRequest(), stored: entry, now: cacheStart + after)
            else { throw WebImageError(.cacheMiss, "no revalidation") }
            guard case .useStale = exchange.failed(WebImageError(.dnsFailed, ""), now: cacheStart + after) else {
                #expect(!isUsed)
                continue
            }
            #expect(isUsed)
        }
    }
}
