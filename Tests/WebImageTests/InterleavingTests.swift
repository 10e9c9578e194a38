import HTTPTypes
import Synchronization
import Testing
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// A model of the callers that wait for each URL, and of the steps that were carried out.
private final class WaitingBook: Sendable {
    private struct State {
        var alive: [String: Int] = [:]
        var orphans = 0
        var applied: [String: Int] = [:]
    }

    private let state = Guarded(State())

    func join(_ url: String) { state.withLock { $0.alive[url, default: 0] += 1 } }
    func leave(_ url: String) { state.withLock { $0.alive[url, default: 0] -= 1 } }

    /// Records that a step begins, and counts it as an orphan if no caller waits for the URL.
    func apply(_ step: String, of url: String) {
        state.withLock { state in
            if state.alive[url, default: 0] == 0 { state.orphans += 1 }
            state.applied[step + url, default: 0] += 1
        }
    }

    var orphans: Int { state.withLock { $0.orphans } }
    func count(_ step: String, _ url: String) -> Int { state.withLock { $0.applied[step + url] ?? 0 } }
}

/// A transformer that records its call in the model, and may fail.
private struct TellingStep: ImageTransformer {
    let name: String
    let url: String
    let fails: Bool
    let book: WaitingBook

    var key: String { name + (fails ? "!" : "") }

    func transform(_ image: Image) throws(WebImageError) -> Image {
        book.apply("\(name)\(image.size.width)", of: url)
        if fails { throw WebImageError(.transformFailed, "it was to fail") }
        return image
    }
}

/// An interceptor that holds each load until the gate of its URL opens.
private struct LateInterceptor: ImageInterceptor {
    let gates: [String: Gate]

    func intercept<Answer>(
        _ request: ImageRequest, _ load: InterceptedLoad<Answer>
    ) async throws(WebImageError) -> Answer {
        if let gate = gates[request.url] { await gate.opened() }
        return try await load(request)
    }
}

/// One caller, which counts its final events and the events after them.
private final class Caller: Sendable {
    private struct State {
        var ends: [Result<ImageResponse, WebImageError>] = []
        var late = 0
    }

    let request: ImageRequest
    private let book: WaitingBook
    private let state = Guarded(State())
    private let hasLeft = Atomic(false)

    init(_ request: ImageRequest, _ book: WaitingBook) {
        (self.request, self.book) = (request, book)
        book.join(request.url)
    }

    var ends: Int { state.withLock { $0.ends.count } }
    var isFair: Bool { state.withLock { $0.ends.count == 1 && $0.late == 0 } }
    /// Whether the caller left, ran out of time or was shut down.
    var hasGivenUp: Bool {
        guard case .failure(let error)? = result else { return false }
        return [.cancelled, .deadlineExceeded, .shutDown].contains(error.code)
    }

    var result: Result<ImageResponse, WebImageError>? { state.withLock { $0.ends.first } }

    func take(_ event: ImageEvent) {
        guard case .finished(let result) = event else {
            return state.withLock { state in if !state.ends.isEmpty { state.late += 1 } }
        }
        state.withLock { $0.ends.append(result) }
        if !hasLeft.exchange(true, ordering: .relaxed) { book.leave(request.url) }
    }
}

/// Loads whose stages a seeded scheduler carries out in random order. Every caller gets exactly one answer, no work is
/// done without waiters, and no work is done twice.
@Suite struct InterleavingTests {
    /// Makes 500 runs in each of 24 batches, 12 000 in all.
    @Test(arguments: 0..<24) func everyCallerGetsOneAnswerInAnyOrderOfStages(batch: Int) async throws {
        let jpeg = try Fixture.jpeg(8, 6)
        for number in 0..<500 {
            try await Run(seed: UInt64(batch * 500 + number), jpeg, intercepts: number % 10 == 0).run()
        }
    }
}

private final class Run {
    private static let urls = ["http://a.test/1", "http://a.test/2", "http://b.test/3"]

    private let seed: UInt64
    private var random: SeededGenerator
    private let clock = ManualClock()
    private let executor = SeededExecutor()
    private let transport = FakeTransport(.inline)
    private let book = WaitingBook()
    private let gates: [Gate]
    private let late: [String: Gate]
    private var manager: ImageManager?
    private var callers: [(caller: Caller, token: LoadToken)] = []
    /// The URLs whose origin serves a picture.
    private let good: Set<String>

    init(seed: UInt64, _ jpeg: [UInt8], intercepts: Bool) {
        self.seed = seed
        var random = SeededGenerator(seed: seed &+ 77)
        let answers: [FakeAnswer] = [
            .bytes(jpeg, contentType: "image/jpeg"), .bytes(jpeg).inPieces(of: 300), .status(404),
            .bytes(jpeg).failing(after: 200), .bytes(Array("no picture".utf8)), .bytes(jpeg, contentType: "image/jpeg"),
        ]
        var good: Set<String> = []
        var gates: [Gate] = []
        for url in Self.urls {
            let kind = random.below(answers.count)
            if kind < 2 || kind == 5 { good.insert(url) }
            let gate = Gate()
            gates.append(gate)
            transport.answer(url, answers[kind].held(by: gate, after: random.below(3) == 0 ? nil : random.below(600)))
        }
        (self.good, self.gates) = (good, gates)
        late = intercepts ? [Self.urls[0]: Gate(), Self.urls[1]: Gate()] : [:]
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        configuration.memoryLimits = .init(cost: .mebibytes(4))
        configuration.answersMemoryPressure = false
        configuration.download.deadlines = DownloadDeadlines(connect: nil, firstByte: nil, idle: nil)
        configuration.download.retry = .never
        configuration.download.circuit = nil
        if intercepts { configuration.interceptors = [LateInterceptor(gates: late)] }
        self.random = random
        manager = ImageManager(
            configuration, coders: .standard, transport: transport, clock: clock, files: PosixFileSystem(),
            executor: executor)
    }

    func run() async throws {
        for _ in 0..<(10 + random.below(30)) { step() }
        for gate in gates { gate.open() }
        for gate in late.values { gate.open() }
        if late.isEmpty {
            while runOne() {}
        } else {
            let areAllEnded = await eventually {
                self.runOne()
                return self.callers.allSatisfy { $0.caller.ends > 0 } && self.isQuiet
            }
            #expect(areAllEnded, "seed \(seed)")
            while runOne() {}
        }
        check()
        weak let manager = manager
        callers = []
        self.manager = nil
        // The tasks of interceptors may still be about to return.
        if manager != nil { _ = await eventually { manager == nil } }
        #expect(manager == nil, "seed \(seed): something holds the manager")
    }

    /// Whether no load and no transfer is running. (An interceptor whose caller has left may still start a load, which
    /// ends at once.)
    private var isQuiet: Bool {
        guard let loader = manager?.loader else { return false }
        let isIdle = loader.table.withLock { $0.pixelJobs.isEmpty && $0.preliminaries == 0 }
        return isIdle && transport.running == 0
    }

    @discardableResult
    private func runOne() -> Bool { executor.runOne { random.below($0) } }

    private func step() {
        switch random.below(14) {
        case 0..<5: load()
        case 5, 6: callers.randomElement(using: &random)?.token.cancel()
        case 7: callers.randomElement(using: &random)?.token.setPriority(LoadPriority.allCases[random.below(4)])
        case 8: gates[random.below(3)].open()
        case 9: late.values.randomElement(using: &random)?.open()
        case 10 where random.below(8) == 0: manager?.cancelAll()
        case 10 where random.below(12) == 0: manager?.shutDown()
        case 10 where random.below(4) == 0: clock.advance(by: .seconds(2))
        default: runOne()
        }
        // While no caller has left, each URL has at most one transfer at a time.
        if callers.allSatisfy({ !$0.caller.hasGivenUp }) {
            for url in Self.urls {
                #expect(transport.running(url) <= 1, "seed \(seed): two transfers of \(url)")
            }
        }
    }

    private func load() {
        let url = Self.urls[random.below(3)]
        var request = ImageRequest(url)
        request.priority = LoadPriority.allCases[random.below(4)]
        if random.below(3) == 0 { request.size = TargetSize(width: 4) }
        if random.below(8) == 0 { request.timeout = .seconds(1 + random.below(3)) }
        let names = [[], ["x"], ["x", "y"], ["x", "z"], ["w"]][random.below(5)]
        request.transformers = names.map { TellingStep(name: $0, url: url, fails: $0 == "w", book: book) }
        let caller = Caller(request, book)
        guard let token = manager?.load(request, onEvent: { caller.take($0) }) else { return }
        callers.append((caller, token))
    }

    private func check() {
        for (caller, _) in callers {
            #expect(caller.isFair, "seed \(seed): \(caller.ends) ends for \(caller.request.url)")
            guard case .success(let response)? = caller.result else { continue }
            #expect(good.contains(caller.request.url), "seed \(seed): a picture of nothing")
            let wanted = caller.request.size == nil ? 8 : 4
            #expect(response.image.size.width == wanted, "seed \(seed): another size")
        }
        // With interceptors, a caller's load ends only a moment after the caller has left.
        #expect(book.orphans == 0 || !late.isEmpty, "seed \(seed): a step began that nobody waited for")
        #expect(isQuiet, "seed \(seed): something runs for nobody")
        guard callers.allSatisfy({ !$0.caller.hasGivenUp }) else { return }
        // No caller has left, so every step was carried out at most once. Without a disk cache, each picture may need a
        // transfer of its own, and a failing picture is tried again for each caller.
        for url in good {
            let requests = callers.map(\.caller.request).filter { $0.url == url }
            let failing = requests.filter { $0.transformers.contains { $0.key == "w!" } }
            let pictures = Set(requests.filter { !failing.contains($0) }.map(\.variantKey))
            #expect(
                transport.hits(url) <= pictures.count + failing.count, "seed \(seed): \(transport.hits(url)) transfers")
            for width in [4, 8] {
                let own = requests.filter { ($0.size == nil) == (width == 8) }
                for name in ["x", "y", "z"] {
                    let chains = Set(own.map(\.variantKey)).filter { key in
                        own.contains { $0.variantKey == key && $0.transformers.contains { $0.key == name } }
                    }
                    let count = book.count("\(name)\(width)", url)
                    #expect(count <= chains.count, "seed \(seed): \(name) of \(url) was made \(count) times")
                }
            }
        }
    }
}
