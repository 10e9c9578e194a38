import Testing

@testable import WebImageDownload

/// A row of the table of lookups, in the manner of the public HTTP cache tests. An answer arrives and is stored if it
/// may be; then a second request is decided on.
struct LookupCase: Sendable, CustomTestStringConvertible {
    let name: String
    /// The header fields of the first answer.
    let answer: [String]
    /// Seconds between the first answer and the second request.
    let after: Int64
    let expected: CacheOutcome
    var status = 200
    var mode = CacheMode.httpRules
    /// The mode of the first request; nil for the mode of the second, or `cacheFirst` if that mode stores nothing.
    var firstMode: CacheMode?
    var firstFields: [String] = []
    var firstScope: String?
    /// Seconds between the first request and its answer.
    var delay: Int64 = 0
    var redirects: [ResponseHead] = []
    var fields: [String] = []
    var scope: String?

    init(
        _ name: String, _ answer: [String], after: Int64 = 10, _ expected: CacheOutcome, status: Int = 200,
        mode: CacheMode = .httpRules, firstMode: CacheMode? = nil, firstFields: [String] = [],
        firstScope: String? = nil, delay: Int64 = 0, redirects: [ResponseHead] = [], fields: [String] = [],
        scope: String? = nil
    ) {
        self.name = name
        self.answer = answer
        self.after = after
        self.expected = expected
        self.status = status
        self.mode = mode
        self.firstMode = firstMode
        self.firstFields = firstFields
        self.firstScope = firstScope
        self.delay = delay
        self.redirects = redirects
        self.fields = fields
        self.scope = scope
    }

    var testDescription: String { name }

    func outcome() -> CacheOutcome {
        let first = CacheRequest(fields: httpFields(firstFields), credentialScope: firstScope)
        let kept = storedResponse(
            answer, status: status, mode: firstMode ?? (mode.stores ? mode : .cacheFirst), request: first,
            arrival: arrival(delay: delay, redirects: redirects))
        let second = CacheRequest(fields: httpFields(fields), credentialScope: scope)
        return CacheOutcome(cacheRules.decide(mode, second, stored: kept, now: cacheStart + after))
    }
}

@Suite struct CacheLookupTests {
    @Test(arguments: LookupCase.freshness) func freshness(_ one: LookupCase) {
        #expect(one.outcome() == one.expected, "\(one.name)")
    }

    @Test(arguments: LookupCase.directives) func directives(_ one: LookupCase) {
        #expect(one.outcome() == one.expected, "\(one.name)")
    }

    @Test(arguments: LookupCase.storing) func storing(_ one: LookupCase) {
        #expect(one.outcome() == one.expected, "\(one.name)")
    }

    @Test(arguments: LookupCase.wishes) func theRequestsOwnDirectives(_ one: LookupCase) {
        #expect(one.outcome() == one.expected, "\(one.name)")
    }

    @Test(arguments: LookupCase.whoMayHaveWhat) func entriesAreServedOnlyToMatchingRequests(_ one: LookupCase) {
        #expect(one.outcome() == one.expected, "\(one.name)")
    }

    @Test(arguments: LookupCase.modes) func modes(_ one: LookupCase) {
        #expect(one.outcome() == one.expected, "\(one.name)")
    }

    /// No case of the two tables is lost, and no two cases have the same name. A new case changes its number here.
    @Test func theTableHasEveryCaseOnce() {
        let tables = [
            LookupCase.freshness, LookupCase.directives, LookupCase.storing, LookupCase.wishes,
            LookupCase.whoMayHaveWhat, LookupCase.modes,
        ]
        #expect(tables.map(\.count) == [76, 35, 28, 26, 35, 26])
        #expect(AnswerCase.all.count == 68)
        for names in [tables.joined().map(\.name), AnswerCase.all.map(\.name)] {
            #expect(Dictionary(grouping: names) { $0 }.filter { $1.count > 1 }.isEmpty)
        }
    }
}
