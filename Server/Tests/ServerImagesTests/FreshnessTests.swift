import Foundation
import ServerConfiguration
import ServerGrammar
import Testing
import WebImage

@testable import ServerImages

@Suite struct FreshnessTests {
    @Test(
        arguments: [
            ("max-age=60", nil, nil, 60), ("s-maxage=5, max-age=60", nil, nil, 5), ("no-cache", nil, nil, 0),
            ("max-age=60", "20", nil, 40), (nil, nil, "Thu, 01 Jan 1970 00:18:20 GMT", 100), (nil, nil, "0", 0),
            (nil, nil, nil, 300),
            ("private, max-age=60", nil, nil, 0), ("max-age=-5", nil, nil, 0),
            ("max-age=0, ext=\"a, max-age=3600\"", nil, nil, 0), ("max-age=\"60\"", nil, nil, 60),
            ("max-age=abc", nil, nil, 0),
            ("max-age=0, s-maxage=abc", nil, nil, 0), ("max-age=0, max-age=60", nil, nil, 0),
            ("MAX-AGE = 60", nil, nil, 0),
            ("max-age=99999999999999999999", "400", nil, 31_536_000 - 400), ("max-age=60", "70, 0", nil, 0),
            ("max-age=60", "99999999999999999999", nil, 0), (nil, nil, "Thursday, 01-Jan-70 00:18:20 GMT", 100),
            (nil, nil, "Thu Jan  1 00:18:20 1970", 100),
        ] as [(String?, String?, String?, Int)])
    func lifetimesAreThoseOfTheHeaders(control: String?, age: String?, expires: String?, lifetime: Int) {
        var fields: HTTPFields = [:]
        fields[.cacheControl] = control
        fields[.age] = age
        fields[.expires] = expires
        #expect(
            SourceFreshness(ResponseHead(status: 200, headers: fields), now: 1000, fallback: 300).freshUntil == 1000
                + lifetime)
    }

    /// What a shared cache must not serve stale, or must not keep at all.
    @Test(
        arguments: [
            ("max-age=9", nil, false, false), ("max-age=9, proxy-revalidate", nil, true, false),
            ("s-maxage=9", nil, true, false), ("max-age=9, must-revalidate", nil, true, false),
            ("max-age=9, private", nil, true, true), ("max-age=9, private=\"set-cookie\"", nil, false, false),
            ("max-age=9", "Accept, *", true, true), ("max-age=9, no-store=\"x\"", nil, true, true),
        ] as [(String, String?, Bool, Bool)])
    func directivesForbidStalenessAndStoring(
        control: String, vary: String?, forbidsStaleness: Bool, forbidsStoring: Bool
    ) {
        var fields: HTTPFields = [.cacheControl: control]
        fields[.vary] = vary
        let freshness = SourceFreshness(ResponseHead(status: 200, headers: fields), now: 1000, fallback: 300)
        #expect(freshness.mustRevalidate == forbidsStaleness && freshness.forbidsStoring == forbidsStoring)
    }

    /// The origin may allow less time than the settings, but not more.
    @Test(arguments: [
        ("max-age=10", 100, 100), ("max-age=10, stale-while-revalidate=30", 30, 100),
        ("max-age=10, stale-if-error=0", 100, 0), ("max-age=10, stale-while-revalidate=0, stale-if-error=999", 0, 100),
        ("max-age=10, must-revalidate", 0, 0),
    ])
    func staleResultsAreServedForATime(control: String, renewal: Int, failure: Int) {
        let freshness = SourceFreshness(
            ResponseHead(status: 200, headers: [.cacheControl: control]), now: 1000, fallback: 0)
        for (use, seconds) in [(SourceFreshness.StaleUse.renewal, renewal), (.failure, failure)] {
            for late in [0, 29, 30, 99, 100] {
                #expect(freshness.mayBeServed(for: use, now: 1010 + late, most: 100) == (late < seconds))
            }
        }
    }

    @Test func versionsAreToldApart() {
        func freshness(_ tag: String?, _ modified: String?) -> SourceFreshness {
            var fields: HTTPFields = [:]
            fields[.eTag] = tag
            fields[.lastModified] = modified
            return SourceFreshness(ResponseHead(status: 200, headers: fields), now: 0, fallback: 0)
        }
        let date = HTTPDateText.text(784_111_777)
        func isSame(_ one: SourceFreshness, _ other: SourceFreshness, isSentAgain: Bool = false) -> Bool {
            one.isSameVersion(as: other, isSentAgain: isSentAgain)
        }
        #expect(isSame(freshness("\"a\"", nil), freshness("\"a\"", date)))
        #expect(!isSame(freshness("\"a\"", date), freshness("\"b\"", date)))
        #expect(isSame(freshness(nil, date), freshness(nil, date)))
        // Only a strong tag proves that a source that was sent again is unchanged.
        #expect(isSame(freshness("\"a\"", nil), freshness("\"a\"", nil), isSentAgain: true))
        #expect(!isSame(freshness("W/\"a\"", nil), freshness("W/\"a\"", nil), isSentAgain: true))
        #expect(!isSame(freshness(nil, date), freshness(nil, date), isSentAgain: true))
        #expect(freshness(nil, "yesterday").lastModified == nil)
        #expect(!isSame(freshness(nil, nil), freshness(nil, nil)))
    }

    @Test(arguments: [0, 784_111_777, 951_782_400, 1_709_164_800, 4_102_444_799]) func writtenDatesAreReadBack(
        seconds: Int
    ) {
        #expect(HTTPFieldText.date(HTTPDateText.text(seconds), now: seconds) == seconds)
    }

    @Test func datesAreWrittenAsHTTPHasThem() {
        #expect(HTTPDateText.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDateText.text(951_782_400) == "Tue, 29 Feb 2000 00:00:00 GMT")
    }

    @Test func aResultComesBackFromItsDescription() throws {
        var freshness = SourceFreshness(freshUntil: 99)
        (freshness.eTag, freshness.cacheControl, freshness.expires) = ("\"x\"", "max-age=3", 7)
        let size = PixelSize(width: 3, height: 4)
        let result = StoredResult(
            bytes: [1, 2], mediaType: "image/png", fileExtension: "png", storedAt: 5, freshness: freshness,
            sourceSize: size, resultSize: PixelSize(width: 1, height: 2), sourceBytes: 17)
        let read = try #require(StoredResult([1, 2], description: result.description))
        #expect(read.description == result.description)
        #expect(read.eTag == result.eTag)
        #expect(read.freshness == freshness)
        #expect(StoredResult([], description: Array("0\nx".utf8)) == nil)
        // Sums with numbers from the storage must not overflow.
        let lines = String(decoding: result.description, as: UTF8.self).components(separatedBy: "\n")
        for index in [4, 5, 16, 17, 19] {
            for number in ["\(Int.min)", "\(Int.max)"] {
                var lines = lines
                lines[index] = number
                #expect(StoredResult([], description: Array(lines.joined(separator: "\n").utf8)) == nil)
            }
        }
    }
}

@Suite struct ResultMemoryTests {
    private func result(_ count: Int) -> StoredResult {
        let size = PixelSize(width: 1, height: 1)
        return StoredResult(
            bytes: [UInt8](repeating: 0, count: count), mediaType: "", fileExtension: "", storedAt: 0,
            freshness: SourceFreshness(freshUntil: 0), sourceSize: size, resultSize: size, sourceBytes: 0)
    }

    @Test func theMemoryLimitHoldsAndReusedResultsStay() {
        let memory = ResultMemory(limit: 20 * 1512)
        memory.keep(result(1000), "wanted")
        #expect(memory.result("wanted") != nil)
        for number in 0..<500 {
            memory.keep(result(1000), "\(number)")
            #expect(memory.cost <= 20 * 1512)
        }
        #expect(memory.result("wanted") != nil)
        #expect(memory.result("499") != nil)
        #expect(memory.result("0") == nil)
    }

    /// A result that has grown too long for memory removes the older one, which would otherwise be served, or found
    /// stale, each time.
    @Test(arguments: [false, true]) func aResultGrownTooLongRemovesTheOldOne(isWantedAgain: Bool) {
        let memory = ResultMemory(limit: 1 << 20)
        memory.keep(result(1000), "a")
        if isWantedAgain { #expect(memory.result("a") != nil) }
        memory.keep(result(600_000), "a")
        #expect(memory.result("a") == nil && memory.cost == 0)
    }

    @Test func aRandomWalkNeverPassesTheLimit() {
        let memory = ResultMemory(limit: 50_000)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<5000 {
            let key = "\(Int.random(in: 0..<60, using: &random))"
            switch Int.random(in: 0..<4, using: &random) {
            case 0: memory.keep(result(Int.random(in: 0..<9000, using: &random)), key)
            case 1: memory.remove(key)
            default: _ = memory.result(key)
            }
            #expect(memory.cost <= 50_000 && memory.cost >= 0)
        }
        for key in 0..<60 { memory.remove("\(key)") }
        #expect(memory.cost == 0)
    }
}
