import Synchronization
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// A target without a screen, which records what it is told to show.
@MainActor final class HeadlessTarget: ImageTarget {
    /// What a slot shows, with the image's width, by which tests distinguish images.
    enum Shown: Hashable {
        case nothing
        case picture(Int)
        case preview(Int)
        case placeholder(Int)
        case error(Int)
    }

    private(set) var shown: [SlotName: Shown] = [:]
    /// Every call that changes what is shown, in order.
    private(set) var log: [String] = []
    /// The transitions that have begun but not ended.
    private(set) var moving: [(kind: String, end: @MainActor () -> Void)] = []
    var endsTransitionsAtOnce = true
    private(set) var phases: [String] = []

    func setImage(_ image: Image?, in slot: SlotName) { show(image, in: slot, Shown.picture) }
    func setPlaceholder(_ image: Image?, in slot: SlotName) { show(image, in: slot, Shown.placeholder) }
    func setErrorImage(_ image: Image?, in slot: SlotName) { show(image, in: slot, Shown.error) }
    func setPreview(_ image: Image, in slot: SlotName) { show(image, in: slot, Shown.preview) }

    func apply(
        _ transition: any ImageTransition, to image: Image, in slot: SlotName,
        completion: @escaping @MainActor () -> Void
    ) {
        if let custom = transition as? CustomTransition {
            return custom.run(to: image, in: slot, of: self, completion: completion)
        }
        log.append("transition")
        setImage(image, in: slot)
        if endsTransitionsAtOnce { completion() } else { moving.append(("\(type(of: transition))", completion)) }
    }

    func slot(_ slot: SlotName, didChange state: SlotState) {
        let name = state.phase.name
        if phases.last != name { phases.append(name) }
    }

    func note(_ line: String) { log.append(line) }

    /// Ends all transitions that have begun.
    func endTransitions() {
        let ends = moving
        moving = []
        for (_, end) in ends { end() }
    }

    private func show(_ image: Image?, in slot: SlotName, _ kind: (Int) -> Shown) {
        let now = image.map { kind($0.size.width) } ?? .nothing
        shown[slot] = now
        log.append(slot == .image ? "\(now)" : "\(slot): \(now)")
    }
}

extension SlotState.Phase {
    var name: String {
        switch self {
        case .empty: "empty"
        case .waitingForSize: "waitingForSize"
        case .paused: "paused"
        case .loading: "loading"
        case .loaded(let source): "loaded from \(source.rawValue)"
        case .failed(let error): "failed: \(error.code.name)"
        case .cancelled: "cancelled"
        }
    }
}

/// A main loop that runs its waiting closures one at a time, when a test calls ``turn(_:)``.
final class ManualMainLoop: Sendable {
    private let waiting = Guarded<[@MainActor @Sendable () -> Void]>([])

    var hop: MainActorHop { { [self] body in waiting.withLock { $0.append(body) } } }
    var waitingCount: Int { waiting.withLock { $0.count } }

    /// - Returns: false if no closure waits.
    @MainActor @discardableResult func turn(_ choose: (Int) -> Int = { _ in 0 }) -> Bool {
        let body = waiting.withLock { waiting in waiting.isEmpty ? nil : waiting.remove(at: choose(waiting.count)) }
        body?()
        return body != nil
    }
}

/// A manager that does all its work on the test's thread, when the test calls ``work()`` or ``settle()``.
@MainActor final class SlotBench {
    let transport = FakeTransport(.inline)
    let clock = ManualClock()
    let executor = SeededExecutor()
    let loop = ManualMainLoop()
    let manager: ImageManager

    init(change: (inout ImageManager.Configuration) -> Void = { _ in }) {
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        configuration.memoryLimits = .init(cost: .mebibytes(64))
        configuration.answersMemoryPressure = false
        configuration.download.deadlines = DownloadDeadlines(connect: nil, firstByte: nil, idle: nil)
        configuration.download.retry = .never
        configuration.download.circuit = nil
        change(&configuration)
        manager = ImageManager(
            configuration, coders: .standard, transport: transport, clock: clock, files: PosixFileSystem(),
            executor: executor)
    }

    /// The URL of the picture that is `number` pixels wide.
    static func url(_ number: Int) -> String { "http://pictures.test/\(number)" }

    func request(_ number: Int) -> ImageRequest { ImageRequest(Self.url(number)) }

    /// Makes the origin answer with a picture of `number` x `height` pixels, which the gate holds if one is given.
    @discardableResult func answer(_ number: Int, height: Int = 2, gate: Gate? = nil) throws -> [UInt8] {
        let bytes = try Fixture.png(number, height)
        let answer = FakeAnswer.bytes(bytes, contentType: "image/png")
        transport.answer(Self.url(number), gate.map { answer.held(by: $0) } ?? answer)
        return bytes
    }

    /// Puts a picture of `number` x 2 pixels into the memory cache.
    func remember(_ number: Int) {
        manager.memoryCache.store(Fixture.gradient(number, 2), for: request(number).variantKey)
    }

    func slots(of target: HeadlessTarget, _ options: SlotOptions = SlotOptions()) -> ImageSlots {
        ImageSlots(of: target, manager: manager, options: options, hop: loop.hop)
    }

    /// Does all pending work of the manager and of the main loop, until nothing waits.
    func settle() {
        while executor.runOne({ _ in 0 }) || loop.turn() {}
    }

    /// Does the manager's pending work, but not the main loop's.
    func work() {
        while executor.runOne({ _ in 0 }) {}
    }
}

/// An indicator that records its calls.
@MainActor final class NotingIndicator: LoadIndicator {
    private(set) var log: [String] = []
    func start() { log.append("start") }
    func stop() { log.append("stop") }
    func show(fraction: Double?) { log.append(fraction.map { "\(Int($0 * 100)) %" } ?? "some") }
}
