import Synchronization
import Testing
import WebImageCache
import WebImageCore

struct MemoryVariantsTests {
    private static let original = PixelSize(width: 1600, height: 1200)
    private let group = CacheKey("https://example.com/a.jpg")

    private static func variant(
        _ width: Int, _ height: Int, _ fit: ImageFit = .contain, group: CacheKey = CacheKey("https://example.com/a.jpg")
    ) -> ImageVariant {
        ImageVariant(
            group: group, size: PixelSize(width: width, height: height), fit: fit, originalSize: original)
    }

    struct Case: CustomTestStringConvertible {
        let have: (Int, Int, ImageFit)
        let wanted: (Int, Int, ImageFit)
        let fitness: VariantFitness?
        var testDescription: String { "\(have) for \(wanted)" }
    }

    @Test(arguments: [
        Case(have: (400, 300, .contain), wanted: (400, 300, .contain), fitness: .exact),
        Case(have: (400, 300, .contain), wanted: (401, 301, .contain), fitness: .exact),
        Case(have: (400, 300, .contain), wanted: (399, 299, .contain), fitness: .exact),
        Case(have: (400, 300, .contain), wanted: (402, 301, .contain), fitness: .placeholder),
        Case(have: (400, 300, .contain), wanted: (398, 298, .contain), fitness: .covering),
        Case(have: (400, 300, .contain), wanted: (200, 150, .contain), fitness: .covering),
        Case(have: (400, 300, .contain), wanted: (199, 149, .contain), fitness: .source),
        Case(have: (400, 300, .contain), wanted: (1600, 1200, .contain), fitness: .placeholder),
        Case(have: (400, 300, .cover), wanted: (200, 150, .cover), fitness: .covering),
        Case(have: (300, 300, .cover), wanted: (200, 150, .cover), fitness: nil),
        Case(have: (300, 300, .cover), wanted: (200, 150, .contain), fitness: nil),
        Case(have: (400, 300, .contain), wanted: (300, 300, .cover), fitness: nil),
        Case(have: (1600, 1200, .contain), wanted: (300, 300, .cover), fitness: .source),
        Case(have: (1600, 1200, .contain), wanted: (1800, 300, .fill), fitness: nil),
        Case(have: (400, 300, .contain), wanted: (200, 150, .cover), fitness: .covering),
        Case(have: (0, 0, .contain), wanted: (200, 150, .contain), fitness: nil),
        Case(have: (400, 300, .contain), wanted: (0, 150, .contain), fitness: nil),
    ])
    func aVariantsFitnessFollowsFromSizeAndFit(_ one: Case) {
        let have = Self.variant(one.have.0, one.have.1, one.have.2)
        let wanted = PixelSize(width: one.wanted.0, height: one.wanted.1)
        #expect(VariantFitness(have, wanted: wanted, fit: one.wanted.2) == one.fitness)
    }

    private func makeCache(widths: [Int]) throws -> MemoryCache {
        let cache = MemoryCache(limits: .init(cost: .mebibytes(1)), remembersHeld: false)
        for width in widths {
            cache.store(
                try makeImage(bytes: 400), for: CacheKey("\(width)"), variant: Self.variant(width, width * 3 / 4))
        }
        return cache
    }

    private func found(_ cache: MemoryCache, _ width: Int, atLeast: VariantFitness = .covering) -> String? {
        cache.variant(in: group, fit: .contain, atLeast: atLeast) { _ in
            PixelSize(width: width, height: width * 3 / 4)
        }?.key.text
    }

    @Test func theSmallestThatCoversAnswersElseTheLargestThatDoesNot() throws {
        let cache = try makeCache(widths: [1600, 400, 800, 100])
        #expect(found(cache, 400) == "400")
        #expect(found(cache, 300) == "400")
        #expect(found(cache, 150) == nil)
        #expect(found(cache, 150, atLeast: .source) == "400")
        #expect(found(cache, 900) == "1600")
        #expect(found(cache, 3200) == nil)
        #expect(found(cache, 3200, atLeast: .placeholder) == "1600")
        #expect(cache.variant(in: CacheKey("other"), fit: .contain) { $0 } == nil)
    }

    @Test func theLookupPassesTheOriginalsSizeToItsClosure() throws {
        let cache = try makeCache(widths: [800])
        let match = cache.variant(in: group, fit: .contain) { original in
            PixelSize(width: original.width / 2, height: original.height / 2)
        }
        #expect(match?.fitness == .exact)
    }

    @Test func ofOnePictureFourSizesAreKept() throws {
        let cache = try makeCache(widths: [100, 200, 400, 800, 1600])
        #expect(cache.count == 4 && !cache.contains(CacheKey("100")) && cache.fault() == nil)
        cache.store(
            try makeImage(bytes: 400), for: CacheKey("elsewhere"),
            variant: Self.variant(100, 75, group: CacheKey("other")))
        #expect(cache.count == 5 && cache.fault() == nil)
    }

    @Test func aRemovedSizeIsNoLongerServed() throws {
        let cache = try makeCache(widths: [400, 800])
        cache.remove(CacheKey("400"))
        #expect(found(cache, 400) == "800")
        cache.removeAll()
        #expect(found(cache, 400) == nil && cache.fault() == nil)
    }
}
