import Synchronization
import Testing
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Requests whose URL gives no picture: they can ask other URLs, wait for the network, or show a fallback.
@Suite struct AlternativesAndFallbackTests {
    private let url = "http://pictures.test/a.jpg"
    private let other = "http://mirror.test/a.jpg"

    @Test func alternativesAreTriedInOrder() async throws {
        let bench = TestBench()
        bench.transport.answer(url, .status(404))
        bench.transport.answer(other, .status(500))
        let third = "http://third.test/a.jpg"
        bench.answer(third, with: try Fixture.jpeg(40, 30))
        var request = ImageRequest(url, size: TargetSize(width: 20))
        request.alternatives = [other, third]
        let response = try await bench.manager.image(for: request)
        #expect(response.image.size.width == 20 && response.source == .network)
        #expect([url, other, third].map { bench.transport.hits($0) } == [1, 1, 1])
        // The picture is cached under the URL from which it came.
        #expect(bench.manager.cachedImage(for: ImageRequest(third, size: TargetSize(width: 20))) != nil)
        #expect(try await bench.manager.data(for: request).count > 100)
        request.alternatives = [other]
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        #expect(error?.code == .badStatus)
    }

    /// Credentials are sent only to the origin of the request's own URL.
    @Test func credentialsAreNotSentToAlternativesOnOtherOrigins() async throws {
        let bench = TestBench()
        let mirror = "http://pictures.test/mirror.jpg"
        for failing in [url, mirror] { bench.transport.answer(failing, .status(404)) }
        bench.answer(other, with: try Fixture.jpeg(4, 3))
        var request = ImageRequest(url)
        request.alternatives = [mirror, other]
        request.http.headers[.authorization] = "Bearer secret"
        request.caching.key = "mine"
        _ = try await bench.manager.image(for: request)
        func sent(_ url: String, _ name: HTTPField.Name) -> String? {
            bench.transport.requests.last { $0.url == url }?.headers[name]
        }
        #expect([url, mirror, other].map { sent($0, .authorization) } == ["Bearer secret", "Bearer secret", nil])
        // The credential provider is not asked, either, because it might not check the origin.
        let another = "http://third.test/a.jpg"
        bench.answer(another, with: try Fixture.jpeg(4, 3))
        request.http.headers[.authorization] = nil
        request.http.credentialProvider = CredentialProvider(name: "anna", asksAhead: true) { _ in .bearer("secret") }
        request.alternatives = [mirror, another]
        _ = try await bench.manager.image(for: request)
        #expect([url, mirror, another].map { sent($0, .authorization) } == ["Bearer secret", "Bearer secret", nil])
        #expect(bench.manager.cachedImage(for: ImageRequest(other)) != nil)
    }

    /// This includes callers that have no job yet.
    @Test(arguments: [false, true]) func shuttingDownEndsLoadsThatWaitForTheNetwork(wantsBytes: Bool) async throws {
        let clock = ManualClock()
        let bench = TestBench(clock: clock)
        bench.transport.answer(url, .failure(WebImageError(.connectionRefused, "nobody is there")))
        var request = ImageRequest(url)
        request.waitsForNetwork = .seconds(1000)
        let task = Task { [request] in
            if wantsBytes { return try await bench.manager.data(for: request).count }
            return try await bench.manager.image(for: request).image.size.width
        }
        // Timers of the transfer may still be scheduled, but the next attempt is due first.
        #expect(await eventually { clock.nextDue == .seconds(1) })
        #expect(bench.manager.runningLoads == (wantsBytes ? 0 : 1))
        bench.manager.shutDown()
        let error = await #expect(throws: WebImageError.self) { try await task.value }
        #expect(error?.code == .shutDown)
        #expect(bench.manager.runningLoads == 0)
    }

    @Test func aFallbackIsServedWithTheErrorOfAFailedLoad() async throws {
        let bench = TestBench()
        bench.transport.answer(url, .status(404))
        let image = Fixture.gradient(3, 2)
        var request = ImageRequest(url)
        request.fallback = image
        let response = try await bench.manager.image(for: request)
        #expect(response.image.storage === image.storage && response.source == .given)
        #expect(response.failure?.code == .badStatus)
        #expect(bench.manager.cachedImage(for: request) == nil)
        await #expect(throws: WebImageError.self) { try await bench.manager.data(for: request) }
    }

    /// A drain once waited for such loads until its time was up. A load that is marked to finish may still do so.
    @Test(arguments: [false, true]) func aDrainEndsUnmarkedLoadsThatWaitForTheNetwork(isMarked: Bool) async throws {
        let clock = ManualClock()
        let bench = TestBench(clock: clock)
        bench.transport.answer(
            url, .failure(WebImageError(.connectionRefused, "nobody is there")),
            .bytes(try Fixture.jpeg(40, 30), contentType: "image/jpeg"))
        var request = ImageRequest(url)
        request.waitsForNetwork = .seconds(1000)
        request.http.finishesWhenDrained = isMarked
        let ledger = Ledger()
        bench.manager.load(request) { ledger.take($0) }
        #expect(await eventually { clock.nextDue == .seconds(1) })
        let drain = Task { await bench.manager.drain(within: .seconds(60)) }
        if isMarked {
            #expect(await eventually { bench.manager.loader.table.withLock { $0.isDraining } })
            clock.advance(by: .seconds(1))
            #expect(try await ledger.finished().get().image.size.width == 40)
        } else {
            _ = await ledger.finished()
            #expect(ledger.failures == [.shutDown: 1] && clock.now == .zero)
        }
        await drain.value
    }

    /// A fallback also stands in when the origin hangs. The callers once got the error.
    @Test(arguments: [true, false]) func aFallbackIsServedWhenTheLoadTimesOut(isTheManagers: Bool) async throws {
        let (clock, network) = (ManualClock(), Gate())
        let bench = TestBench(clock: clock) { if isTheManagers { $0.timeout = .seconds(5) } }
        bench.transport.answer(url, .bytes(try Fixture.jpeg(40, 30)).held(by: network))
        let image = Fixture.gradient(3, 2)
        var request = ImageRequest(url)
        request.fallback = image
        if !isTheManagers { request.timeout = .seconds(5) }
        let ledger = Ledger()
        bench.manager.load(request) { ledger.take($0) }
        #expect(await bench.transport.waitForHits(url))
        #expect(
            await eventually {
                clock.advance(by: .seconds(1))
                return ledger.finishedCount > 0
            })
        let response = try await ledger.finished().get()
        #expect(response.image.storage === image.storage && response.source == .given)
        #expect(response.failure?.code == .deadlineExceeded)
        #expect(await bench.transport.waitForCancels(url))
        network.open()
    }

    @Test func aNetworkThatCannotBeReachedIsWaitedFor() async throws {
        let clock = ManualClock()
        let bench = TestBench(clock: clock)
        bench.transport.answer(
            url, .failure(WebImageError(.connectionRefused, "nobody is there")),
            .bytes(try Fixture.jpeg(40, 30), contentType: "image/jpeg"))
        var request = ImageRequest(url)
        request.waitsForNetwork = .seconds(1 << 40)
        let ledger = Ledger()
        bench.manager.load(request) { ledger.take($0) }
        #expect(
            await eventually {
                clock.advance(by: .seconds(1))
                return bench.transport.hits(url) == 2
            })
        #expect(try await ledger.finished().get().image.size.width == 40)
    }

    /// If no byte came, no decode can have taken too long, so the caller gets the transfer's error.
    @Test func aTransferThatFailsWithoutAByteKeepsItsError() async throws {
        let bench = TestBench(clock: HastyClock())
        bench.transport.answer(url, .failure(WebImageError(.connectionRefused, "nobody is there")))
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: ImageRequest(url)) }
        #expect(error?.code == .connectionRefused)
    }

    /// Retries come after one second, two, four and so on, at most thirty, and until the request's time is up.
    @Test(arguments: [
        (60_000, [1_000, 2_000, 4_000, 8_000, 16_000, 29_000]),
        (100_000, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]),
        (1_500, [1_000, 500]), (0, []),
    ])
    func networkRetriesAreSpacedAndEndWithTheirTime(milliseconds: Int, waits: [Int]) async throws {
        let clock = ManualClock()
        let tries = Guarded(0)
        var request = ImageRequest(url)
        request.waitsForNetwork = .milliseconds(milliseconds)
        let load = InterceptedLoad<Int>(
            proceed: { request throws(WebImageError) in
                let count = tries.withLock { tries in
                    tries += 1
                    return tries
                }
                // From the second try on, the URL is asked even if it is blocked.
                #expect(request.options.retriesFailed == (count > 1))
                throw WebImageError(.dnsFailed, "no such host")
            }, make: { _, _ throws(WebImageError) in throw .cancelled })
        let task = Task { [request] in
            await #expect(throws: WebImageError.self) {
                try await InterceptorChain([], clock: clock).run(request, load)
            }
        }
        for (index, wait) in waits.enumerated() {
            #expect(await eventually { clock.waitingCount == 1 })
            #expect(tries.withLock { $0 } == index + 1)
            clock.advance(by: .milliseconds(wait - 1))
            #expect(clock.waitingCount == 1)
            clock.advance(by: .milliseconds(1))
            if milliseconds == 100_000, index == 5 { task.cancel() }
        }
        let error = await task.value
        #expect(error?.code == (milliseconds == 100_000 ? .cancelled : .dnsFailed))
    }

    @Test func waitsForNetworkDoesNotRetryABadStatus() async throws {
        let bench = TestBench()
        bench.transport.answer(other, .status(500))
        var request = ImageRequest(other)
        request.waitsForNetwork = .seconds(60)
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        #expect(error?.code == .badStatus && bench.transport.hits(other) == 1)
    }
}

/// A clock that advances by a minute with each reading, as on a machine that stopped for a while. Scheduled actions
/// never run.
private final class HastyClock: LoadClock {
    private let looks = Guarded(0)

    var now: Duration {
        let looks = looks.withLock { looks in
            looks += 1
            return looks
        }
        return .seconds(60 * looks)
    }
    var wallTime: Int64 { ManualClock.start }

    func schedule(at time: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction { ScheduledAction {} }
}
