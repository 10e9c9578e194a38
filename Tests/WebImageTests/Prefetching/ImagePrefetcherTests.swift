import HTTPTypes
import Synchronization
import Testing
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

@Suite struct ImagePrefetcherTests {
    static func urls(_ count: Int) -> [String] { (0..<count).map { "http://list.test/\($0).png" } }

    func bench(_ folder: TemporaryFolder? = nil, clock: any LoadClock = SystemClock.shared) throws -> TestBench {
        let bench = TestBench(disk: folder?.path, clock: clock)
        let png = try Fixture.png(40, 30)
        bench.transport.answerAll { _ in .bytes(png, contentType: "image/png") }
        return bench
    }

    @Test func originalsComeOntoTheDiskWithoutPixels() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        let (urls, length) = (Self.urls(10), try Fixture.png(40, 30).count)
        let prefetcher = ImagePrefetcher(manager: bench.manager)
        let book = ListBook()
        let token = prefetcher.prefetch(urls, onEvent: book.take)
        let end = await token.finished()
        #expect(end.loaded == 10 && end.finished == 10 && end.bytes.bytes == 10 * length)
        #expect(await eventually { book.ends.count == 1 })
        #expect(book.ends == [end] && book.begun == Array(0..<10))
        #expect(Set(book.items.map(\.index)) == Set(0..<10))
        #expect(book.items.allSatisfy { $0.original?.header.size == PixelSize(width: 40, height: 30) })
        for url in urls {
            #expect(bench.manager.cachedImage(for: ImageRequest(url)) == nil)
            #expect(try await bench.manager.image(for: ImageRequest(url)).source == .disk)
        }
        // Prefetched a second time, all pictures are skipped.
        let again = await prefetcher.prefetch(urls).finished()
        #expect(again.skipped == 10 && again.loaded == 0 && again.bytes == 0)
        #expect(bench.transport.requests.count == 10)
        #expect(prefetcher.runningLists == 0 && prefetcher.progress.total == 0)
    }

    @Test func picturesComeIntoMemory() async throws {
        let bench = try bench()
        var options = PrefetchOptions()
        options.destination = .memory
        let prefetcher = ImagePrefetcher(manager: bench.manager, options: options)
        let requests = Self.urls(5).map { ImageRequest($0, size: TargetSize(width: 20)) }
        #expect(await prefetcher.prefetch(requests).finished().loaded == 5)
        for request in requests { #expect(bench.manager.cachedImage(for: request)?.size.width == 20) }
        #expect(await prefetcher.prefetch(requests).finished().skipped == 5)
    }

    /// Without a disk cache, each picture once failed.
    @Test func withoutADiskCachePicturesComeIntoMemory() async throws {
        let bench = try bench()
        let requests = Self.urls(3).map { ImageRequest($0) }
        #expect(await ImagePrefetcher(manager: bench.manager).prefetch(requests).finished().loaded == 3)
        for request in requests { #expect(bench.manager.cachedImage(for: request) != nil) }
    }

    /// A picture that was stored nowhere once counted as loaded.
    @Test func aPictureThatIsNotInMemoryAfterwardsIsAFailure() async throws {
        let bench = try bench()
        var options = PrefetchOptions()
        options.destination = .memory
        let prefetcher = ImagePrefetcher(manager: bench.manager, options: options)
        var requests = Self.urls(5).map { ImageRequest($0) }
        bench.transport.answer(
            requests[1].url,
            .bytes(try Fixture.png(8, 8), contentType: "image/png", headers: [.cacheControl: "no-store"]))
        requests[2].caching.policy = .noStore
        requests[3].caching.store = []
        bench.transport.answer(requests[4].url, .status(404))
        requests[4].options.fallback = Fixture.gradient(4, 4)
        let book = ListBook()
        let end = await prefetcher.prefetch(requests, onEvent: book.take).finished()
        #expect(end.loaded == 1 && end.failed == 4)
        #expect(await eventually { !book.ends.isEmpty })
        var codes: [Int: WebImageError.Code] = [:]
        for item in book.items { if case .failed(let error) = item.outcome { codes[item.index] = error.code } }
        #expect(codes == [1: .cacheMiss, 2: .cacheMiss, 3: .cacheMiss, 4: .badStatus])
        // A repeated request is skipped, because the first one has stored the picture.
        let twice = ImageRequest(Self.urls(1)[0], size: TargetSize(width: 10))
        let again = await prefetcher.prefetch([twice, twice, twice]).finished()
        #expect(again.loaded == 1 && again.skipped == 2)
        // If the first one's picture cannot be stored, the repeated requests fail without transfers of their own.
        let hits = bench.transport.hits(requests[1].url)
        let gate = Gate()
        bench.transport.answer(
            requests[1].url,
            .bytes(try Fixture.png(8, 8), contentType: "image/png", headers: [.cacheControl: "no-store"]).held(by: gate)
        )
        let token = prefetcher.prefetch([requests[1], requests[1], requests[1]])
        #expect(await eventually { prefetcher.waitingForTurns == 2 })
        gate.open()
        let vain = await token.finished()
        #expect(vain.failed == 3 && bench.transport.hits(requests[1].url) == hits + 1)
    }

    @Test func anEmptyListEndsBeforeTheCallReturns() async throws {
        let prefetcher = ImagePrefetcher(manager: try bench().manager)
        let book = ListBook()
        let token = prefetcher.prefetch([String](), onEvent: book.take)
        #expect(book.ends == [PrefetchProgress(total: 0)] && book.events.count == 1)
        #expect(await token.finished().total == 0)
        await prefetcher.finished()
    }

    @Test func aPictureThatFailsOrCannotBeStoredIsAFailure() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        let urls = Self.urls(4)
        bench.transport.answer(urls[1], .status(404))
        bench.transport.answer(
            urls[2], .bytes(try Fixture.png(8, 8), contentType: "image/png", headers: [.cacheControl: "no-store"]))
        bench.transport.answer(urls[3], .bytes(Array("no picture".utf8)))
        let book = ListBook()
        let end = await ImagePrefetcher(manager: bench.manager).prefetch(urls, onEvent: book.take).finished()
        #expect(end.loaded == 1)
        #expect(end.failed == 3)
        #expect(end.finished == 4 && end.dropped == 0)
        var codes: [Int: WebImageError.Code] = [:]
        #expect(await eventually { !book.ends.isEmpty })
        #expect(book.items.count == 4)
        for item in book.items { if case .failed(let error) = item.outcome { codes[item.index] = error.code } }
        #expect(codes == [1: .badStatus, 2: .cacheMiss, 3: .badImageData])
    }

    /// Without a disk cache, originals were once transferred and could not be stored, and were transferred again when
    /// they were shown.
    @Test func aDiskPrefetchWithoutADiskCacheTransfersNothing() async throws {
        let bench = try bench()
        let book = ListBook()
        var options = PrefetchOptions()
        options.destination = .disk()
        let prefetcher = ImagePrefetcher(manager: bench.manager, options: options)
        let end = await prefetcher.prefetch(Self.urls(3), onEvent: book.take).finished()
        #expect(end.failed == 3 && bench.transport.requests.isEmpty)
        #expect(await eventually { !book.ends.isEmpty })
        for item in book.items {
            guard case .failed(let error) = item.outcome else { throw WebImageError(.cacheMiss, "it has not failed") }
            #expect(error.code == .cacheMiss)
        }
    }

    @Test func theWidthLimitsLoadsAndOverlappingListsShareThem() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        let gate = Gate()
        let png = try Fixture.png(40, 30)
        bench.transport.answerAll { _ in .bytes(png, contentType: "image/png").held(by: gate) }
        var options = PrefetchOptions()
        options.width = 2
        let prefetcher = ImagePrefetcher(manager: bench.manager, options: options)
        let urls = Self.urls(6)
        let tokens = [prefetcher.prefetch(urls), prefetcher.prefetch(Array(urls.reversed()))]
        #expect(await eventually { bench.transport.running == 2 })
        #expect(prefetcher.progress.total == 12 && prefetcher.runningLists == 2)
        #expect(Set(bench.transport.requests.map(\.url)) == Set(urls.prefix(2)))
        gate.open()
        let ends = [await tokens[0].finished(), await tokens[1].finished()]
        #expect(ends.allSatisfy { $0.finished == 6 && $0.failed == 0 })
        #expect(ends[0].bytes.bytes + ends[1].bytes.bytes >= 6 * png.count)
        for url in urls { #expect(bench.transport.hits(url) == 1) }
        await prefetcher.finished()
    }

    @Test func cancellingEndsAListAtOnceAndTheOthersGoOn() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        let gate = Gate()
        let urls = Self.urls(9)
        bench.transport.answer(urls[0], .bytes(try Fixture.png(8, 8)).held(by: gate))
        let prefetcher = ImagePrefetcher(manager: bench.manager)
        prefetcher.isPaused = true
        let book = ListBook()
        let one = prefetcher.prefetch([urls[0], urls[1], urls[2]], onEvent: book.take)
        let two = prefetcher.prefetch(Array(urls[3...]))
        one.cancel(at: 1)
        prefetcher.isPaused = false
        #expect(prefetcher.isPaused == false)
        #expect(await bench.transport.waitForHits(urls[0]))
        one.cancel()
        #expect(await bench.transport.waitForCancels(urls[0]))
        let end = await one.finished()
        #expect(end.finished == 3 && end.dropped >= 2 && bench.transport.hits(urls[1]) == 0)
        #expect(await two.finished().loaded == 6)
        #expect(book.ends == [end] && one.progress == end)
        one.cancel()
        prefetcher.cancelAll()
        #expect(await eventually { bench.transport.running == 0 })
        #expect(book.ends.count == 1)
    }

    @Test func aListPausesAndGoesOn() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        let prefetcher = ImagePrefetcher(manager: bench.manager)
        prefetcher.isPaused = true
        let (one, two) = (prefetcher.prefetch(Self.urls(2)), prefetcher.prefetch(["http://other.test/a.png"]))
        one.isPaused = true
        prefetcher.isPaused = false
        #expect(await two.finished().loaded == 1)
        #expect(one.isPaused && one.progress.finished == 0 && bench.transport.requests.count == 1)
        one.isPaused = false
        #expect(await one.finished().loaded == 2)
    }

    @Test func lettingGoOfThePrefetcherEndsItsLists() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        let url = Self.urls(1)[0]
        bench.transport.answer(url, .bytes(try Fixture.png(8, 8)).held(by: Gate()))
        var options = PrefetchOptions()
        options.width = 1
        var prefetcher: ImagePrefetcher? = ImagePrefetcher(manager: bench.manager, options: options)
        let book = ListBook()
        var token = prefetcher?.prefetch([url, "http://later.test/b.png"], onEvent: book.take)
        #expect(await bench.transport.waitForHits(url))
        // A token keeps its list alive, so that its owner can wait for the end.
        prefetcher = nil
        #expect(token?.progress.finished == 0 && book.ends.isEmpty)
        token = nil
        #expect(book.ends.map(\.dropped) == [2])
        #expect(await bench.transport.waitForCancels(url))
    }

    @Test func aPictureLoadedDuringItsPrefetchIsOneTransfer() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        let (gate, url) = (Gate(), Self.urls(1)[0])
        bench.transport.answer(url, .bytes(try Fixture.png(40, 30)).held(by: gate, after: 60))
        let prefetcher = ImagePrefetcher(manager: bench.manager)
        let token = prefetcher.prefetch([url])
        #expect(await bench.transport.waitForHits(url))
        let (ledger, joined) = (Ledger(), Gate())
        bench.manager.load(ImageRequest(url)) { event in
            if case .progress = event { joined.open() }
            ledger.take(event)
        }
        await joined.opened()
        token.cancel()
        gate.open()
        #expect(try await ledger.finished().get().image.size.width == 40)
        #expect(bench.transport.hits(url) == 1 && bench.transport.cancels(url) == 0)
    }

    @Test func theRateIsKeptByTheClock() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        let bench = try bench(folder, clock: clock)
        var options = PrefetchOptions()
        options.width = 1
        options.bytesPerSecond = ByteCount(try Fixture.png(40, 30).count)
        let prefetcher = ImagePrefetcher(manager: bench.manager, options: options)
        let token = prefetcher.prefetch(Self.urls(3))
        for count in 1...3 {
            #expect(await eventually { token.progress.finished == count })
            // Waits until the wake is scheduled: if it were scheduled after its time, it would come only with the next
            // advance.
            if count < 3 { #expect(await eventually { clock.nextDue == .seconds(count) }) }
            #expect(bench.transport.requests.count == count)
            clock.advance(by: .milliseconds(999))
            #expect(bench.transport.requests.count == count)
            clock.advance(by: .milliseconds(1))
        }
        #expect(await token.finished().loaded == 3)
    }

    @Test func anOnlyWhenIdlePrefetchWaitsForOtherLoads() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        let (gate, seen) = (Gate(), "http://seen.test/a.png")
        bench.transport.answer(seen, .bytes(try Fixture.png(40, 30)).held(by: gate))
        let ledger = Ledger()
        bench.manager.load(ImageRequest(seen)) { ledger.take($0) }
        var options = PrefetchOptions()
        options.onlyWhenIdle = true
        let prefetcher = ImagePrefetcher(manager: bench.manager, options: options)
        let token = prefetcher.prefetch(Self.urls(3))
        #expect(await bench.transport.waitForHits(seen))
        #expect(bench.transport.requests.count == 1)
        gate.open()
        #expect(await token.finished().loaded == 3)
        #expect(ledger.finishedCount == 1)
        #expect(await prefetcher.prefetch(Self.urls(3)).finished().skipped == 3)
    }

    /// A prefetcher of normal priority was once not woken when the other load became less urgent.
    @Test func aLoadThatBecomesLessUrgentNoLongerHoldsUpAPrefetch() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        let (gate, seen) = (Gate(), "http://seen.test/a.png")
        bench.transport.answer(seen, .bytes(try Fixture.png(40, 30)).held(by: gate))
        var request = ImageRequest(seen)
        request.priority = .high
        let ledger = Ledger()
        let load = bench.manager.load(request) { ledger.take($0) }
        var options = PrefetchOptions()
        (options.onlyWhenIdle, options.priority) = (true, .normal)
        let prefetcher = ImagePrefetcher(manager: bench.manager, options: options)
        let token = prefetcher.prefetch(Self.urls(3))
        #expect(await bench.transport.waitForHits(seen))
        #expect(bench.transport.requests.count == 1)
        load.setPriority(.normal)
        #expect(await bench.transport.waitForHits(Self.urls(3)[0]))
        #expect(await token.finished().loaded == 3)
        #expect(ledger.finishedCount == 0)
        gate.open()
        _ = try await ledger.finished().get()
    }

    /// A repeated request waits for the first one.
    @Test func theSamePictureTwiceIsLoadedOnce() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        let (gate, url) = (Gate(), Self.urls(1)[0])
        bench.transport.answer(url, .bytes(try Fixture.png(8, 8)).held(by: gate))
        let token = ImagePrefetcher(manager: bench.manager).prefetch([url, url, url])
        #expect(await bench.transport.waitForHits(url))
        gate.open()
        let end = await token.finished()
        #expect(end.loaded == 1 && end.skipped == 2 && bench.transport.hits(url) == 1)
    }

    @Test func theWaitForTheSamePictureCanBeCancelled() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        let (gate, url) = (Gate(), Self.urls(1)[0])
        bench.transport.answer(url, .bytes(try Fixture.png(8, 8)).held(by: gate))
        let prefetcher = ImagePrefetcher(manager: bench.manager)
        let token = prefetcher.prefetch([url, url, url])
        #expect(await bench.transport.waitForHits(url))
        token.cancel(at: 2)
        gate.open()
        let end = await token.finished()
        #expect(end.loaded + end.skipped == 2 && end.dropped == 1 && end.failed == 0)
        // The cancelled request may have been the one that was loading, so there may be a second transfer.
        #expect(bench.transport.hits(url) <= 2)
    }

    /// The prefetcher still works after all its transfers were cancelled at the downloader.
    @Test func aTransferCancelledAtTheDownloaderIsAFailure() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        let (gate, urls) = (Gate(), Self.urls(3))
        let png = try Fixture.png(40, 30)
        bench.transport.answerAll { _ in .bytes(png).held(by: gate) }
        let prefetcher = ImagePrefetcher(manager: bench.manager)
        let token = prefetcher.prefetch(urls)
        #expect(await eventually { bench.transport.running == 3 })
        bench.manager.downloader.cancelAll()
        #expect(await token.finished().failed == 3)
        gate.open()
        #expect(await prefetcher.prefetch(urls).finished().loaded == 3)
    }

    @Test func requestsAreMadeWhenTheirTurnComes() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        let made = Guarded<[Int]>([])
        let prefetcher = ImagePrefetcher(manager: bench.manager)
        let refusal = WebImageError(.invalidURL, "no such line")
        let token = prefetcher.prefetch(
            count: 5,
            request: { index throws(WebImageError) in
                made.withLock { $0.append(index) }
                if index == 2 { throw refusal }
                return ImageRequest("http://list.test/\(index).png")
            })
        let end = await token.finished()
        #expect(end.loaded == 4 && end.failed == 1)
        #expect(made.withLock { $0.sorted() } == [0, 1, 2, 3, 4])
    }

    /// A cancelled task stops waiting, but the list goes on.
    @Test func waitingCanBeCancelled() async throws {
        let folder = try TemporaryFolder()
        let bench = try bench(folder)
        let (gate, url) = (Gate(), Self.urls(1)[0])
        bench.transport.answer(url, .bytes(try Fixture.png(8, 8)).held(by: gate))
        let prefetcher = ImagePrefetcher(manager: bench.manager)
        let token = prefetcher.prefetch([url])
        let waiting = Task {
            await prefetcher.finished()
            return await token.finished()
        }
        waiting.cancel()
        #expect(await waiting.value.finished == 0)
        gate.open()
        #expect(await token.finished().loaded == 1)
    }
}
