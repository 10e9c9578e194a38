import Testing

@testable import WebImageDownload

private let tag = "ETag: \"a\""

extension LookupCase {
    /// How long answers are fresh, RFC 9111 section 4.2.
    static let freshness: [LookupCase] = [
        .init("max-age is fresh before its end", ["Cache-Control: max-age=100", tag], after: 99, .serve),
        .init("max-age is stale at its end", ["Cache-Control: max-age=100", tag], after: 100, .ask),
        .init("stale without a validator is fetched", ["Cache-Control: max-age=100"], after: 100, .fetch),
        .init("max-age=0 is stale at once", ["Cache-Control: max-age=0", tag], after: 0, .ask),
        .init("max-age in any case of letters", ["CACHE-CONTROL: MAX-AGE=100", tag], after: 99, .serve),
        .init("max-age in quotes", ["Cache-Control: max-age=\"100\"", tag], after: 99, .serve),
        .init("max-age in single quotes is none", ["Cache-Control: max-age='100'", tag], .ask),
        .init("max-age with a fraction is none", ["Cache-Control: max-age=100.5", tag], .ask),
        .init("max-age below zero is none", ["Cache-Control: max-age=-100", tag], .ask),
        .init("max-age with a plus is none", ["Cache-Control: max-age=+100", tag], .ask),
        .init("max-age in hexadecimal is none", ["Cache-Control: max-age=0x64", tag], .ask),
        .init("max-age without a value is none", ["Cache-Control: max-age", tag], .ask),
        .init("max-age with an empty value is none", ["Cache-Control: max-age=", tag], .ask),
        .init("max-age with a blank before the equals sign is none", ["Cache-Control: max-age =100", tag], .ask),
        .init("max-age with a blank behind it is none", ["Cache-Control: max-age= 100", tag], .ask),
        .init("max-age with leading zeros", ["Cache-Control: max-age=000100", tag], after: 99, .serve),
        .init("max-age that no integer holds is long", ["Cache-Control: max-age=99999999999999999999", tag], .serve),
        .init("the first of two max-age counts", ["Cache-Control: max-age=100, max-age=1", tag], after: 50, .serve),
        .init("the first of two max-age counts, short", ["Cache-Control: max-age=1, max-age=100", tag], .ask),
        .init("two fields are one list", ["Cache-Control: public", "Cache-Control: max-age=100", tag], .serve),
        .init("max-age inside a quoted string is none", ["Cache-Control: x=\"max-age=100\", max-age=5", tag], .ask),
        .init("what follows a quote without an end permits nothing", ["Cache-Control: x=\"a, max-age=100", tag], .ask),
        .init("an escaped quote does not end one", ["Cache-Control: x=\"\\\", max-age=1\", max-age=100", tag], .serve),
        .init("unknown directives are passed over", ["Cache-Control: foo, bar=1, max-age=100", tag], .serve),
        .init("empty elements are passed over", ["Cache-Control: , ,max-age=100,,", tag], .serve),
        .init("s-maxage is not for us", ["Cache-Control: s-maxage=1, max-age=100", tag], .serve),
        .init("s-maxage alone is nothing", ["Cache-Control: s-maxage=100", tag], .ask),

        .init(
            "Expires is fresh before its end", ["Expires: \(date(100))", "Date: \(date(0))", tag], after: 99, .serve),
        .init("Expires is stale at its end", ["Expires: \(date(100))", "Date: \(date(0))", tag], after: 100, .ask),
        .init("Expires in the past", ["Expires: \(date(-100))", "Date: \(date(0))", tag], after: 0, .ask),
        .init("Expires as now", ["Expires: \(date(0))", "Date: \(date(0))", tag], after: 0, .ask),
        .init("Expires without Date counts from the answer", ["Expires: \(date(100))", tag], after: 99, .serve),
        .init("Expires: 0 is past", ["Expires: 0", tag], after: 0, .ask),
        .init("Expires that is no date is past", ["Expires: tomorrow", "Date: \(date(0))", tag], after: 0, .ask),
        .init("Expires in RFC 850 form", ["Expires: Friday, 15-Jan-27 08:01:40 GMT", tag], after: 99, .serve),
        .init("Expires in asctime form", ["Expires: Fri Jan 15 08:01:40 2027", tag], after: 99, .serve),
        .init("Expires in asctime form, stale", ["Expires: Fri Jan 15 08:01:40 2027", tag], after: 100, .ask),
        .init("Expires in another zone is none", ["Expires: Fri, 15 Jan 2027 09:01:40 CET", tag], .ask),
        .init("Expires in small letters", ["Expires: fri, 15 jan 2027 08:01:40 gmt", tag], after: 99, .serve),
        .init("two Expires are none", ["Expires: \(date(100))", "Expires: \(date(100))", tag], .ask),
        .init(
            "Expires is held against the origin's clock",
            ["Expires: \(date(-900))", "Date: \(date(-1000))", "Cache-Control: public", tag], after: 0, .ask),
        .init(
            "max-age wins over Expires",
            ["Cache-Control: max-age=100", "Expires: \(date(-100))", "Date: \(date(0))", tag], .serve),
        .init("max-age=0 wins over Expires", ["Cache-Control: max-age=0", "Expires: \(date(100))", tag], .ask),
        .init("a wrong max-age wins over Expires", ["Cache-Control: max-age=a", "Expires: \(date(100))", tag], .ask),

        .init("Age counts", ["Cache-Control: max-age=100", "Age: 50", tag], after: 49, .serve),
        .init("Age counts to the end", ["Cache-Control: max-age=100", "Age: 50", tag], after: 50, .ask),
        .init("the first of two Ages counts", ["Cache-Control: max-age=100", "Age: 0, 500", tag], .serve),
        .init("an Age that is none is nothing", ["Cache-Control: max-age=100", "Age: old", tag], .serve),
        .init("an Age below zero is nothing", ["Cache-Control: max-age=100", "Age: -5", tag], .serve),
        .init("an Age that no integer holds", ["Cache-Control: max-age=100", "Age: 99999999999999999999", tag], .ask),
        .init("Age counts for Expires", ["Expires: \(date(100))", "Date: \(date(0))", "Age: 95", tag], .ask),
        .init("the answer's way counts", ["Cache-Control: max-age=100", tag], after: 60, .ask, delay: 40),
        .init(
            "the answer's way counts to the second", ["Cache-Control: max-age=100", tag], after: 59, .serve, delay: 40),
        .init("an old Date counts as age", ["Cache-Control: max-age=100", "Date: \(date(-100))", tag], after: 0, .ask),
        .init(
            "the larger of both counts", ["Cache-Control: max-age=100", "Date: \(date(-40))", "Age: 60", tag],
            after: 39, .serve),
        .init(
            "a Date ahead of us is no age", ["Cache-Control: max-age=100", "Date: \(date(500))", tag], after: 99, .serve
        ),
        .init("our clock set back a little", ["Cache-Control: max-age=100", tag], after: -30, .serve),
        .init("our clock set back far: who knows", ["Cache-Control: max-age=100", tag], after: -3600, .ask),

        .init(
            "10 % of the time since a change", ["Last-Modified: \(date(-1000))", "Date: \(date(0))"], after: 99, .serve),
        .init("and no longer", ["Last-Modified: \(date(-1000))", "Date: \(date(0))"], after: 100, .ask),
        .init("10 % of less than 100 s", ["Last-Modified: \(date(-50))", tag], after: 4, .serve),
        .init("and no longer than that", ["Last-Modified: \(date(-50))", tag], after: 5, .ask),
        .init("10 % of ages", ["Last-Modified: Thu, 01 Jan 1000 00:00:00 GMT", tag], after: 86_399, .serve),
        .init("a date with two blanks is in the past", ["Expires: Sat, 16 Jan 2027  08:00:00 GMT", tag], .ask),
        .init("the same date with one is not", ["Expires: Sat, 16 Jan 2027 08:00:00 GMT", tag], .serve),
        .init("at most a day", ["Last-Modified: \(date(-100_000_000))"], after: 86_399, .serve),
        .init("and not a second more", ["Last-Modified: \(date(-100_000_000))"], after: 86_400, .ask),
        .init("a change in the future tells nothing", ["Last-Modified: \(date(1000))"], after: 0, .ask),
        .init("a change that is no date tells nothing", ["Last-Modified: yesterday"], after: 0, .fetch),
        .init("an entity tag alone tells nothing", [tag], after: 0, .ask),
        .init("silence tells nothing", [], after: 0, .fetch),
        .init("no heuristic beside max-age", ["Last-Modified: \(date(-1000))", "Cache-Control: max-age=5"], .ask),
        .init("no heuristic beside a wrong Expires", ["Last-Modified: \(date(-1000))", "Expires: 0"], .ask),
        .init("a heuristic for 203", ["Last-Modified: \(date(-1000))"], .serve, status: 203),
        .init("none for 201", ["Last-Modified: \(date(-1000))", tag], .fetch, status: 201),
        .init(
            "one for 201 that is public", ["Last-Modified: \(date(-1000))", "Cache-Control: public"], .serve,
            status: 201),
    ]

    /// Directives of answers other than their lifetime.
    static let directives: [LookupCase] = [
        .init("no-cache is asked though fresh", ["Cache-Control: no-cache, max-age=100", tag], .ask),
        .init("no-cache without a validator is fetched", ["Cache-Control: no-cache, max-age=100"], .fetch),
        .init("no-cache for a cookie only", ["Cache-Control: no-cache=\"Set-Cookie\", max-age=100", tag], .serve),
        .init("no-cache for a field that we keep", ["Cache-Control: no-cache=\"a, ETag\", max-age=100", tag], .ask),
        .init("no-cache for nothing is for all", ["Cache-Control: no-cache=\"\", max-age=100", tag], .ask),
        .init("no-cache with a broken list is for all", ["Cache-Control: no-cache=\"a b\", max-age=100", tag], .ask),
        .init("no-cache for a token", ["Cache-Control: no-cache=Set-Cookie, max-age=100", tag], .serve),
        .init("no-cache of both kinds is for all", ["Cache-Control: no-cache=\"x\", no-cache, max-age=9", tag], .ask),
        .init("Pragma in an answer is nothing", ["Pragma: no-cache", "Cache-Control: max-age=100", tag], .serve),
        .init("must-revalidate while fresh", ["Cache-Control: max-age=100, must-revalidate", tag], .serve),
        .init(
            "proxy-revalidate is not for us",
            ["Cache-Control: max-age=5, proxy-revalidate, stale-while-revalidate=50", tag], .background),
        .init("private while fresh", ["Cache-Control: private, max-age=100", tag], .serve),
        .init("private for a field", ["Cache-Control: private=\"x\", max-age=100", tag], .serve),
        .init("immutable while fresh", ["Cache-Control: max-age=100, immutable", tag], .serve),
        .init("immutable does not lengthen", ["Cache-Control: max-age=5, immutable", tag], .ask),
        .init("a warning is nothing", ["Warning: 110 - \"stale\"", "Cache-Control: max-age=100", tag], .serve),
        .init("stale-while-revalidate", ["Cache-Control: max-age=5, stale-while-revalidate=50", tag], .background),
        .init("before it is needed", ["Cache-Control: max-age=50, stale-while-revalidate=50", tag], .serve),
        .init(
            "to its last second", ["Cache-Control: max-age=5, stale-while-revalidate=50", tag], after: 54, .background),
        .init("and not beyond", ["Cache-Control: max-age=5, stale-while-revalidate=50", tag], after: 55, .ask),
        .init("without a validator too", ["Cache-Control: max-age=5, stale-while-revalidate=50"], .background),
        .init("a wrong one is none", ["Cache-Control: max-age=5, stale-while-revalidate=x", tag], .ask),
        .init(
            "must-revalidate forbids it",
            ["Cache-Control: max-age=5, must-revalidate, stale-while-revalidate=50", tag], .ask),
        .init("no-cache forbids it", ["Cache-Control: max-age=5, no-cache, stale-while-revalidate=50", tag], .ask),
        .init(
            "stale-if-error does not help while all is well", ["Cache-Control: max-age=5, stale-if-error=50", tag], .ask
        ),
        .init(
            "a temporary redirect is asked again", ["Cache-Control: max-age=100", tag], .ask,
            redirects: [head(302, ["Location: /x"])]),
        .init(
            "a temporary redirect with a lifetime", ["Cache-Control: max-age=100", tag], .serve,
            redirects: [head(302, ["Cache-Control: max-age=50"])]),
        .init(
            "and after it", ["Cache-Control: max-age=100", tag], after: 50, .ask,
            redirects: [head(302, ["Cache-Control: max-age=50"])]),
        .init(
            "the answer's own age does not count for it", ["Cache-Control: max-age=100", "Age: 45", tag], .serve,
            redirects: [head(302, ["Cache-Control: max-age=50"])]),
        .init(
            "a permanent redirect is no limit", ["Cache-Control: max-age=100", tag], after: 99, .serve,
            redirects: [head(301), head(308)]),
        .init(
            "the shortest of several is the limit", ["Cache-Control: max-age=100", tag], .ask,
            redirects: [head(301), head(307, ["Cache-Control: max-age=50"]), head(303)]),
        .init(
            "a permanent one that must be asked", ["Cache-Control: max-age=100", tag], .ask,
            redirects: [head(301, ["Cache-Control: no-cache"])]),
        .init(
            "what the answer says of stale use is not for its redirects",
            ["Cache-Control: max-age=100, stale-while-revalidate=60", tag], .ask,
            redirects: [head(302, ["Cache-Control: no-store"])]),
        .init(
            "nor what the request says", ["Cache-Control: max-age=100", tag], .ask,
            redirects: [head(302, ["Cache-Control: no-cache"])], fields: ["Cache-Control: max-stale=100"]),
        .init(
            "a redirect in its lifetime does not hinder it",
            ["Cache-Control: max-age=5, stale-while-revalidate=60", tag], .background,
            redirects: [head(302, ["Cache-Control: max-age=50"])]),
    ]
}
