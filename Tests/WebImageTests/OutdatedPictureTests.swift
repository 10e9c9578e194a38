import HTTPTypes
import Testing
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Pictures in memory follow later answers of the origin to other requests for the same original.
@Suite struct OutdatedPictureTests {
    private let url = "http://pictures.test/a.png"
    private let folder: TemporaryFolder
    private let (old, new): ([UInt8], [UInt8])

    init() throws {
        folder = try TemporaryFolder()
        (old, new) = (try Fixture.png(40, 30), try Fixture.png(80, 60))
    }

    private func answer(_ bytes: [UInt8], _ fields: [(HTTPField.Name, String)]) -> FakeAnswer {
        var headers = HTTPFields()
        for (name, value) in fields { headers[name] = value }
        return .bytes(bytes, contentType: "image/png", headers: headers)
    }

    private func request(_ policy: CachePolicy, width: Int? = nil) -> ImageRequest {
        ImageRequest(url) {
            $0.caching.policy = policy
            $0.size = width.map { TargetSize(width: $0) }
        }
    }

    private static let kept: [(HTTPField.Name, String)] = [(.cacheControl, "max-age=3600"), (.eTag, "\"a\"")]

    /// A picture that may no longer be stored, or is gone at the origin, is not served from memory.
    @Test(arguments: [CachePolicy.reload, .revalidate], ["no-store", "vary", "404", "410"])
    func aPictureThatIsGoneOrNoLongerStorableIsNotServed(_ policy: CachePolicy, _ change: String) async throws {
        let bench = TestBench(disk: folder.path)
        let second: FakeAnswer =
            switch change {
            case "no-store": answer(new, [(.cacheControl, "no-store")])
            case "vary": answer(new, [(.vary, "*")])
            default: .status(Int(change) ?? 404)
            }
        bench.transport.answer(url, answer(old, Self.kept), second, answer(new, Self.kept))
        for width in [nil, 20] { _ = try await bench.manager.image(for: request(.protocol, width: width)) }
        #expect(bench.transport.hits(url) == 1)
        _ = try? await bench.manager.image(for: request(policy))
        await bench.manager.finishStores()
        for width in [nil, 20] {
            let only = try? await bench.manager.image(for: request(.cacheOnly, width: width))
            #expect(only == nil && bench.manager.cachedImage(for: request(.protocol, width: width)) == nil)
        }
        bench.manager.failedURLs.removeAll()
        #expect(try await bench.manager.image(for: request(.protocol)).image.size.width == 80)
    }

    /// All sizes are made from the newest body.
    @Test(arguments: [CachePolicy.protocol, .cacheFirst], [CachePolicy.reload, .revalidate])
    func anotherSizeIsMadeOfTheNewBody(_ policy: CachePolicy, _ asking: CachePolicy) async throws {
        let bench = TestBench(disk: folder.path)
        bench.transport.answer(
            url, answer(old, Self.kept), answer(new, [(.cacheControl, "max-age=3600"), (.eTag, "\"b\"")]))
        let small = try await bench.manager.image(for: request(policy, width: 20))
        #expect(bench.manager.cachedImage(for: request(policy, width: 20))?.storage === small.image.storage)
        #expect(try await bench.manager.image(for: request(asking)).image.size.width == 80)
        await bench.manager.finishStores()
        let again = try await bench.manager.image(for: request(policy, width: 20))
        #expect(again.source == .disk && again.image.storage !== small.image.storage)
        #expect(bench.manager.cachedImage(for: request(policy, width: 20))?.storage === again.image.storage)
        #expect(bench.transport.hits(url) == 2)
    }

    /// Pictures that had come into memory from entries on disk once stayed beside those of a newer body.
    @Test(arguments: [true, false], ["b", "404"])
    func aPictureFromDiskIsOutdatedByANewBody(ofCache: Bool, _ change: String) async throws {
        let first = TestBench(disk: folder.path)
        first.transport.answer(url, answer(old, Self.kept))
        var small = request(.cacheFirst, width: 20)
        small.caching.store = .all
        _ = try await first.manager.image(for: small)
        await first.manager.finishStores()
        // The next process.
        let bench = TestBench(disk: folder.path)
        bench.transport.answer(
            url, change == "404" ? .status(404) : answer(new, [(.cacheControl, "max-age=3600"), (.eTag, "\"b\"")]))
        if ofCache {
            #expect(try await bench.manager.cache.image(for: small)?.source == .disk)
        } else {
            #expect(try await bench.manager.image(for: small).source == .disk)
        }
        #expect(bench.manager.cachedImage(for: small) != nil && bench.transport.requests.isEmpty)
        _ = try? await bench.manager.image(for: request(.reload, width: 10))
        #expect(bench.transport.hits(url) == 1)
        #expect(bench.manager.cachedImage(for: small) == nil)
    }

    /// If the origin sends no validators, a new body after the old one became stale replaces it for all sizes.
    @Test func aNewBodyReplacesAStalePictureInAllSizes() async throws {
        let clock = ManualClock()
        let bench = TestBench(disk: folder.path, clock: clock)
        let fields: [(HTTPField.Name, String)] = [(.cacheControl, "max-age=1")]
        bench.transport.answer(url, answer(old, fields), answer(new, fields))
        for width in [nil, 20] { _ = try await bench.manager.image(for: request(.protocol, width: width)) }
        #expect(bench.transport.hits(url) == 1)
        clock.advance(by: .seconds(3))
        #expect(try await bench.manager.image(for: request(.protocol)).image.size.width == 80)
        await bench.manager.finishStores()
        #expect(bench.manager.cachedImage(for: request(.cacheFirst, width: 20)) == nil)
        #expect(bench.manager.cachedImage(for: request(.cacheFirst))?.size.width == 80)
        #expect(try await bench.manager.image(for: request(.cacheFirst, width: 20)).source == .disk)
        #expect(bench.transport.hits(url) == 2)
    }

    /// Without a disk cache, two sizes are two transfers, and neither removes the other's picture from memory.
    @Test func sizesOfAnOriginWithoutValidatorsStayBesideEachOther() async throws {
        let bench = TestBench()
        bench.transport.answer(url, answer(old, [(.cacheControl, "max-age=3600")]))
        for _ in 0..<3 {
            for width in [10, 20] { _ = try await bench.manager.image(for: request(.protocol, width: width)) }
        }
        #expect(bench.transport.hits(url) == 2)
    }

    /// A 304 for one size also renews the others.
    @Test func a304RenewsAllSizes() async throws {
        let clock = ManualClock(wallTime: SystemClock.shared.wallTime)
        let bench = TestBench(disk: folder.path, clock: clock)
        let fields: [(HTTPField.Name, String)] = [(.cacheControl, "max-age=10"), (.eTag, "\"a\"")]
        bench.transport.answer(url, answer(old, fields), .status(304), .status(500))
        for width in [10, 20] { _ = try await bench.manager.image(for: request(.protocol, width: width)) }
        await bench.manager.finishStores()
        clock.advance(by: .seconds(11))
        for width in [10, 20] {
            #expect(try await bench.manager.image(for: request(.protocol, width: width)).source == .memory)
        }
        #expect(bench.transport.hits(url) == 2)
    }

    @Test func aRecordIsOutdatedByANewerAnswerWithAnotherTag() {
        func response(_ tag: String?, at time: Int64) -> StoredResponse {
            StoredResponse(
                status: 200, fields: tag.map { [.init(name: "etag", value: $0)] } ?? [], requestTime: time,
                responseTime: time)
        }
        let (book, key) = (AnswerBook(), CacheKey("a"))
        let first = book.record(of: key, response("\"a\"", at: 1))
        #expect(book.record(of: key, response("\"a\"", at: 5)) === first && first.response.responseTime == 5)
        // An answer older than the recorded one changes nothing.
        #expect(book.record(of: key, response("\"b\"", at: 2)) !== first && !first.isOutdated)
        // But if it is of another body, it has come too late: its pictures must not replace those of the newer one.
        #expect(book.record(of: key, response("\"b\"", at: 2)).isOutdated)
        #expect(
            book.hasReplaced(response("\"b\"", at: 2), of: key) && !book.hasReplaced(response("\"b\"", at: 6), of: key))
        var outdatings = [AnswerBook().outdatings, book.outdatings]
        let second = book.record(of: key, response("\"b\"", at: 6))
        #expect(second !== first && first.isOutdated && !second.isOutdated)
        outdatings.append(book.outdatings)
        book.outdate(key)
        #expect(second.isOutdated)
        outdatings.append(book.outdatings)
        // Each change gives a new number, and no two books have the same.
        #expect(Set(outdatings).count == 4 && outdatings[1...].elementsEqual(outdatings[1...].sorted()))
        let plain = book.record(of: key, response(nil, at: 7))
        #expect(book.record(of: key, response(nil, at: 8)) !== plain && !plain.isOutdated)
        #expect(book.record(of: key, response(nil, at: 9), replaces: true).isOutdated == false)
    }
}
