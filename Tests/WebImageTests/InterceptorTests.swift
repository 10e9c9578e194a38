import Synchronization
import Testing
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// What stands between callers and loads.
@Suite struct InterceptorTests {
    private let url = "http://pictures.test/a.jpg"
    private let other = "http://mirror.test/a.jpg"

    /// Notes who was asked for what.
    private final class Notes: Sendable {
        private let lines = Guarded<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private struct Noting: ImageInterceptor {
        let name: String
        let notes: Notes

        func intercept<Answer>(
            _ request: ImageRequest, _ load: InterceptedLoad<Answer>
        ) async throws(WebImageError) -> Answer {
            notes.add("\(name) asks")
            do throws(WebImageError) {
                let answer = try await load(request)
                notes.add("\(name) has")
                return answer
            } catch {
                notes.add("\(name) fails with \(error.code.name)")
                throw error
            }
        }
    }

    /// Waits at a gate before it goes on.
    private struct Waiting: ImageInterceptor {
        let gate: AsyncGate
        var urls: [String] = []

        func intercept<Answer>(
            _ request: ImageRequest, _ load: InterceptedLoad<Answer>
        ) async throws(WebImageError) -> Answer {
            if urls.contains(request.url) { await gate.wait() }
            return try await load(request)
        }
    }

    /// Opened once, for all who wait and will wait.
    private actor AsyncGate {
        private var isOpen = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func wait() async {
            if isOpen { return }
            await withCheckedContinuation { waiting.append($0) }
        }

        func open() {
            isOpen = true
            for continuation in waiting { continuation.resume() }
            waiting = []
        }
    }

    private struct Refusing: ImageInterceptor {
        func intercept<Answer>(
            _ request: ImageRequest, _ load: InterceptedLoad<Answer>
        ) async throws(WebImageError) -> Answer { throw WebImageError(.requestRefused, "not this one") }
    }

    private struct Answering: ImageInterceptor {
        let image: Image

        func intercept<Answer>(
            _ request: ImageRequest, _ load: InterceptedLoad<Answer>
        ) async throws(WebImageError) -> Answer { try load.answer(with: image) }
    }

    /// Asks the other origin when the first one fails.
    private struct Mirroring: ImageInterceptor {
        let from: String
        let to: String

        func intercept<Answer>(
            _ request: ImageRequest, _ load: InterceptedLoad<Answer>
        ) async throws(WebImageError) -> Answer {
            do throws(WebImageError) { return try await load(request) } catch {
                guard request.url.hasPrefix(from) else { throw error }
                return try await load(ImageRequest(to + request.url.dropFirst(from.count)))
            }
        }
    }

    /// Whoever was cancelled before the call waited for ever, where an interceptor or an async modifier stood before the load.
    @Test(arguments: [true, false]) func whoIsCancelledBeforeTheCallHasAnAnswer(intercepts: Bool) async throws {
        let bench = TestBench { if intercepts { $0.interceptors = [Noting(name: "one", notes: Notes())] } }
        bench.answer(url, with: try Fixture.jpeg(8, 6))
        var request = ImageRequest(url)
        if !intercepts {
            request.http.requestModifier = RequestModifier(name: "slow") { request in
                await Task.yield()
                return request
            }
        }
        let load = Task { [bench, request] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await bench.manager.image(for: request).image.size
        }
        let error = await #expect(throws: WebImageError.self) { try await load.value }
        #expect(error?.code == .cancelled)
    }

    @Test func theyAreAskedInTheirOrderForEveryKindOfCall() async throws {
        let notes = Notes()
        let bench = TestBench {
            $0.interceptors = [Noting(name: "first", notes: notes), Noting(name: "second", notes: notes)]
        }
        bench.answer(url, with: try Fixture.jpeg(40, 30))
        let once = ["first asks", "second asks", "second has", "first has"]
        _ = try await bench.manager.image(for: ImageRequest(url))
        #expect(notes.all == once)
        // What memory has goes past them.
        _ = try await bench.manager.image(for: ImageRequest(url))
        #expect(notes.all == once)
        _ = try await bench.manager.data(for: ImageRequest(url))
        #expect(notes.all == once + once)
        _ = try await bench.manager.details(for: ImageRequest(url))
        #expect(notes.all.count == 12)
        for try await _ in try await bench.manager.bytes(for: ImageRequest(url)) {}
        _ = try await bench.manager.keepOriginal(for: ImageRequest(url))
        #expect(notes.all.count == 20)
    }

    @Test func eventsComeThroughThem() async throws {
        let bench = TestBench { $0.interceptors = [Noting(name: "one", notes: Notes())] }
        bench.answer(url, with: try Fixture.jpeg(400, 300, progressive: true))
        var ends = 0
        for await event in bench.manager.events(for: ImageRequest(url)) {
            if case .finished(let result) = event {
                ends += 1
                #expect(try result.get().image.size.width == 400)
            }
        }
        #expect(ends == 1)
    }

    @Test func oneMayRefuseAndNothingIsAskedFor() async throws {
        let bench = TestBench { $0.interceptors = [Refusing()] }
        bench.answer(url, with: try Fixture.jpeg(40, 30))
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: ImageRequest(url)) }
        #expect(error?.code == .requestRefused)
        await #expect(throws: WebImageError.self) { try await bench.manager.data(for: ImageRequest(url)) }
        #expect(bench.transport.hits(url) == 0 && bench.manager.runningLoads == 0)
    }

    @Test func oneMayAnswerWithAPictureOfItsOwn() async throws {
        let image = Fixture.gradient(3, 2)
        let bench = TestBench { $0.interceptors = [Answering(image: image)] }
        let response = try await bench.manager.image(for: ImageRequest(url))
        #expect(response.source == .given && response.image.storage === image.storage && response.failure == nil)
        #expect(bench.manager.cachedImage(for: ImageRequest(url)) == nil)
        // There are no bytes of it.
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.data(for: ImageRequest(url)) }
        #expect(error?.code == .unsupportedFeature)
    }

    @Test func oneMayAskElsewhereWhenTheLoadFails() async throws {
        let bench = TestBench {
            $0.interceptors = [Mirroring(from: "http://pictures.test/", to: "http://mirror.test/")]
        }
        bench.transport.answer(url, .status(500))
        bench.answer(other, with: try Fixture.jpeg(40, 30))
        #expect(try await bench.manager.image(for: ImageRequest(url)).image.size.width == 40)
        #expect(try await bench.manager.data(for: ImageRequest(url)).count > 100)
        #expect(bench.transport.hits(other) == 2)
    }

    @Test func oneThatWaitsMakesNobodyElseWait() async throws {
        let gate = AsyncGate()
        let slow = "http://slow.test/a.jpg"
        let bench = TestBench { $0.interceptors = [Waiting(gate: gate, urls: [slow])] }
        for url in [url, slow] { bench.answer(url, with: try Fixture.jpeg(40, 30)) }
        let ledger = Ledger()
        bench.manager.load(ImageRequest(slow)) { ledger.take($0) }
        for index in 0..<20 {
            #expect(try await bench.manager.image(for: ImageRequest("\(url)?\(index)").at(url)).image.size.width == 40)
        }
        #expect(bench.transport.hits(slow) == 0)
        await gate.open()
        #expect(try await ledger.finished().get().image.size.width == 40)
    }

    @Test func leavingEndsTheWaitAtOnceAndStartsNothing() async throws {
        let gate = AsyncGate()
        let bench = TestBench { $0.interceptors = [Waiting(gate: gate, urls: [url])] }
        bench.answer(url, with: try Fixture.jpeg(40, 30))
        let ledger = Ledger()
        let token = bench.manager.load(ImageRequest(url)) { ledger.take($0) }
        token.cancel()
        let end = await ledger.finished()
        if case .failure(let error) = end { #expect(error.code == .cancelled) } else { Issue.record("it came") }
        await gate.open()
        #expect(await eventually { bench.manager.loader.table.withLock { $0.tokens.isEmpty } })
        #expect(bench.transport.hits(url) == 0)
    }

    @Test func theInnerLoadIsAsUrgentAsItsCallerAndEndsWithIt() async throws {
        let bench = TestBench { $0.interceptors = [Noting(name: "one", notes: Notes())] }
        let network = Gate()
        bench.transport.answer(
            url, .bytes(try Fixture.jpeg(64, 48), contentType: "image/jpeg").held(by: network, after: 20))
        let ledger = Ledger()
        let token = bench.manager.load(ImageRequest(url)) { ledger.take($0) }
        #expect(await bench.transport.waitForHits(url))
        token.setPriority(.high)
        #expect(bench.manager.loader.table.withLock { $0.bytesJobs.values.map(\.priority) } == [.high])
        token.cancel()
        _ = await ledger.finished()
        #expect(await eventually { bench.manager.runningLoads == 0 })
        network.open()
    }

    // MARK: rules, presets, executors

    @Test func aRuleChangesRequestsBeforeMemoryIsAsked() async throws {
        let bench = TestBench {
            $0.interceptors = [
                RequestRule { request in
                    if request.transformers.isEmpty { request.transformers = [.resize(width: 10)] }
                },
                // The filter of a cache key: a token in the query names no other picture.
                RequestRule { request in
                    if let end = request.url.firstIndex(of: "?") { request.caching.key = String(request.url[..<end]) }
                },
            ]
        }
        bench.answer(url + "?token=1", with: try Fixture.jpeg(40, 30))
        #expect(try await bench.manager.image(for: ImageRequest(url + "?token=1")).image.size.width == 10)
        #expect(bench.manager.cachedImage(for: ImageRequest(url + "?token=2"))?.size.width == 10)
        #expect(try await bench.manager.image(for: ImageRequest(url + "?token=3")).source == .memory)
    }

    @Test func aPresetSaysWhatBelongsTogether() {
        let small = RequestPreset { $0.size = TargetSize(width: 20) }
        let round = RequestPreset {
            $0.size = TargetSize(width: 30)
            $0.transformers = [.crop(.circle)]
        }
        let request = ImageRequest(url, small, round)
        #expect(request.size == TargetSize(width: 30) && request.transformers.count == 1)
        #expect(ImageRequest(url, small).applying(round) == request)
    }

    @Test func eventsAreToldWhereTheCallerWantsThem() async throws {
        let bench = TestBench()
        bench.answer(url, with: try Fixture.jpeg(40, 30))
        let waiting = Guarded<[@Sendable () -> Void]>([])
        let executor = CallbackExecutor { work in waiting.withLock { $0.append(work) } }
        let ledger = Ledger()
        bench.manager.load(ImageRequest(url), on: executor) { ledger.take($0) }
        #expect(await eventually { bench.manager.cachedImage(for: ImageRequest(url)) != nil })
        #expect(await eventually { !waiting.withLock { $0.isEmpty } })
        #expect(ledger.finishedCount == 0)
        #expect(
            await eventually {
                for work in waiting.withLock({ $0 }) { work() }
                return ledger.finishedCount > 0
            })
    }

    // MARK: all at once

    @Test func cancelAllEndsEveryLoadAndTheManagerGoesOn() async throws {
        let gate = AsyncGate()
        let held = "http://held.test/a.jpg"
        let bench = TestBench { $0.interceptors = [Waiting(gate: gate, urls: [held])] }
        let network = Gate()
        for url in [url, other] {
            bench.transport.answer(
                url, .bytes(try Fixture.jpeg(64, 48), contentType: "image/jpeg").held(by: network, after: 20))
        }
        let ledgers = [url, url, other, held].map { url in
            let ledger = Ledger()
            bench.manager.load(ImageRequest(url)) { ledger.take($0) }
            return ledger
        }
        #expect(await bench.transport.waitForHits(url))
        bench.manager.cancelAll()
        for ledger in ledgers {
            let end = await ledger.finished()
            if case .failure(let error) = end { #expect(error.code == .cancelled) } else { Issue.record("it came") }
        }
        #expect(await eventually { bench.manager.runningLoads == 0 })
        network.open()
        await gate.open()
        #expect(try await bench.manager.image(for: ImageRequest(url)).image.size.width == 64)
    }

    // MARK: ways out

    @Test func otherURLsAreAskedInTheirOrder() async throws {
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
        // It has the name of where it came from.
        #expect(bench.manager.cachedImage(for: ImageRequest(third, size: TargetSize(width: 20))) != nil)
        #expect(try await bench.manager.data(for: request).count > 100)
        request.alternatives = [other]
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        #expect(error?.code == .badStatus)
    }

    /// What says who asks goes to the origin that was asked for, and to no other one.
    @Test func anotherOriginIsNotToldWhoAsks() async throws {
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
        #expect(bench.manager.cachedImage(for: ImageRequest(other)) != nil)
    }

    /// Also those that have come to no job yet.
    @Test func shuttingDownEndsWhoWaitsForTheNetwork() async throws {
        let clock = ManualClock()
        let bench = TestBench(clock: clock)
        bench.transport.answer(url, .failure(WebImageError(.connectionRefused, "nobody is there")))
        var request = ImageRequest(url)
        request.waitsForNetwork = .seconds(1000)
        let task = Task { [request] in try await bench.manager.image(for: request) }
        #expect(await eventually { clock.waitingCount == 1 })
        bench.manager.shutDown()
        let result = await task.result
        #expect(throws: WebImageError.self) { try result.get() }
    }

    @Test func aFallbackStandsForWhatFailsAndSaysWhy() async throws {
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

    /// After one second, after two, after four, at most thirty; and no longer than the request says.
    @Test(arguments: [
        (60_000, [1_000, 2_000, 4_000, 8_000, 16_000, 29_000]),
        (100_000, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]),
        (1_500, [1_000, 500]), (0, []),
    ])
    func patienceEnds(milliseconds: Int, waits: [Int]) async throws {
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
                // From the second try on it is asked whatever is known of the URL.
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

    @Test func onlyTheNetworkIsWaitedFor() async throws {
        let bench = TestBench()
        bench.transport.answer(other, .status(500))
        var request = ImageRequest(other)
        request.waitsForNetwork = .seconds(60)
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        #expect(error?.code == .badStatus && bench.transport.hits(other) == 1)
    }
}

extension ImageRequest {
    /// The same picture under a name of its own.
    fileprivate func at(_ url: String) -> ImageRequest {
        var request = ImageRequest(url)
        request.caching.key = self.url
        return request
    }
}
