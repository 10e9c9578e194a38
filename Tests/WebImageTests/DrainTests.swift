import HTTPTypes
import Synchronization
import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// The end of a program's work (SDWebImage's rows O-04, DO-06, Q-02).
@Suite struct DrainTests {
    private let marked = "http://pictures.test/marked"
    private let other = "http://pictures.test/other"

    @Test func aMarkedLoadFinishesAndIsStored() async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path)
        let body = try Fixture.png(16, 16)
        let gate = Gate()
        for url in [marked, other] {
            bench.transport.answer(url, .bytes(body, contentType: "image/png").held(by: gate))
        }
        var request = ImageRequest(marked)
        request.http.finishesWhenDrained = true
        let (first, second, late) = (Ledger(), Ledger(), Ledger())
        bench.manager.load(request) { first.take($0) }
        bench.manager.load(ImageRequest(other)) { second.take($0) }
        for url in [marked, other] { #expect(await bench.transport.waitForHits(url)) }
        let manager = bench.manager
        let drain = Task { await manager.drain(within: .seconds(600)) }
        _ = await second.finished()
        #expect(second.failures == [.shutDown: 1])
        manager.load(ImageRequest("http://pictures.test/late")) { late.take($0) }
        _ = await late.finished()
        #expect(late.failures == [.shutDown: 1])
        gate.open()
        await drain.value
        #expect(try await first.finished().get().source == .network)
        #expect(manager.runningLoads == 0)
        let next = TestBench(disk: folder.path)
        #expect(try await next.manager.image(for: ImageRequest(marked)).source == .disk)
    }

    @Test(arguments: [true, false])
    func aServiceDrainsTheManagerAndRemovesExpiredEntries(removes: Bool) async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock(wallTime: SystemClock.shared.wallTime)
        let bench = TestBench(disk: folder.path, clock: clock) {
            $0.disk?.removesExpiredWhenDrained = removes
            $0.disk?.maintenanceInterval = nil
        }
        let manager = bench.manager
        bench.answer(marked, with: try Fixture.png(16, 16), type: "image/png")
        _ = try await manager.image(for: ImageRequest(marked))
        await manager.finishStores()
        clock.advance(by: .seconds(8 * 86_400))
        #expect(manager.diskCache?.usage.count == 1)
        let service = Task { try await DrainService(manager: manager).run() }
        service.cancel()
        try await service.value
        #expect(manager.diskCache?.usage.count == (removes ? 0 : 1))
        let error = await #expect(throws: WebImageError.self) { try await manager.image(for: ImageRequest(other)) }
        #expect(error?.code == .shutDown)
    }

    @Test func theDrainsTimeLimitEndsAMarkedLoad() async throws {
        let clock = ManualClock()
        let bench = TestBench(clock: clock)
        let gate = Gate()
        bench.transport.answer(marked, .bytes(try Fixture.png(16, 16), contentType: "image/png").held(by: gate))
        var request = ImageRequest(marked)
        request.http.finishesWhenDrained = true
        let ledger = Ledger()
        bench.manager.load(request) { ledger.take($0) }
        #expect(await bench.transport.waitForHits(marked))
        let manager = bench.manager
        let drain = Task { await manager.drain(within: .seconds(5)) }
        // By then the drain has set its deadline, but perhaps does not wait for it yet.
        #expect(await eventually { manager.loader.table.withLock { $0.isDraining } })
        // The clock stops after 12 seconds: if it went on with every look, a decode would reach its own limit of 30
        // seconds.
        let last = clock.now + .seconds(12)
        #expect(
            await eventually {
                if clock.now < last { clock.advance(by: .seconds(6)) }
                return !ledger.failures.isEmpty
            })
        await drain.value
        _ = await ledger.finished()
        #expect(ledger.failures == [.shutDown: 1])
        gate.open()
    }
}
