import Testing
import WebImage
import WebImageSystem
import WebImageTesting

/// A manager's defaults for options that a request does not set.
@Suite struct ManagerDefaultsTests {
    private let url = "http://pictures.test/a.png"

    private func code(_ manager: ImageManager, _ request: ImageRequest) async -> WebImageError.Code? {
        do throws(WebImageError) {
            _ = try await manager.image(for: request)
            return nil
        } catch {
            return (error.cause as? WebImageError)?.code ?? error.code
        }
    }

    @Test func aRequestWithoutLimitsHasTheManagers() async throws {
        let bench = TestBench { $0.limits.pixels = 100 }
        bench.answer(url, with: try Fixture.png(40, 30), type: "image/png")
        #expect(await code(bench.manager, ImageRequest(url)) == .limitExceeded)
        var own = ImageRequest(url)
        own.decoding.limits.pixels = 40 * 30
        #expect(await code(bench.manager, own) == nil)
    }

    @Test func detailsKeepTheManagersLimitsToo() async throws {
        let bench = TestBench { $0.limits.bytes = 10 }
        bench.answer(url, with: try Fixture.png(40, 30), type: "image/png")
        #expect(await code(bench.manager, ImageRequest(url)) == .limitExceeded)
        let strict = TestBench { $0.limits.pixels = 100 }
        strict.answer(url, with: try Fixture.png(40, 30), type: "image/png")
        let error = await #expect(throws: WebImageError.self) {
            try await strict.manager.details(for: ImageRequest(url))
        }
        #expect(((error?.cause as? WebImageError)?.code ?? error?.code) == .limitExceeded)
    }

    @Test func aRequestWithoutATimeoutHasTheManagers() async throws {
        let clock = ManualClock()
        let bench = TestBench(clock: clock) { $0.timeout = .seconds(2) }
        let gate = Gate()
        bench.transport.answer(
            url, .bytes(try Fixture.png(8, 8), contentType: "image/png").held(by: gate))
        var patient = ImageRequest(url)
        patient.timeout = .seconds(60)
        let (early, late) = (Ledger(), Ledger())
        bench.manager.load(ImageRequest(url)) { early.take($0) }
        bench.manager.load(patient) { late.take($0) }
        await bench.transport.waitForHits(url, 1)
        clock.advance(by: .seconds(3))
        await #expect(throws: WebImageError.self) { try await early.finished().get() }
        #expect(early.failures == [.deadlineExceeded: 1])
        gate.open()
        _ = try await late.finished().get()
    }

    @Test func theAddressPolicyIsTheDownloaders() {
        var configuration = ImageManager.Configuration()
        #expect(configuration.addressPolicy == nil)
        configuration.addressPolicy = .publicOnly
        #expect(configuration.download.addressPolicy == .publicOnly)
        configuration.download.addressPolicy = nil
        #expect(configuration.addressPolicy == nil)
    }

    @Test func picturesAreFoundInMemoryUnderTheManagersLimits() async throws {
        let bench = TestBench { $0.limits.pixels = 5000 }
        bench.answer(url, with: try Fixture.png(40, 30), type: "image/png")
        _ = try await bench.manager.image(for: ImageRequest(url))
        #expect(bench.manager.cachedImage(for: ImageRequest(url)) != nil)
        #expect(try await bench.manager.image(for: ImageRequest(url)).source == .memory)
    }
}
