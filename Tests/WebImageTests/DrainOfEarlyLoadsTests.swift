import Synchronization
import Testing
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Loads marked to finish that have not reached the downloader when the drain begins are finished, too (SDWebImage's
/// rows O-04, DO-06, Q-02).
@Suite struct DrainOfEarlyLoadsTests {
    private let marked = "http://pictures.test/marked"
    private let other = "http://pictures.test/other"

    private func request(_ url: String) -> ImageRequest {
        var request = ImageRequest(url)
        request.http.finishesWhenDrained = url == marked
        return request
    }

    /// Begins a drain and returns once the manager accepts no new loads.
    private func drain(_ manager: ImageManager) async -> Task<Void, Never> {
        let drain = Task { await manager.drain(within: .seconds(600)) }
        #expect(await eventually { manager.loader.table.withLock { $0.isDraining } })
        return drain
    }

    /// The lookup on disk that a load is in when the drain begins: for the original, the finished picture, or only the
    /// bytes.
    enum Look: CaseIterable {
        case original
        case finished
        case bytes
    }

    @Test(arguments: Look.allCases)
    func aMarkedLoadInTheDiskLookupIsFinished(_ look: Look) async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path) { $0.fileThreads = 1 }
        let body = try Fixture.png(16, 16)
        for url in [marked, other] { bench.answer(url, with: body, type: "image/png") }
        let manager = bench.manager
        let gate = Gate()
        manager.loader.ioExecutor.run(.high) { gate.wait() }
        let (first, second, late) = (Ledger(), Ledger(), Ledger())
        var loads: [ImageRequest] = [request(marked), request(other)]
        if look == .finished {
            for index in loads.indices {
                loads[index].size = TargetSize(width: 8)
                loads[index].caching.store = [.memory, .disk]
            }
        }
        let data = Task { [request = loads[0]] in
            look == .bytes ? try await manager.data(for: request) : body
        }
        if look != .bytes { manager.load(loads[0]) { first.take($0) } }
        manager.load(loads[1]) { second.take($0) }
        let hasBegun = await eventually { look != .bytes || manager.loader.table.withLock { $0.preliminaries } > 0 }
        #expect(hasBegun)
        let drain = await drain(manager)
        manager.load(request("http://pictures.test/late")) { late.take($0) }
        _ = await late.finished()
        #expect(late.failures == [.shutDown: 1])
        #expect(bench.transport.hits(marked) == 0)
        gate.open()
        await drain.value
        #expect(try await data.value == body)
        if look != .bytes { #expect(try await first.finished().get().source == .network) }
        _ = await second.finished()
        #expect(second.failures == [.shutDown: 1])
        if look == .original {
            let next = TestBench(disk: folder.path)
            #expect(try await next.manager.image(for: request(marked)).source == .disk)
        }
    }

    /// Of two callers of one load, only the second marks it to finish. That is enough.
    @Test func oneMarkedCallerLetsASharedLoadFinish() async throws {
        let bench = TestBench()
        let gate = Gate()
        bench.transport.answer(marked, .bytes(try Fixture.png(16, 16), contentType: "image/png").held(by: gate))
        let (first, second) = (Ledger(), Ledger())
        bench.manager.load(ImageRequest(marked)) { first.take($0) }
        #expect(await bench.transport.waitForHits(marked))
        bench.manager.load(request(marked)) { second.take($0) }
        let drain = await drain(bench.manager)
        gate.open()
        await drain.value
        for ledger in [first, second] { #expect(try await ledger.finished().get().source == .network) }
        #expect(bench.transport.hits(marked) == 1)
    }

    @Test func theDrainsTimeLimitEndsAMarkedLoadInTheDiskLookup() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock(wallTime: SystemClock.shared.wallTime)
        let bench = TestBench(disk: folder.path, clock: clock) { $0.fileThreads = 1 }
        let gate = Gate()
        let manager = bench.manager
        manager.loader.ioExecutor.run(.high) { gate.wait() }
        let ledger = Ledger()
        manager.load(request(marked)) { ledger.take($0) }
        let drain = Task { await manager.drain(within: .seconds(5)) }
        // By then the drain has set its deadline.
        #expect(await eventually { manager.loader.table.withLock { $0.isDraining } })
        // Looks at the downloader, which is shut down before the disk cache is written; the held file thread would also
        // hold that write.
        #expect(
            await eventually {
                clock.advance(by: .seconds(6))
                var request = DownloadRequest(url: other)
                request.finishesWhenDrained = true
                let probe = manager.downloader.download(request)
                guard case .failed(let error)? = probe.log.end else { return false }
                return error.code == .shutDown && manager.downloader.counters.running == 0
            })
        gate.open()
        await drain.value
        _ = await ledger.finished()
        #expect(ledger.failures == [.shutDown: 1] && bench.transport.hits(marked) == 0)
    }
}
