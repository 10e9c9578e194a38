import Testing
import WebImageTesting

@testable import WebImageDownload

/// Header fields put together from random pieces. Each is parsed without a crash, and what was parsed is parsed to the
/// same again.
@Suite struct FieldFuzzTests {
    private static let pieces = [
        "max-age", "no-store", "no-cache", "private", "stale-if-error", "=", ",", "\"", "\\", " ", "\t", "0", "9",
        "99999999999999999999", "-", "*", "/", "W/", "bytes", "\u{FFFD}", "é", ";", ":", "GMT", "Sun", "Sunday", "Nov",
        "06", "08:49:37", "1994", "06-Nov-94", "\0", "a", "x-y", "(", "\r", "\n", "accept", "etag",
    ]

    private func text(_ random: inout SeededGenerator) -> String {
        (0..<random.below(24)).map { _ in Self.pieces[random.below(Self.pieces.count)] }.joined()
    }

    @Test func anyTextIsReadBySomeRule() {
        var random = SeededGenerator(seed: 20_270_115)
        for _ in 0..<20_000 {
            let text = text(&random)
            let control = CacheControl(text)
            #expect(control == CacheControl(text))
            for seconds in [control.maxAge, control.minFresh, control.staleIfError, control.staleWhileRevalidate] {
                #expect((0...DeltaSeconds.most).contains(seconds ?? 0), "\(text)")
            }
            if let tag = EntityTag(text) { #expect(EntityTag(tag.text) == tag, "\(text)") }
            if let range = ContentRange(text)?.range { #expect(!range.isEmpty && range.lowerBound >= 0, "\(text)") }
            if let time = HTTPTimestamp(text, now: cacheStart) {
                #expect(HTTPTimestamp(HTTPDate.text(time.seconds), now: 0) == time, "\(text)")
            }
            if let delay = RetryAfter.delay(text, now: cacheStart) { #expect(delay >= .zero, "\(text)") }
            let once = VaryRule.normalised(text)
            #expect(VaryRule.normalised(once) == once, "\(text)")
            _ = EntityTag.List(text)
        }
    }

    /// Whatever a head says, the entry that is made of it can be encoded, decoded and judged at any time, and its
    /// restrictions hold.
    @Test func anyHeadIsJudged() {
        var random = SeededGenerator(seed: 7)
        let names = ["Cache-Control", "Age", "Date", "Expires", "ETag", "Last-Modified", "Vary"]
        for _ in 0..<4000 {
            let lines = names.filter { _ in random.below(2) == 0 }.map { name in
                let valid = name == "Date" || name == "Expires" ? date(Int64(random.below(400)) - 200) : "max-age=100"
                return name + ": " + (random.below(2) == 0 ? text(&random) : valid)
            }
            guard let entry = storedResponse(lines, mode: .cacheFirst) else { continue }
            #expect(StoredResponse(encoded: entry.encoded()) == entry, "\(lines)")
            #expect(!entry.control.noStore || entry.control.mustUnderstand, "\(lines)")
            for now in [cacheStart, .min, .max, cacheStart + 50, 0] {
                #expect(cacheRules.age(of: entry, now: now) >= 0)
                guard case .serve = cacheRules.decide(.httpRules, CacheRequest(), stored: entry, now: now) else {
                    continue
                }
                #expect(cacheRules.remaining(entry, now: now) > 0, "\(lines)")
                #expect(entry.control.noCache != .everything, "\(lines)")
            }
        }
    }

    @Test func anyBytesAreAnEntryOrNot() throws {
        var random = SeededGenerator(seed: 3)
        let entry = try #require(
            storedResponse(
                ["ETag: \"a\"", "Vary: a"], request: CacheRequest(credentialScope: "anna"),
                arrival: arrival(redirects: [head(302)])))
        let bytes = entry.encoded()
        #expect(StoredResponse(encoded: bytes) == entry)
        for length in 0..<bytes.count { #expect(StoredResponse(encoded: Array(bytes[..<length])) != entry) }
        for _ in 0..<5000 {
            guard let other = StoredResponse(encoded: bytes.withFlippedBits(1 + random.below(4), by: &random)) else {
                continue
            }
            #expect(StoredResponse(encoded: other.encoded()) == other)
            for now in [Int64.min, 0, cacheStart, .max] {
                _ = cacheRules.decide(.httpRules, CacheRequest(), stored: other, now: now)
            }
        }
    }
}
