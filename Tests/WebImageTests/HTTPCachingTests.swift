import HTTPTypes
import Testing
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// The rules of HTTP caching as a caller sees them, with a clock that the test sets (findings H1 to H7; RFC 9111, RFC
/// 5861).
@Suite struct HTTPCachingTests {
    private let url = "http://pictures.test/a.png"
    private let clock = ManualClock(wallTime: SystemClock.shared.wallTime)

    private func makeBench(
        _ disk: TemporaryFolder?, fields: HTTPFields, status: Int = 200,
        change: (inout ImageManager.Configuration) -> Void = { _ in }
    ) throws -> (TestBench, ChangingOrigin) {
        let bench = TestBench(disk: disk?.path, clock: clock, change: change)
        let origin = ChangingOrigin(bench.transport, body: try Fixture.png(16, 16), fields: fields)
        return (bench, origin)
    }

    private func request(_ policy: CachePolicy = .protocol, _ fields: HTTPFields = [:]) -> ImageRequest {
        var request = ImageRequest(url)
        request.caching.policy = policy
        request.http.headers = fields
        return request
    }

    // MARK: Answers to conditional requests

    @Test(arguments: [true, false]) func aRequestsOwnConditionEndsInNotModified(wantsBytes: Bool) async throws {
        let bench = TestBench()
        bench.transport.answer(url, .status(304, headers: [.eTag: "\"a\""]))
        let request = request(.cacheFirst, [.ifNoneMatch: "\"a\""])
        let error = await #expect(throws: WebImageError.self) {
            if wantsBytes { return try await bench.manager.data(for: request).count }
            return try await bench.manager.image(for: request).image.size.width
        }
        #expect(error?.code == .notModified)
    }

    /// The cached picture is served once more, without fetching its bytes again.
    @Test(arguments: [[.cacheControl: "no-store"], [.vary: "*"]] as [HTTPFields])
    func anEntryThatA304ForbidsToKeepIsServedOnce(fields: HTTPFields) async throws {
        var fields = fields
        fields[.eTag] = "\"a\""
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path, clock: clock)
        let picture = FakeAnswer.bytes(
            try Fixture.png(16, 16), contentType: "image/png",
            headers: [.eTag: "\"a\"", .cacheControl: "max-age=1"])
        bench.transport.answer(url, picture, .status(304, headers: fields), picture)
        _ = try await bench.manager.image(for: request())
        await bench.manager.finishStores()
        for count in [2, 3] {
            clock.advance(by: .seconds(10))
            bench.manager.memoryCache.removeAll()
            let response = try await bench.manager.image(for: request())
            #expect(response.source == (count == 2 ? .disk : .network) && bench.transport.requests.count == count)
            await bench.manager.finishStores()
        }
    }

    /// Two different pictures may have the same date or weak tag, but not the same strong tag.
    @Test(
        arguments: [
            ([.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"], false), ([.eTag: "W/\"a\""], false),
            ([.eTag: "\"a\""], true),
        ] as [(HTTPFields, Bool)])
    func aReloadOutdatesOtherSizesUnlessTheStrongTagIsEqual(fields: HTTPFields, isTheSame: Bool) async throws {
        let bench = TestBench(clock: clock)
        bench.answer(url, with: try Fixture.png(16, 16), type: "image/png", fields: fields)
        _ = try await bench.manager.image(for: request(.cacheFirst))
        clock.advance(by: .seconds(10))
        var small = request(.reload)
        small.size = TargetSize(width: 8)
        _ = try await bench.manager.image(for: small)
        #expect((bench.manager.cachedImage(for: request(.cacheFirst)) != nil) == isTheSame)
    }

    // MARK: H1

    @Test func anAnswerFromTheDiskTellsItsCurrentAge() async throws {
        let folder = try TemporaryFolder()
        let (bench, _) = try makeBench(folder, fields: [.cacheControl: "max-age=600", .age: "5"])
        #expect(try await bench.manager.image(for: request()).head?[.age] == "5")
        await bench.manager.finishStores()
        clock.advance(by: .seconds(30))
        bench.manager.memoryCache.removeAll()
        let stored = try await bench.manager.image(for: request())
        #expect(stored.source == .disk && stored.head?[.age] == "35")
    }

    @Test func anAgeIsToldWhereTheOriginToldNone() async throws {
        let folder = try TemporaryFolder()
        let (bench, _) = try makeBench(folder, fields: [.cacheControl: "max-age=10, stale-while-revalidate=600"])
        _ = try await bench.manager.image(for: request())
        await bench.manager.finishStores()
        clock.advance(by: .seconds(100))
        var bytes = request()
        bytes.includesData = true
        bench.manager.memoryCache.removeAll()
        let stale = try await bench.manager.image(for: bytes)
        #expect(stale.head?[.age] == "100")
    }

    // MARK: H3

    @Test func anAccepted404IsStored() async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path, clock: clock)
        let body = try Fixture.png(16, 16)
        bench.transport.answer(
            url, .status(404, body: body, headers: [.contentType: "image/png", .cacheControl: "max-age=600"]))
        var request = request()
        request.http.acceptableStatuses = [200, 404]
        #expect(try await bench.manager.image(for: request).source == .network)
        await bench.manager.finishStores()
        bench.manager.memoryCache.removeAll()
        #expect(try await bench.manager.image(for: request).source == .disk)
        #expect(bench.transport.hits(url) == 1)
    }

    // MARK: H5

    @Test(arguments: [
        ("no-cache", 0, [1, 1]), ("max-age=0", 5, [1, 1]), ("max-age=9", 5, [1, 0]), ("min-fresh=50", 20, [1, 1]),
        ("min-fresh=50", 5, [1, 0]), ("max-stale=50", 100, [1, 0]), ("max-stale=50", 200, [1, 1]),
        ("max-stale", 9999, [1, 0]), ("only-if-cached", 5, [1, 0]), ("only-if-cached, max-stale", 100, [1, 0]),
    ])
    func cacheControlOfARequestDecidesAboutItsEntry(_ control: String, _ after: Int, _ counts: [Int]) async throws {
        for hasDisk in [true, false] {
            let folder = hasDisk ? try TemporaryFolder() : nil
            let (bench, origin) = try makeBench(folder, fields: [.cacheControl: "max-age=60"])
            _ = try await bench.manager.image(for: request())
            await bench.manager.finishStores()
            clock.advance(by: .seconds(after))
            let asked = request(.protocol, [.cacheControl: control])
            let wasFresh = bench.manager.cachedImage(for: asked) != nil
            #expect(try await bench.manager.image(for: asked).source == .memory)
            #expect(origin.counts == counts && wasFresh == (counts[1] == 0), "\(control)")
            // The directives are also sent, for the caches on the way.
            if counts[1] > 0 { #expect(origin.lastFields[.cacheControl] == control) }
        }
    }

    @Test func onlyIfCachedIsAMissWithoutAFreshEntry() async throws {
        let (bench, origin) = try makeBench(nil, fields: [.cacheControl: "max-age=60"])
        let asked = request(.protocol, [.cacheControl: "only-if-cached"])
        for count in [0, 1] {
            let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: asked) }
            #expect(error?.code == .cacheMiss && origin.counts == [count, 0])
            _ = try await bench.manager.image(for: request(.reload))
            clock.advance(by: .seconds(61))
        }
    }

    @Test func aRequestWithNoStoreLeavesNothing() async throws {
        let folder = try TemporaryFolder()
        let (bench, origin) = try makeBench(folder, fields: [.cacheControl: "max-age=60"])
        _ = try await bench.manager.image(for: request(.protocol, [.cacheControl: "no-store"]))
        await bench.manager.finishStores()
        #expect(bench.manager.diskCache?.usage.count == 0 && bench.manager.memoryCache.count == 0)
        _ = try await bench.manager.image(for: request())
        #expect(origin.counts == [2, 0])
    }

    /// The headers of such a 304 were once stored.
    @Test func aConfirmationOfARequestWithNoStoreRenewsNothing() async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path, clock: clock)
        bench.transport.answer(
            url,
            .bytes(
                try Fixture.png(16, 16), contentType: "image/png",
                headers: [.cacheControl: "max-age=1", .eTag: "\"1\""]),
            .status(304, headers: [.cacheControl: "max-age=600", .eTag: "\"1\""]))
        _ = try await bench.manager.image(for: request())
        await bench.manager.finishStores()
        clock.advance(by: .seconds(10))
        bench.manager.memoryCache.removeAll()
        let checked = try await bench.manager.image(for: request(.protocol, [.cacheControl: "no-store"]))
        await bench.manager.finishStores()
        #expect(checked.source == .disk && bench.transport.hits(url) == 2)
        bench.manager.memoryCache.removeAll()
        _ = try await bench.manager.image(for: request())
        #expect(bench.transport.hits(url) == 3, "the entry is still as old as before")
    }

    // MARK: H7

    private static let named = KeptHeaders(
        ["Content-Disposition", "Set-Cookie", "Link"].compactMap { HTTPField.Name($0) })

    @Test(
        arguments: [
            (KeptHeaders.standard, []), (Self.named, ["content-disposition", "link"]),
            (.all, ["content-disposition", "link", "x-author"]),
        ] as [(KeptHeaders, [String])])
    func keptHeadersDecideWhichFieldsAreStored(_ kept: KeptHeaders, _ further: [String]) async throws {
        let folder = try TemporaryFolder()
        var fields: HTTPFields = [
            .cacheControl: "max-age=60", .setCookie: "a=b", .contentDisposition: "inline", .connection: "X-Hop",
        ]
        for (name, value) in [("Link", "<a>; rel=b"), ("X-Author", "anna"), ("X-Hop", "1")] {
            fields[try #require(HTTPField.Name(name))] = value
        }
        let (bench, origin) = try makeBench(folder, fields: fields) { $0.keptHeaders = kept }
        _ = try await bench.manager.image(for: request())
        await bench.manager.finishStores()
        bench.manager.memoryCache.removeAll()
        let head = try #require(try await bench.manager.image(for: request()).head)
        let needed = ["age", "cache-control", "content-type", "etag"]
        #expect(Set(head.headers.map(\.name.canonicalName)) == Set(needed + further))
        // A 304 replaces the kept fields (RFC 9111 section 3.2).
        origin.change { $0.fields[.contentDisposition] = "attachment" }
        clock.advance(by: .seconds(100))
        bench.manager.memoryCache.removeAll()
        let renewed = try await bench.manager.image(for: request())
        #expect(origin.counts == [1, 1])
        #expect(
            renewed.head?[.contentDisposition] == (further.contains("content-disposition") ? "attachment" : nil))
    }

    // MARK: RFC 5861

    @Test func aStaleEntryIsServedToEveryCallerWhileItIsRenewed() async throws {
        let (bench, origin) = try makeBench(
            try TemporaryFolder(), fields: [.cacheControl: "max-age=10, stale-while-revalidate=60"])
        _ = try await bench.manager.image(for: request())
        await bench.manager.finishStores()
        clock.advance(by: .seconds(30))
        for _ in 0..<5 { #expect(try await bench.manager.image(for: request()).source == .memory) }
        #expect(await eventually { bench.manager.runningLoads == 0 && origin.counts[1] >= 1 })
        #expect(bench.manager.cachedImage(for: request()) != nil)
        // A load that found the entry stale just before its renewal ended may ask once more.
        #expect(origin.counts[0] == 1 && (1...2).contains(origin.counts[1]))
    }

    @Test(arguments: [(50, true), (70, false)])
    func staleIfErrorOfARequestAllowsAnEntryOfThatAge(_ after: Int, _ mayStandIn: Bool) async throws {
        let (bench, origin) = try makeBench(try TemporaryFolder(), fields: [.cacheControl: "max-age=10"])
        _ = try await bench.manager.image(for: request())
        await bench.manager.finishStores()
        clock.advance(by: .seconds(after))
        origin.change { $0.outage = .status(503) }
        let asked = request(.protocol, [.cacheControl: "stale-if-error=50"])
        #expect(((try? await bench.manager.image(for: asked)) != nil) == mayStandIn)
        // A request that does not allow a stale answer gets the error.
        await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request()) }
    }

    /// After another load of the URL has failed, the origin is not asked again for a while.
    @Test(arguments: ["max-age=0, stale-if-error=600", "max-age=0"])
    func anEntryStandsInAlsoWhileTheURLIsBlocked(_ control: String) async throws {
        let (bench, origin) = try makeBench(try TemporaryFolder(), fields: [.cacheControl: control])
        _ = try await bench.manager.image(for: request())
        await bench.manager.finishStores()
        origin.change { $0.outage = .status(503, headers: [.retryAfter: "600"]) }
        let failed = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request(.reload)) }
        #expect(failed?.code == .badStatus && bench.manager.failedURLs.list().count == 1)
        clock.advance(by: .seconds(10))
        do throws(WebImageError) {
            _ = try await bench.manager.image(for: request())
            #expect(control.contains("stale-if-error"))
        } catch {
            #expect(error.code == .blockedURL && control == "max-age=0")
        }
    }
}
