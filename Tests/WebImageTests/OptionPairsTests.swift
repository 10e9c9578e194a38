import HTTPTypes
import Synchronization
import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Options of one request, or of requests that share work, which once spoiled each other.
@Suite struct OptionPairsTests {
    private let url = "http://pictures.test/a"
    private let folder: TemporaryFolder
    private let body: [UInt8]

    init() throws {
        folder = try TemporaryFolder()
        body = try Fixture.png(64, 48)
    }

    private func makeBench(
        files: any FileSystem = PosixFileSystem(), change: (inout ImageManager.Configuration) -> Void = { _ in }
    ) -> TestBench {
        let bench = TestBench(disk: folder.path, files: files, change: change)
        bench.answer(url, with: body, type: "image/png", fields: [.cacheControl: "max-age=600, public"])
        return bench
    }

    private func source(_ bench: TestBench, _ request: ImageRequest) async throws -> ImageSource {
        try await bench.manager.image(for: request).source
    }

    /// A request whose finished picture is stored on disk, too.
    private func keptOnDisk(width: Int) -> ImageRequest {
        var request = ImageRequest(url, size: TargetSize(width: width))
        request.caching.store = .all
        return request
    }

    // MARK: Finished pictures on disk

    /// A finished picture was once taken for the whole of its original, of which a larger size has no more pixels.
    @Test(arguments: [false, true])
    func aSmallPictureFromDiskIsNotUsedForALargeOne(isVector: Bool) async throws {
        let svg = Array(
            "<svg xmlns='http://www.w3.org/2000/svg' width='64' height='48'><rect width='9' height='9'/></svg>".utf8)
        guard !isVector || CoderRegistry.standard.decodableFormats.contains(.svg) else { return }
        func bench() -> TestBench {
            let bench = makeBench()
            if isVector { bench.answer(url, with: svg, type: "image/svg+xml") }
            return bench
        }
        let small = keptOnDisk(width: 16)
        let first = bench()
        _ = try await first.manager.image(for: small)
        await first.manager.finishStores()
        let next = bench()
        let found = try await next.manager.image(for: small)
        #expect(found.source == .disk && found.image.size.width == 16)
        #expect(found.image.info.header?.displaySize == PixelSize(width: 64, height: 48))
        #expect(found.image.info.isVector == isVector)
        #expect(
            found.image.isOutgrown(
                by: PixelSize(width: 40, height: 30), askedSize: PixelSize(width: 16, height: 0), nil))
        var large = ImageRequest(url, size: TargetSize(width: 40))
        large.caching.sizePrecision = .inexact
        #expect(next.manager.cachedImage(for: large) == nil)
        #expect(try await next.manager.image(for: large).image.size.width == 40)
    }

    /// `data` was once the small picture that the cache had encoded.
    @Test func theBytesBesideAFinishedPictureAreTheOriginals() async throws {
        let disk = DiskCacheConfiguration(directory: folder.path)
        func makeBench() -> TestBench {
            let bench = TestBench {
                $0.cache = ImageCaches([ImageCache(configuration: .init(disk: disk))])
            }
            bench.answer(url, with: body, type: "image/png")
            return bench
        }
        var request = keptOnDisk(width: 10)
        let bench = makeBench()
        _ = try await bench.manager.image(for: request)
        await bench.manager.finishStores()
        request.includesData = true
        #expect(try await bench.manager.image(for: request).data == body)
    }

    /// Such a load once ended while another one's store was still running.
    @Test(arguments: [false, true])
    func aPictureInMemoryWaitsForItsStore(wantsEvents: Bool) async throws {
        let files = FaultyFileSystem()
        let bench = makeBench(files: files)
        let write = files.delay(.write)
        _ = try await bench.manager.image(for: ImageRequest(url))
        var waiting = ImageRequest(url)
        waiting.caching.waitsForStore = true
        let ledger = Ledger()
        if wantsEvents {
            bench.manager.load(waiting) { ledger.take($0) }
        } else {
            let (manager, request) = (bench.manager, waiting)
            Task { ledger.take(.finished(.success(try await manager.image(for: request)))) }
        }
        write.waitUntilMade()
        // A load that is cancelled meanwhile is told so.
        let impatient = Task { [waiting] in try await bench.manager.image(for: waiting) }
        for _ in 0..<20 { await Task.yield() }
        impatient.cancel()
        let error = await #expect(throws: WebImageError.self) { try await impatient.value }
        #expect(error?.code == .cancelled)
        #expect(ledger.responses.isEmpty)
        write.release()
        #expect(try await ledger.finished(1).get().source == .memory)
        #expect(try await bench.manager.diskCache?.read(waiting.originalKey)?.body == body)
        #expect(try await source(bench, waiting) == .memory)
    }

    // MARK: Shared work

    /// A frame too many for one request was once an error for all that shared its decode.
    @Test func aFrameTooManyIsAnErrorOnlyForThoseThatReadIt() async throws {
        let bench = TestBench()
        let gate = Gate()
        let gif = BlinkingGIF.file(width: 8, height: 6, frames: 5)
        bench.transport.answer(url, .bytes(gif, contentType: "image/gif").held(by: gate))
        var all = ImageRequest(url)
        all.decoding.limits.frames = 2
        var some = all
        some.decoding.frameLimit = 2
        var first = all
        first.decoding.firstFrameOnly = true
        let ledgers = [Ledger(), Ledger(), Ledger()]
        for (request, ledger) in zip([all, some, first], ledgers) { bench.manager.load(request) { ledger.take($0) } }
        #expect(await eventually { bench.manager.runningLoads == 3 })
        gate.open()
        let error = await #expect(throws: WebImageError.self) { try await ledgers[0].finished(1).get() }
        #expect((error?.cause as? WebImageError)?.code == .limitExceeded)
        #expect(try await ledgers[1].finished(1).get().image.animation?.frameCount == 2)
        #expect(try await ledgers[2].finished(1).get().image.animation == nil)
        #expect(bench.transport.hits(url) == 1)
    }

    /// The request that was first once decided for the others, which store their pictures elsewhere.
    @Test func aPrefetchThatMayNotKeepItsPictureFailsNoOther() async throws {
        let bench = TestBench()
        let gate = Gate()
        bench.transport.answer(url, .bytes(body, contentType: "image/png").held(by: gate))
        var options = PrefetchOptions()
        options.destination = .memory
        let prefetcher = ImagePrefetcher(manager: bench.manager, options: options)
        let vain = prefetcher.prefetch([ImageRequest(url) { $0.caching.store = [] }])
        #expect(await bench.transport.waitForHits(url))
        let other = prefetcher.prefetch([ImageRequest(url)])
        #expect(await eventually { prefetcher.waitingForTurns == 1 })
        gate.open()
        #expect(await vain.finished().failed == 1)
        #expect(await other.finished().loaded == 1)
    }

    /// The original was once transferred for a disk on which the request stores none.
    @Test func aPrefetchThatStoresNoOriginalMakesItsPicture() async throws {
        let bench = makeBench()
        var request = keptOnDisk(width: 16)
        request.caching.storesOriginal = false
        let end = await ImagePrefetcher(manager: bench.manager).prefetch([request]).finished()
        #expect(end.loaded == 1 && bench.transport.hits(url) == 1)
        await bench.manager.finishStores()
        #expect(bench.manager.cachedImage(for: request) != nil && bench.manager.diskCache?.usage.count == 1)
    }

    // MARK: What is decoded

    @Test func aFullCheckDecodesWhatTheRequestWouldNotShow() async throws {
        let bench = makeBench()
        let cut = Array(BlinkingGIF.file(width: 8, height: 6, frames: 5).dropLast(12))
        bench.answer(url, with: cut, type: "image/gif")
        var first = ImageRequest(url)
        first.decoding.firstFrameOnly = true
        await #expect(throws: WebImageError.self) {
            try await bench.manager.keepOriginal(for: first, check: .full)
        }
        #expect(try await bench.entry(first) == nil)
    }

    /// A request with a format hint was once blocked by the failure of one without.
    @Test func bytesThatWereNoPictureMayBeOneForAnotherRequest() async throws {
        let bench = TestBench(coders: CoderRegistry([WhiteCoder()]))
        bench.answer(url, with: [1, 2, 3])
        var request = ImageRequest(url)
        request.caching.policy = .noStore
        await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        let blocked = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        #expect(blocked?.code == .blockedURL)
        request.decoding.formatHint = ImageFormat(rawValue: "white")
        #expect(try await bench.manager.image(for: request).image.size.width == 2)
    }

    /// Requests that read fewer frames may succeed, but not those that read as many as the one that failed.
    @Test func bytesThatAreNoPictureAreAskedForAgainOnlyByRequestsThatNeedLess() async throws {
        let bench = makeBench()
        bench.answer(url, with: [1, 2, 3])
        var request = ImageRequest(url)
        request.caching.policy = .noStore
        for frames in [10, 10, 20, 5, 5, 10] {
            request.decoding.frameLimit = frames
            await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        }
        #expect(bench.transport.requests.count == 2)
        request.decoding.firstFrameOnly = true
        for _ in 0..<2 { await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) } }
        #expect(bench.transport.requests.count == 3)
        request.decoding.allowsPartial = true
        for _ in 0..<2 { await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) } }
        #expect(bench.transport.requests.count == 4)
    }

    // MARK: Trust

    @Test func aTrustKeepsTheConfigurationsPins() async throws {
        let bench = TestBench {
            $0.download.tls.pinnedKeys = ["pin"]
            $0.download.tls.clientCertificate = .init(certificate: [1], key: [2])
        }
        bench.answer("https://pictures.test/a", with: body, type: "image/png")
        var request = ImageRequest("https://pictures.test/a")
        request.http.trust = .systemAnd(pem: [3])
        _ = try await bench.manager.image(for: request)
        let sent = bench.transport.requests.last?.tls
        #expect(sent?.trust == .systemAnd(pem: [3]) && sent?.pinnedKeys == ["pin"])
        #expect(sent?.clientCertificate?.certificate == [1])
        // A policy of the request's own replaces all of it.
        request.http.tls = TLSPolicy(pinnedKeys: ["other"])
        request.caching.policy = .noStore
        _ = try await bench.manager.image(for: request)
        let own = bench.transport.requests.last?.tls
        #expect(own?.trust == .systemAnd(pem: [3]) && own?.pinnedKeys == ["other"] && own?.clientCertificate == nil)
    }

    /// Pictures that were loaded while no certificate was verified were once used for ever, even in later processes.
    @Test func unverifiedAnswersAreForgottenWithTheSetting() async throws {
        let bench = makeBench()
        bench.manager.downloader.configuration.tls.trust = .anyone
        let request = ImageRequest(url)
        #expect(try await source(bench, request) == .network)
        #expect(try await source(bench, request) == .memory)
        await bench.manager.finishStores()
        bench.manager.downloader.configuration.tls.trust = .system
        #expect(try await source(bench, request) == .network)
        #expect(try await source(bench, request) == .memory)
        await bench.manager.finishStores()
        #expect(try await source(makeBench(), request) == .disk)
        #expect(try await source(makeBench { $0.download.tls.trust = .anyone }, request) == .network)
    }

    /// Memory once judged a picture for all requests under the same settings.
    @Test func whoTrustsLessThanTheConfigurationGetsNoUnverifiedPictureFromMemory() async throws {
        let bench = makeBench { $0.download.tls.trust = .anyone }
        var request = ImageRequest(url)
        #expect(try await source(bench, request) == .network)
        for _ in 0..<3 { #expect(try await source(bench, request) == .memory) }
        request.http.trust = .system
        #expect(try await source(bench, request) == .network)
        #expect(try await source(bench, request) == .memory)
    }

    @Test func whoVerifiesGetsNoUnverifiedPictureOfTheSameScope() async throws {
        let bench = makeBench()
        var request = ImageRequest(url)
        request.http.credentialScope = "anna"
        request.http.trust = .anyone
        #expect(try await source(bench, request) == .network)
        for _ in 0..<3 { #expect(try await source(bench, request) == .memory) }
        request.http.trust = nil
        #expect(try await source(bench, request) == .network)
    }

    // MARK: A network that cannot be reached

    /// Each alternative once waited for the whole time.
    @Test func alternativesShareTheTimeToWaitForTheNetwork() async throws {
        let clock = ManualClock()
        let asked = Guarded<[String]>([])
        var request = ImageRequest(url)
        request.waitsForNetwork = .seconds(1)
        request.alternatives = ["http://mirror.test/a"]
        let load = InterceptedLoad<Int>(
            proceed: { request throws(WebImageError) in
                asked.withLock { $0.append(request.url) }
                throw WebImageError(.dnsFailed, "no such host")
            }, make: { _, _ throws(WebImageError) in throw .cancelled })
        let task = Task { [request] in
            await #expect(throws: WebImageError.self) {
                try await InterceptorChain([], clock: clock).run(request, load)
            }
        }
        #expect(await eventually { clock.waitingCount == 1 })
        clock.advance(by: .seconds(1))
        #expect(await task.value?.code == .dnsFailed)
        #expect(asked.withLock { $0 } == [url, url, "http://mirror.test/a"])
    }

    /// Each try once showed the cached picture again.
    @Test func aCachedPictureIsShownOnceWhileTheNetworkIsAwaited() async throws {
        let clock = ManualClock()
        let bench = TestBench(disk: folder.path, clock: clock)
        bench.transport.answer(
            url, .bytes(body, contentType: "image/png"), .failure(WebImageError(.dnsFailed, "no such host")),
            .failure(WebImageError(.dnsFailed, "no such host")), .bytes(try Fixture.png(8, 8), contentType: "image/png")
        )
        _ = try await bench.manager.image(for: ImageRequest(url))
        var request = ImageRequest(url)
        request.caching.policy = .refresh
        request.waitsForNetwork = .seconds(1 << 40)
        request.decoding.limits.time = .seconds(1 << 40)
        let ledger = Ledger()
        let cached = Guarded(0)
        bench.manager.load(request) { event in
            if case .cached = event { cached.withLock { $0 += 1 } }
            ledger.take(event)
        }
        let isOver = await eventually {
            clock.advance(by: .seconds(1))
            return ledger.finishedCount == 1
        }
        #expect(isOver && bench.transport.hits(url) == 4)
        #expect(try await ledger.finished(1).get().image.size.width == 8)
        #expect(cached.withLock { $0 } == 1)
    }
}
