import Synchronization
import Testing
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Interceptors, which stand between callers and loads.
@Suite struct InterceptorTests {
    private let url = "http://pictures.test/a.jpg"
    private let other = "http://mirror.test/a.jpg"

    /// The lines that noting interceptors write when they are called.
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

    /// An interceptor that waits at a gate before it goes on.
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

    /// A gate that is opened once, for current and later waiters.
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

    /// An interceptor that asks another origin when the first one fails.
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

    /// With an interceptor or an async modifier before the load, a task that was cancelled before the call once waited
    /// for ever.
    @Test(arguments: [true, false]) func aTaskCancelledBeforeTheCallIsAnswered(intercepts: Bool) async throws {
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

    /// A timeout counts from the call, whether the manager or the request states it, for images and for bytes.
    @Test(arguments: [true, false], [true, false])
    func theTimeoutIncludesTheTimeOfInterceptors(isTheManagers: Bool, wantsBytes: Bool) async throws {
        let (gate, clock) = (AsyncGate(), ManualClock())
        let bench = TestBench(clock: clock) {
            $0.interceptors = [Waiting(gate: gate, urls: [url])]
            if isTheManagers { $0.timeout = .seconds(5) }
        }
        bench.answer(url, with: try Fixture.jpeg(8, 6))
        var request = ImageRequest(url)
        if !isTheManagers { request.timeout = .seconds(5) }
        let load = Task { [bench, request] in
            if wantsBytes { return try await bench.manager.data(for: request).count }
            return try await bench.manager.image(for: request).image.size.width
        }
        while clock.waitingCount == 0 { await Task.yield() }
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: WebImageError.self) { try await load.value }
        #expect(error?.code == .deadlineExceeded && bench.transport.requests.isEmpty)
        await gate.open()
    }

    @Test func interceptorsRunInOrderForEveryKindOfCall() async throws {
        let notes = Notes()
        let bench = TestBench {
            $0.interceptors = [Noting(name: "first", notes: notes), Noting(name: "second", notes: notes)]
        }
        bench.answer(url, with: try Fixture.jpeg(40, 30))
        let once = ["first asks", "second asks", "second has", "first has"]
        _ = try await bench.manager.image(for: ImageRequest(url))
        #expect(notes.all == once)
        // A picture in memory is served without asking the interceptors.
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

    @Test func eventsPassThroughInterceptors() async throws {
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

    @Test func aRefusalByAnInterceptorSendsNoRequest() async throws {
        let bench = TestBench { $0.interceptors = [Refusing()] }
        bench.answer(url, with: try Fixture.jpeg(40, 30))
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: ImageRequest(url)) }
        #expect(error?.code == .requestRefused)
        await #expect(throws: WebImageError.self) { try await bench.manager.data(for: ImageRequest(url)) }
        #expect(bench.transport.hits(url) == 0 && bench.manager.runningLoads == 0)
    }

    @Test func anInterceptorMayAnswerWithItsOwnPicture() async throws {
        let image = Fixture.gradient(3, 2)
        let bench = TestBench { $0.interceptors = [Answering(image: image)] }
        let response = try await bench.manager.image(for: ImageRequest(url))
        #expect(response.source == .given && response.image.storage === image.storage && response.failure == nil)
        #expect(bench.manager.cachedImage(for: ImageRequest(url)) == nil)
        // The interceptor's answer is a picture without bytes.
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.data(for: ImageRequest(url)) }
        #expect(error?.code == .unsupportedFeature)
    }

    @Test func anInterceptorMayLoadFromAMirrorAfterAFailure() async throws {
        let bench = TestBench {
            $0.interceptors = [Mirroring(from: "http://pictures.test/", to: "http://mirror.test/")]
        }
        bench.transport.answer(url, .status(500))
        bench.answer(other, with: try Fixture.jpeg(40, 30))
        #expect(try await bench.manager.image(for: ImageRequest(url)).image.size.width == 40)
        #expect(try await bench.manager.data(for: ImageRequest(url)).count > 100)
        #expect(bench.transport.hits(other) == 2)
    }

    @Test func aWaitingInterceptorHoldsUpNoOtherLoad() async throws {
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

    @Test func aCancelEndsTheWaitForAnInterceptorAtOnce() async throws {
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

    @Test func theInnerLoadFollowsItsCallersPriorityAndCancel() async throws {
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

    // MARK: Rules, presets and executors

    @Test func aRuleChangesRequestsBeforeMemoryIsAsked() async throws {
        let bench = TestBench {
            $0.interceptors = [
                RequestRule { request in
                    if request.transformers.isEmpty { request.transformers = [.resize(width: 10)] }
                },
                // Removes the query from the cache key, because its token does not change the picture.
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

    @Test func presetsAreAppliedInTheirOrder() {
        let small = RequestPreset { $0.size = TargetSize(width: 20) }
        let round = RequestPreset {
            $0.size = TargetSize(width: 30)
            $0.transformers = [.crop(.circle)]
        }
        let request = ImageRequest(url, small, round)
        #expect(request.size == TargetSize(width: 30) && request.transformers.count == 1)
        #expect(ImageRequest(url, small).applying(round) == request)
    }

    private struct Relaxing: ImageInterceptor {
        func intercept<Answer>(
            _ request: ImageRequest, _ load: InterceptedLoad<Answer>
        ) async throws(WebImageError) -> Answer {
            var request = request
            request.priority = .veryLow
            return try await load(request)
        }
    }

    /// The priority of the caller's own request once took its place.
    @Test func aPriorityThatAnInterceptorSetsCountsUntilTheCallerChangesIt() async throws {
        let (gate, ledger) = (Gate(), Ledger())
        let bench = TestBench { $0.interceptors = [Relaxing()] }
        bench.transport.answer(url, .bytes(try Fixture.jpeg(64, 48), contentType: "image/jpeg").held(by: gate))
        let token = bench.manager.load(ImageRequest(url)) { ledger.take($0) }
        func priorities() -> [LoadPriority] {
            bench.manager.loader.table.withLock { $0.bytesJobs.values.map(\.priority) }
        }
        #expect(await bench.transport.waitForHits(url))
        #expect(priorities() == [.veryLow])
        token.setPriority(.high)
        #expect(priorities() == [.high])
        gate.open()
        _ = try await ledger.finished().get()
    }

    @Test func eventsAreDeliveredOnTheCallersExecutor() async throws {
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

    // MARK: Cancelling everything

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
}

extension ImageRequest {
    /// This request with another URL but the same cache key.
    fileprivate func at(_ url: String) -> ImageRequest {
        var request = ImageRequest(url)
        request.caching.key = self.url
        return request
    }
}
