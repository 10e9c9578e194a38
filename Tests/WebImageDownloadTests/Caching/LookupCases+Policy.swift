import Testing

@testable import WebImageDownload

private let tag = "ETag: \"a\""
private let fresh = ["Cache-Control: max-age=100", tag]
private let stale = ["Cache-Control: max-age=5", tag]

extension LookupCase {
    /// Which answers are stored. One that is not is fetched again.
    static let storing: [LookupCase] = [
        .init("no-store", ["Cache-Control: no-store, max-age=100", tag], .fetch),
        .init("no-store in any case of letters", ["Cache-Control: No-Store", tag], .fetch),
        .init("no-store with a value", ["Cache-Control: no-store=1, max-age=100", tag], .fetch),
        .init("no-store among wrong things", ["Cache-Control: @@, ;, no-store;x, max-age=100", tag], .fetch),
        .init("no-store inside a quoted string is none", ["Cache-Control: x=\"no-store\", max-age=100", tag], .serve),
        .init(
            "no-store where every entry is good", ["Cache-Control: no-store, max-age=100"], .fetch, mode: .cacheFirst),
        .init("no-store where only entries are", ["Cache-Control: no-store, max-age=100"], .miss, mode: .cacheOnly),
        .init("no-store where there is a refresh", ["Cache-Control: no-store, max-age=100"], .fetch, mode: .refresh),
        .init(
            "must-understand of a status unknown", ["Cache-Control: must-understand, max-age=100", tag], .fetch,
            status: 299),
        .init("no-store for others than us", ["Cache-Control: no-store, must-understand, max-age=100", tag], .serve),
        .init(
            "no-store for a status unknown", ["Cache-Control: no-store, must-understand, max-age=100", tag], .fetch,
            status: 299),
        .init("the request's no-store", fresh, .fetch, firstFields: ["Cache-Control: no-store"]),
        .init(
            "the request's no-store elsewhere", fresh, .fetch, mode: .cacheFirst,
            firstFields: ["Cache-Control: no-store"]),
        .init("an unknown status with a lifetime", fresh, .serve, status: 299),
        .init("an unknown status in silence", [tag], .fetch, status: 299),
        .init("an unknown status in silence, by our own lifetime", [tag], .serve, status: 299, mode: .cacheFirst),
        .init("a part is not the whole", fresh, .fetch, status: 206),
        .init("404 with a lifetime", fresh, .serve, status: 404),
        .init("404 in silence may be stored, but not used for long", [tag], .ask, status: 404),
        .init("500 in silence", [tag], .fetch, status: 500),
        .init("403 in silence, by our own lifetime", [tag], .fetch, status: 403, mode: .cacheFirst),
        .init("410 that is public", ["Cache-Control: public", tag], .ask, status: 410),
        .init("403 that is private", ["Cache-Control: private", tag], .ask, status: 403),
        .init(
            "a field of absurd length", ["Cache-Control: max-age=100, x=\"\(String(repeating: "y", count: 9000))\""],
            .fetch),
        .init("a request for a part", fresh, .fetch, firstFields: ["Range: bytes=0-5"]),
        .init("the caller's own conditions are not ours to answer", fresh, .fetch, fields: ["If-None-Match: \"a\""]),
        .init("nor are the caller's own ranges", fresh, .fetch, fields: ["Range: bytes=0-5"]),
        .init("nor where only entries are", fresh, .miss, mode: .cacheOnly, fields: ["If-None-Match: \"a\""]),
    ]

    /// The request's own directives, RFC 9111 section 5.2.1.
    static let wishes: [LookupCase] = [
        .init("no-cache", fresh, .ask, fields: ["Cache-Control: no-cache"]),
        .init("Pragma: no-cache", fresh, .ask, fields: ["Pragma: no-cache"]),
        .init(
            "Pragma beside Cache-Control is nothing", fresh, .serve, fields: ["Pragma: no-cache", "Cache-Control: x"]),
        .init("max-age that is kept", fresh, .serve, fields: ["Cache-Control: max-age=10"]),
        .init("max-age that is not", fresh, after: 11, .ask, fields: ["Cache-Control: max-age=10"]),
        .init("max-age=0", fresh, after: 1, .ask, fields: ["Cache-Control: max-age=0"]),
        .init("max-age that is none asks to be careful", fresh, .ask, fields: ["Cache-Control: max-age=x"]),
        .init("min-fresh that is there", fresh, .serve, fields: ["Cache-Control: min-fresh=90"]),
        .init("min-fresh that is not", fresh, .ask, fields: ["Cache-Control: min-fresh=91"]),
        .init("min-fresh that is none", fresh, .ask, fields: ["Cache-Control: min-fresh=x"]),
        .init("max-stale that is kept", stale, .serve, fields: ["Cache-Control: max-stale=5"]),
        .init("max-stale that is not", stale, after: 11, .ask, fields: ["Cache-Control: max-stale=5"]),
        .init("max-stale without end", stale, after: 9999, .serve, fields: ["Cache-Control: max-stale"]),
        .init("max-stale that is none", stale, .ask, fields: ["Cache-Control: max-stale=x"]),
        .init(
            "max-stale against must-revalidate", ["Cache-Control: max-age=5, must-revalidate", tag], .ask,
            fields: ["Cache-Control: max-stale"]),
        .init(
            "max-stale against no-cache", ["Cache-Control: max-age=5, no-cache", tag], .ask,
            fields: ["Cache-Control: max-stale"]),
        .init("only-if-cached, fresh", fresh, .serve, fields: ["Cache-Control: only-if-cached"]),
        .init("only-if-cached, stale", stale, .miss, fields: ["Cache-Control: only-if-cached"]),
        .init(
            "only-if-cached, nothing there", ["Cache-Control: no-store"], .miss,
            fields: ["Cache-Control: only-if-cached"]),
        .init(
            "only-if-cached and max-stale", stale, .serve, fields: ["Cache-Control: only-if-cached, max-stale=60"]),
        .init(
            "only-if-cached within stale-while-revalidate",
            ["Cache-Control: max-age=5, stale-while-revalidate=50", tag], .serve,
            fields: ["Cache-Control: only-if-cached"]),
        .init(
            "only-if-cached beyond stale-while-revalidate",
            ["Cache-Control: max-age=5, stale-while-revalidate=50", tag], after: 55, .miss,
            fields: ["Cache-Control: only-if-cached"]),
        .init(
            "only-if-cached and a refresh", stale, .serve, mode: .refresh, fields: ["Cache-Control: only-if-cached"]),
        .init(
            "only-if-cached and a revalidation", fresh, .miss, mode: .revalidate,
            fields: ["Cache-Control: only-if-cached"]),
        .init(
            "max-age against stale-while-revalidate", ["Cache-Control: max-age=5, stale-while-revalidate=50", tag],
            .ask,
            fields: ["Cache-Control: max-age=3600"]),
        .init(
            "no-cache against stale-while-revalidate", ["Cache-Control: max-age=5, stale-while-revalidate=50", tag],
            .ask,
            fields: ["Cache-Control: no-cache"]),
    ]

    /// Which requests may reuse an answer: `Vary` and credentials.
    static let whoMayHaveWhat: [LookupCase] = [
        .init(
            "the same field", fresh + ["Vary: Accept"], .serve, firstFields: ["Accept: image/png"],
            fields: ["Accept: image/png"]),
        .init(
            "another one", fresh + ["Vary: Accept"], .fetch, firstFields: ["Accept: image/png"],
            fields: ["Accept: image/avif"]),
        .init("none the second time", fresh + ["Vary: Accept"], .fetch, firstFields: ["Accept: image/png"]),
        .init("none the first time", fresh + ["Vary: Accept"], .fetch, fields: ["Accept: image/png"]),
        .init("none at all", fresh + ["Vary: Accept"], .serve),
        .init("a field that it does not name", fresh + ["Vary: Accept"], .serve, fields: ["X-A: 1"]),
        .init(
            "blanks in a list", fresh + ["Vary: Accept"], .serve, firstFields: ["Accept: a/b,c/d"],
            fields: ["Accept: a/b , c/d"]),
        .init(
            "two lines are one list", fresh + ["Vary: Accept"], .serve, firstFields: ["Accept: a/b", "Accept: c/d"],
            fields: ["Accept: a/b, c/d"]),
        .init(
            "another order is another value", fresh + ["Vary: Accept"], .fetch, firstFields: ["Accept: a/b, c/d"],
            fields: ["Accept: c/d, a/b"]),
        .init(
            "one of two differs", fresh + ["Vary: Accept, X-A"], .fetch, firstFields: ["Accept: a", "X-A: 1"],
            fields: ["Accept: a", "X-A: 2"]),
        .init(
            "both the same", fresh + ["Vary: accept, x-a"], .serve, firstFields: ["Accept: a", "X-A: 1"],
            fields: ["X-A: 1", "Accept: a"]),
        .init(
            "two Vary fields", fresh + ["Vary: Accept", "Vary: X-A"], .fetch, firstFields: ["X-A: 1"],
            fields: ["X-A: 2"]),
        .init("Vary: *", fresh + ["Vary: *"], .fetch),
        .init("Vary: * among others", fresh + ["Vary: Accept, *"], .fetch),
        .init("Vary with a name that is none", fresh + ["Vary: a b"], .fetch),
        .init("an empty Vary", fresh + ["Vary:"], .serve),
        .init("Vary of absurd length", fresh + ["Vary: " + (0..<40).map { "x\($0)" }.joined(separator: ",")], .fetch),
        .init(
            "Vary binds a load from the cache first", fresh + ["Vary: Accept"], .fetch, mode: .cacheFirst,
            fields: ["Accept: a"]),
        .init(
            "Vary binds a load from the cache only", fresh + ["Vary: Accept"], .miss, mode: .cacheOnly,
            fields: ["Accept: a"]),
        .init("Vary binds a refresh", fresh + ["Vary: Accept"], .fetch, mode: .refresh, fields: ["Accept: a"]),
        .init("Vary binds a revalidation", fresh + ["Vary: Accept"], .fetch, mode: .revalidate, fields: ["Accept: a"]),

        .init("the same asks", fresh, .serve, firstScope: "anna", scope: "anna"),
        .init("somebody else asks", fresh, .fetch, firstScope: "anna", scope: "otto"),
        .init("nobody in particular asks", fresh, .fetch, firstScope: "anna"),
        .init("somebody asks for nobody's", fresh, .fetch, scope: "anna"),
        .init(
            "somebody else asks for what is public", ["Cache-Control: public, max-age=100", tag], .serve,
            firstScope: "anna", scope: "otto"),
        .init(
            "a private answer of somebody's, cache first", ["Cache-Control: private"], .fetch, mode: .cacheFirst,
            firstScope: "anna", scope: "otto"),
        .init(
            "a private answer of somebody's, cache only", ["Cache-Control: private"], .miss, mode: .cacheOnly,
            firstScope: "anna", scope: "otto"),
        .init(
            "a private answer of somebody's, refresh", ["Cache-Control: private"], .fetch, mode: .refresh,
            firstScope: "anna", scope: "otto"),
        .init(
            "a private answer of one's own", ["Cache-Control: private"], .serve, mode: .cacheOnly, firstScope: "anna",
            scope: "anna"),
        .init(
            "Authorization says who asks", fresh, .fetch, firstFields: ["Authorization: Bearer a"],
            fields: ["Authorization: Bearer b"]),
        .init(
            "the same Authorization", fresh, .serve, firstFields: ["Authorization: Bearer a"],
            fields: ["Authorization: Bearer a"]),
        .init(
            "Authorization and then none", fresh, .fetch, mode: .cacheFirst, firstFields: ["Authorization: Bearer a"]),
        .init("Cookie says who asks", fresh, .fetch, firstFields: ["Cookie: s=1"], fields: ["Cookie: s=2"]),
        .init(
            "a new token of the same one", fresh, .serve, firstFields: ["Authorization: Bearer a"], firstScope: "anna",
            fields: ["Authorization: Bearer b"], scope: "anna"),
    ]

    /// The decision of each cache mode.
    static let modes: [LookupCase] = [
        .init("cacheFirst, fresh", fresh, .serve, mode: .cacheFirst),
        .init("cacheFirst, stale", stale, .serve, mode: .cacheFirst),
        .init("cacheFirst, no-cache", ["Cache-Control: no-cache"], .serve, mode: .cacheFirst),
        .init("cacheFirst, must-revalidate", ["Cache-Control: max-age=0, must-revalidate"], .serve, mode: .cacheFirst),
        .init("cacheFirst, silence", [], after: 9_999_999, .serve, mode: .cacheFirst),
        .init("cacheFirst, nothing there", ["Cache-Control: no-store"], .fetch, mode: .cacheFirst),
        .init(
            "cacheFirst takes no notice of the request's no-cache", fresh, .serve, mode: .cacheFirst,
            fields: ["Cache-Control: no-cache"]),
        .init("revalidate, fresh", fresh, .ask, mode: .revalidate),
        .init("revalidate, stale", stale, .ask, mode: .revalidate),
        .init("revalidate, immutable", ["Cache-Control: max-age=100, immutable", tag], .ask, mode: .revalidate),
        .init("revalidate, no validator", ["Cache-Control: max-age=100"], .fetch, mode: .revalidate),
        .init("revalidate, nothing there", ["Cache-Control: no-store"], .fetch, mode: .revalidate),
        .init("refresh, fresh", fresh, .background, mode: .refresh),
        .init("refresh, stale", stale, .background, mode: .refresh),
        .init("refresh, no validator", [], .background, mode: .refresh),
        .init("refresh, immutable and fresh", ["Cache-Control: max-age=100, immutable", tag], .serve, mode: .refresh),
        .init(
            "refresh, immutable and stale", ["Cache-Control: max-age=5, immutable", tag], .background, mode: .refresh),
        .init("refresh, nothing there", ["Cache-Control: no-store"], .fetch, mode: .refresh),
        .init("reload", fresh, .fetch, mode: .reload),
        .init(
            "reload takes no notice of only-if-cached", fresh, .fetch, mode: .reload,
            fields: ["Cache-Control: only-if-cached"]),
        .init("reloadFromOrigin", fresh, .fetch, mode: .reloadFromOrigin),
        .init("cacheOnly, fresh", fresh, .serve, mode: .cacheOnly),
        .init("cacheOnly, stale", stale, .serve, mode: .cacheOnly),
        .init("cacheOnly, nothing there", ["Cache-Control: no-store"], .miss, mode: .cacheOnly),
        .init("noStore", fresh, .fetch, mode: .noStore),
        .init("noStore keeps nothing", fresh, .fetch, mode: .httpRules, firstMode: .noStore),
    ]
}
