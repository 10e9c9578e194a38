import Testing
import WebImageTesting

@testable import WebImageDownload

@Suite struct FieldParsingTests {
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("sUN, 6 nOV 1994 08:49:37 gmt", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600), ("Fri, 29 Feb 2036 12:00:00 GMT", 2_087_899_200),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Fri, 15-Jan-27 08:00:00 GMT", nil), ("Friday, 15-Jan-27 08:00:00 GMT", 1_800_000_000),
            // A year of two digits lies at most 50 years after 2027.
            ("Friday, 15-Jan-77 08:00:00 GMT", 3_377_923_200), ("Friday, 15-Jan-78 08:00:00 GMT", 253_699_200),
            ("", nil), ("0", nil), ("-1", nil), ("Sun, 06 Nov 1994 08:49:37", nil),
            ("Sun, 06 Nov 1994 08:49:37 UTC", nil),
            ("Sun, 06 Nov 1994 08:49:37 +0000", nil), ("Sun, 31 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 29 Feb 1900 08:49:37 GMT", nil), ("Sun, 00 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 24:00:00 GMT", nil), ("Sun, 06 Nov 1994 08:60:37 GMT", nil),
            ("Sun, 06 Nov 1994 08:49:61 GMT", nil), ("Sun, 06 Nov 1994 8:49:37 GMT", nil),
            ("Sun, 06 Nov 94 08:49:37 GMT", nil), ("Sun, 06 Nov 19940 08:49:37 GMT", nil),
            ("Sum, 06 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Now 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49:37 GMT x", nil),
            // More spaces than the format has, and tabs.
            ("Sun,  06 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994  08:49:37 GMT", nil),
            ("Sun, 06\tNov 1994 08:49:37 GMT", nil), ("Sunday, 06-Nov-94  08:49:37 GMT", nil),
            ("Sun Nov  06 08:49:37 1994", nil), ("Sun Nov 06  08:49:37 1994", nil), ("Sun Nov   6 08:49:37 1994", nil),
            ("Sun, +6 Nov 1994 08:49:37 GMT", nil), (String(repeating: "Sun, ", count: 100), nil),
        ] as [(String, Int64?)])
    func dates(_ text: String, _ seconds: Int64?) {
        #expect(HTTPTimestamp(text, now: cacheStart)?.seconds == seconds)
    }

    /// Compared with the calendar of the C library.
    @Test func everyDateIsReadBackAsItWasWritten() {
        var random = SeededGenerator(seed: 41)
        for _ in 0..<2000 {
            let seconds = Int64.random(in: -2_000_000_000...250_000_000_000, using: &random)
            #expect(HTTPTimestamp(HTTPDate.text(seconds), now: 0)?.seconds == seconds)
        }
    }

    @Test(
        arguments: [
            ("\"a\"", false, "a"), ("W/\"a\"", true, "a"), (" \"\" ", false, ""), ("\"a\\\"", false, "a\\"),
            ("\"W/\"", false, "W/"), ("\"é\"", false, "é"),
            ("a", true, "a"), (" a1+/= ", true, "a1+/="), ("a b", nil, nil), ("a, b", nil, nil), ("\"a", nil, nil),
            ("a\"", nil, nil), ("w/\"a\"", nil, nil), ("W/a", nil, nil),
            ("W\"a\"", nil, nil),
            ("\"a b\"", nil, nil), ("\"a\", \"b\"", nil, nil), ("\"\u{FFFD}\"", nil, nil), ("", nil, nil),
            ("*", nil, nil),
        ] as [(String, Bool?, String?)])
    func entityTags(_ text: String, _ isWeak: Bool?, _ opaque: String?) {
        let tag = EntityTag(text)
        #expect(tag?.isWeak == isWeak)
        #expect(tag?.opaque == opaque)
        if let tag { #expect(EntityTag(tag.text) == tag && tag.text == text.trimmingBlanks()) }
    }

    @Test func tagsAreComparedStronglyAndWeakly() throws {
        let strong = try #require(EntityTag("\"a\""))
        let weak = try #require(EntityTag("W/\"a\""))
        let other = try #require(EntityTag("\"b\""))
        #expect(strong.stronglyMatches(strong) && !weak.stronglyMatches(weak))
        #expect(!strong.stronglyMatches(weak) && !weak.stronglyMatches(strong) && !strong.stronglyMatches(other))
        let bare = try #require(EntityTag("a"))
        #expect(!bare.stronglyMatches(bare) && bare.weaklyMatches(bare) && bare.weaklyMatches(strong))
        #expect(strong.weaklyMatches(weak) && weak.weaklyMatches(weak) && !strong.weaklyMatches(other))
    }

    @Test func listsOfTags() throws {
        let strong = try #require(EntityTag("\"a\""))
        let list = try #require(EntityTag.List("\"b\" , W/\"a\",,\"c,d\""))
        guard case .tags(let tags) = list else { throw CancellationError() }
        #expect(tags.map(\.opaque) == ["b", "a", "c,d"])
        #expect(list.weaklyMatches(strong))
        #expect(EntityTag.List(" * ") == .any)
        #expect(EntityTag.List("") == .tags([]))
        for wrong in ["a", "\"a\" \"b\"", "*, \"a\"", "\"a\", b", "\"a"] { #expect(EntityTag.List(wrong) == nil) }
    }

    @Test(
        arguments: [
            ("bytes 0-0/1", 0..<1, 1), ("bytes 5-9/10", 5..<10, 10), ("BYTES 5-9/*", 5..<10, nil),
            ("bytes */10", nil, 10),
        ] as [(String, Range<Int>?, Int?)])
    func contentRanges(_ text: String, _ range: Range<Int>?, _ total: Int?) throws {
        let content = try #require(ContentRange(text))
        #expect(content.range == range)
        #expect(content.total == total)
    }

    @Test(arguments: [
        "", "bytes", "bytes 5-9", "bytes 9-5/10", "bytes 5-10/10", "bytes */*", "bytes -9/10", "bytes 5-/10",
        "bytes 5-9/10/11", "bytes 5 - 9/10", "bytes=5-9/10", "items 5-9/10", "bytes +5-9/10", "bytes 5-9/-10",
        "bytes 0-9223372036854775807/*", "bytes 0-99999999999999999999/*", "bytes 5-9/10, bytes 5-9/10", "bytes 0-0/",
    ])
    func invalidContentRangesAreRefused(_ text: String) { #expect(ContentRange(text) == nil) }

    @Test(
        arguments: [
            ("120", 120), (" 0 ", 0), ("99999999999999999999", DeltaSeconds.most), (date(60), 60), (date(-60), 0),
            ("Friday, 15-Jan-27 08:00:07 GMT", 7), ("", nil), ("-1", nil), ("1.5", nil), ("soon", nil), ("1 s", nil),
            ("Fri, 31 Dec 9999 23:59:59 GMT", DeltaSeconds.most),
        ] as [(String, Int64?)])
    func retryAfter(_ text: String, _ seconds: Int64?) {
        #expect(RetryAfter.delay(text, now: cacheStart) == seconds.map { .seconds($0) })
        #expect(RetryAfter.delay(nil, now: cacheStart) == nil)
    }

    @Test func directivesOfAllKinds() {
        let control = CacheControl(
            "PUBLIC, private=\"Set-Cookie\", no-cache=\"A, b\", max-age=1, min-fresh=2, max-stale, immutable, "
                + "stale-while-revalidate=3, stale-if-error=\"4\", only-if-cached, must-revalidate, must-understand, no-store"
        )
        #expect(control.isPublic && !control.isPrivate && control.immutable && control.onlyIfCached)
        #expect(control.mustRevalidate && control.mustUnderstand && control.noStore)
        #expect(control.noCache == .fields(["a", "b"]))
        #expect(control.maxAge == 1 && control.minFresh == 2 && control.maxStale == .max)
        #expect(control.staleWhileRevalidate == 3 && control.staleIfError == 4)
        #expect(CacheControl(nil) == CacheControl("") && CacheControl(nil).maxAge == nil)
        #expect(CacheControl("max-stale=9").maxStale == 9)
        #expect(CacheControl("s-maxage=8, max-age=7, s-maxage=9").sharedMaxAge == 8)
        #expect(CacheControl("s-maxage=soon").sharedMaxAge == 0 && control.sharedMaxAge == nil)
    }

    /// Such a string once hid all that followed it.
    @Test(arguments: ["ext=\"a, no-store", "\"a, no-store", "a b\"c, d=e, no-store"])
    func aQuotedStringWithoutAnEndHidesNothing(value: String) { #expect(CacheControl(value).noStore) }

    /// A directive that permits something counts only when it is well-formed. A directive that forbids something counts
    /// in any form.
    @Test func wrongArgumentsMakeNothingLaxer() {
        let wrong = CacheControl("public=1, immutable=x, must-understand x, no-store=0, must-revalidate=no, private=\"")
        #expect(!wrong.isPublic && !wrong.immutable && !wrong.mustUnderstand)
        #expect(wrong.noStore && wrong.mustRevalidate && wrong.isPrivate)
    }

    @Test func varyIsASetOfNames() {
        #expect(VaryRule("b, A ,a,,B") == .fields(["a", "b"]))
        #expect(VaryRule(nil) == .fields([]) && VaryRule(" ") == .fields([]))
        #expect(VaryRule("*") == .never && VaryRule("a, *") == .never && VaryRule("a b") == .never)
        #expect(VaryRule.normalised(" a ,  b,\"c , d\" ") == "a,b,\"c , d\"")
    }
}
