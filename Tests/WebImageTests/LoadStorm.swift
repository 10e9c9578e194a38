import HTTPTypes
import Synchronization
import Testing
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Counts the events that one caller gets, and checks their order.
final class CallerBook: Sendable {
    private struct State {
        var ends = 0
        var late = 0
        var calls = 0
        var overlaps = 0
        var code: WebImageError.Code?
    }

    private let state = Guarded(State())

    /// Whether there was exactly one final event, no event after it, and never two events at once.
    var isFair: Bool { state.withLock { $0.ends == 1 && $0.late == 0 && $0.overlaps == 0 } }
    var code: WebImageError.Code? { state.withLock { $0.code } }

    func take(_ event: ImageEvent) {
        state.withLock { state in
            if state.calls > 0 { state.overlaps += 1 }
            state.calls += 1
            if state.ends > 0 { state.late += 1 }
            if case .finished(let result) = event {
                state.ends += 1
                if case .failure(let error) = result { state.code = error.code }
            }
        }
        state.withLock { $0.calls -= 1 }
    }
}

final class TokenBox: Sendable {
    private let held = Guarded<LoadToken?>(nil)

    var token: LoadToken? {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }
}

/// A transformer that changes nothing. It shows, by a weak reference, whether a request that has it still exists.
private final class LifeMark: ImageTransformer {
    let key = "life"

    func transform(_ image: Image) throws(WebImageError) -> Image { image }
}

private struct WeakMark: Sendable {
    weak let mark: LifeMark?
}

/// A storm of random loads, cancels and priority changes on one manager, from several threads.
final class Storm: Sendable {
    /// The number of URLs that one caller waits for to the end, so that no cancel can end their transfer.
    private static let anchored = 5
    private static let urls = (0..<10).map { "http://storm.test/\($0)" }

    private struct Held {
        var manager: ImageManager?
        var books: [CallerBook] = []
        var marks: [WeakMark] = []
        var gates: [Gate] = []
        var tokens: [LoadToken] = []
        var tasks: [Task<Void, Never>] = []
        var random: SeededGenerator
    }

    private let held: Guarded<Held>
    private let clock = ManualClock()
    private let transport = FakeTransport()
    private let folder: TemporaryFolder?
    private let shutsDown: Bool

    init(seed: UInt64) throws {
        var configuration = ImageManager.Configuration()
        folder = seed % 2 == 0 ? try TemporaryFolder() : nil
        configuration.disk = folder.map { DiskCacheConfiguration(directory: $0.path) }
        configuration.memoryLimits = .init(cost: seed % 4 < 2 ? 0 : .mebibytes(16))
        configuration.decodeThreads = 3
        configuration.fileThreads = 2
        configuration.decodeMemory = seed % 3 == 0 ? 1 : .kibibytes(600)
        configuration.download.maxConcurrent = 32
        configuration.download.retry = .never
        configuration.download.circuit = nil
        configuration.download.maxConcurrentPerHost = 32
        let manager = ImageManager(
            configuration, coders: .standard, transport: transport, clock: clock, files: PosixFileSystem())
        held = Guarded(Held(manager: manager, random: SeededGenerator(seed: seed)))
        shutsDown = seed % 3 == 1
        let jpeg = try Fixture.jpeg(320, 200)
        let progressive = try Fixture.jpeg(300, 220, progressive: true)
        let png = try Fixture.png(160, 120)
        let answers = [
            FakeAnswer.bytes(jpeg), .bytes(progressive), .bytes(png), .bytes(jpeg).inPieces(of: 700),
            .bytes(progressive).inPieces(of: 900), .bytes(jpeg).failing(after: 3000), .status(404),
            .bytes(Array("no picture at all, and not short of bytes either".utf8)), .bytes(png).failing(after: 900),
            .bytes([]),
        ]
        let validators: [HTTPFields] = [
            [.eTag: "\"a\""], [:], [.cacheControl: "max-age=0, stale-while-revalidate=600", .eTag: "\"b\""], [:],
            [.lastModified: "Tue, 15 Nov 1994 12:45:26 GMT"],
        ]
        for (index, (url, given)) in zip(Self.urls, answers).enumerated() {
            var answer = given
            if index < validators.count, let head = answer.head {
                var fields = head.headers
                fields.append(contentsOf: validators[index])
                answer.head = ResponseHead(status: head.status, headers: fields)
            }
            let gate = Gate()
            held.withLock { $0.gates.append(gate) }
            let offset = held.withLock { $0.random.below(4) == 0 ? nil : $0.random.below(5000) }
            transport.answer(url, answer.held(by: gate, after: offset))
        }
    }

    var manager: ImageManager? { held.withLock { $0.manager } }
    var books: [CallerBook] { held.withLock { $0.books } }
    var livingRequests: Int { held.withLock { $0.marks.count { $0.mark != nil } } }

    /// Releases the manager, the tokens and the tasks, but keeps the callers' books.
    func release() {
        let manager = held.withLock { held -> ImageManager? in
            held.tokens = []
            held.tasks = []
            defer { held.manager = nil }
            return held.manager
        }
        manager?.memoryCache.removeAll()
    }

    func rage() async throws {
        for url in Self.urls.prefix(Self.anchored) { call(request(url), isAnchor: true) }
        for url in Self.urls.prefix(Self.anchored) { #expect(await transport.waitForHits(url, 1)) }
        await take(steps: 60, onThreads: 4)
        for (index, url) in Self.urls.prefix(Self.anchored).enumerated() {
            let gate = held.withLock { $0.gates[index] }
            #expect(gate.isOpen || transport.hits(url) == 1, "\(url) was transferred more than once")
        }
        if shutsDown { manager?.shutDown() }
        for gate in held.withLock({ $0.gates }) { gate.open() }
        await take(steps: 20, onThreads: 2)
        // Loads that are still running end by their transfer or their timeout; none waits for ever.
        for task in held.withLock({ $0.tasks }) { await task.value }
        #expect(await eventually { self.books.allSatisfy { $0.isFair } })
        if !shutsDown { manager?.shutDown() }
    }

    /// Carries out random steps on threads instead of tasks, so that the tasks of deadlines can run meanwhile.
    private func take(steps: Int, onThreads count: Int) async {
        let gates = (0..<count).map { _ in Gate() }
        for gate in gates {
            startThread(named: "storm") {
                for step in 0..<steps { self.step(step) }
                gate.open()
            }
        }
        for gate in gates { await gate.opened() }
    }

    private func roll(_ count: Int) -> Int { held.withLock { $0.random.below(count) } }

    private func step(_ step: Int) {
        switch roll(20) {
        case 0..<10: call(randomRequest())
        case 10..<13: receiveAsync(randomRequest())
        case 13..<15: receiveEvents(randomRequest())
        case 15..<18: anyToken()?.cancel()
        case 18: anyToken()?.setPriority(LoadPriority.allCases[roll(4)])
        default:
            // The clock never reaches a transfer's own deadline, because an anchored URL must be transferred once.
            if step % 4 == 0, clock.now < .seconds(6) { clock.advance(by: .milliseconds(500)) }
            if step > 40 { held.withLock { $0.gates[$0.random.below($0.gates.count)] }.open() }
        }
    }

    private func anyToken() -> LoadToken? {
        held.withLock { held in
            held.tokens.isEmpty ? nil : held.tokens[held.random.below(held.tokens.count)]
        }
    }

    private func request(_ url: String) -> ImageRequest {
        let mark = LifeMark()
        held.withLock { $0.marks.append(WeakMark(mark: mark)) }
        var request = ImageRequest(url)
        request.transformers = [mark]
        return request
    }

    private func randomRequest() -> ImageRequest {
        var request = request(Self.urls[roll(Self.urls.count)])
        switch roll(6) {
        case 0: break
        case 1: request.size = TargetSize(width: 20 + roll(3))
        case 2: request.size = TargetSize(width: 90)
        case 3: request.size = TargetSize(width: 150, height: 40, fit: .cover)
        case 4: request.decoding.keepsBitDepth = true
        default: request.decoding.allowsPartial = true
        }
        request.includesData = roll(8) == 0
        request.priority = LoadPriority.allCases[roll(4)]
        if roll(8) == 0 { request.caching.policy = .noStore }
        if roll(16) == 0 { request.caching.policy = .cacheOnly }
        if roll(5) == 0 { request.caching.policy = [.protocol, .revalidate, .refresh][roll(3)] }
        request.retriesFailed = roll(2) == 0
        if roll(4) == 0 { request.caching.store = .all }
        request.caching.waitsForStore = roll(6) == 0
        if roll(5) == 0 { request.timeout = .seconds(1 + roll(4)) }
        return request
    }

    private func newBook() -> CallerBook {
        let book = CallerBook()
        held.withLock { $0.books.append(book) }
        return book
    }

    /// - Parameter isAnchor: whether the call is never cancelled.
    private func call(_ request: ImageRequest, isAnchor: Bool = false) {
        guard let manager else { return }
        let book = newBook()
        let reacts = roll(8)
        let (box, another) = (TokenBox(), reacts == 1 ? (newBook(), self.request(Self.urls[0])) : nil)
        let token = manager.load(request) { [weak manager] event in
            book.take(event)
            switch event {
            case .progress, .preview, .cached:
                if reacts == 0 { box.token?.cancel() }
            case .finished:
                box.token = nil
                guard let (other, request) = another else { return }
                if let manager {
                    manager.load(request) { other.take($0) }
                } else {
                    other.take(.finished(.failure(.cancelled)))
                }
            }
        }
        if isAnchor { return }
        if reacts == 0 { box.token = token }
        held.withLock { $0.tokens.append(token) }
    }

    private func receiveAsync(_ request: ImageRequest) {
        guard let manager else { return }
        let book = newBook()
        let task = Task {
            do throws(WebImageError) {
                let response = try await manager.image(for: request)
                if request.includesData { #expect(response.data != nil) }
                book.take(.finished(.success(response)))
            } catch {
                book.take(.finished(.failure(error)))
            }
        }
        if roll(3) == 0 { task.cancel() }
        held.withLock { $0.tasks.append(task) }
    }

    private func receiveEvents(_ request: ImageRequest) {
        guard let manager else { return }
        let book = newBook()
        let patience = roll(4)
        let task = Task {
            var seen = 0
            for await event in manager.events(for: request) {
                seen += 1
                if patience == 0, seen == 2 {
                    if case .finished = event { book.take(event) } else { book.take(.finished(.failure(.cancelled))) }
                    return
                }
                book.take(event)
            }
        }
        if roll(4) == 0 { task.cancel() }
        held.withLock { $0.tasks.append(task) }
    }
}
