import Synchronization
import Testing
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Tests of what a slot shows at which time.
@MainActor @Suite struct SlotTests {
    private let bench = SlotBench()
    private let target = HeadlessTarget()
    private let placeholder = Fixture.gradient(1000, 1)
    private let broken = Fixture.gradient(2000, 1)

    private func options(_ change: (inout SlotOptions) -> Void) -> SlotOptions {
        var options = SlotOptions()
        options.placeholder = placeholder
        change(&options)
        return options
    }

    // MARK: - What is shown

    @Test func aPictureInMemoryIsShownInTheSameTurnWithoutAPlaceholder() {
        bench.remember(5)
        let slots = bench.slots(of: target)
        var answer: ImageSource?
        slots.load(bench.request(5)) {
            $0.placeholder = placeholder
            $0.transition = .fade()
        } completion: {
            answer = try? $0.get().source
        }
        #expect(target.log == ["picture(5)"] && answer == .memory && target.phases == ["loaded from memory"])
        #expect(bench.loop.waitingCount == 0)
    }

    @Test func thePlaceholderIsShownUntilThePictureIsThere() throws {
        try bench.answer(5)
        let slots = bench.slots(of: target, options { _ in })
        slots.load(bench.request(5))
        #expect(target.log == ["placeholder(1000)"] && slots[.image].state.isLoading)
        #expect(slots[.image].state.url == SlotBench.url(5))
        bench.work()
        #expect(target.log == ["placeholder(1000)"], "nothing is shown off the main loop's turn")
        bench.settle()
        #expect(target.log == ["placeholder(1000)", "picture(5)"])
        #expect(target.phases == ["loading", "loaded from network"] && slots[.image].state.fraction == 1)
        #expect(slots[.image].state.image?.size.width == 5)
    }

    @Test func withoutAPlaceholderTheOldPictureGoesAtOnce() throws {
        try bench.answer(6)
        bench.remember(5)
        let slots = bench.slots(of: target)
        slots.load(bench.request(5))
        slots.load(bench.request(6))
        #expect(target.shown[.image] == .nothing)
    }

    @Test func theOldPictureStaysWhereItIsKeptAndThePlaceholderStandsForAFailure() throws {
        try bench.answer(6)
        bench.remember(5)
        bench.transport.answer(SlotBench.url(7), .status(404))
        let slots = bench.slots(of: target, options { $0.keepsCurrentImage = true })
        slots.load(bench.request(5))
        slots.load(bench.request(6))
        #expect(target.shown[.image] == .picture(5))
        bench.settle()
        #expect(target.shown[.image] == .picture(6))
        slots.load(bench.request(7))
        #expect(target.shown[.image] == .picture(6))
        bench.settle()
        #expect(target.shown[.image] == .placeholder(1000))
    }

    @Test func aFailureShowsTheErrorImageOrLeavesThePlaceholder() throws {
        bench.transport.answer(SlotBench.url(7), .status(404))
        let slots = bench.slots(of: target, options { _ in })
        var code: WebImageError.Code?
        slots[.image].load(bench.request(7)) { if case .failure(let error) = $0 { code = error.code } }
        bench.settle()
        #expect(target.log == ["placeholder(1000)"] && code == .badStatus)
        #expect(slots[.image].state.error?.code == .badStatus && target.phases == ["loading", "failed: badStatus"])
        slots[.image].reload()
        slots.load(bench.request(7)) {
            $0.errorImage = broken
            $0.keepsCurrentImage = true
        }
        bench.settle()
        #expect(target.shown[.image] == .error(2000))
    }

    @Test func aPlaceholderMayWait() throws {
        let gate = Gate()
        try bench.answer(5, gate: gate)
        try bench.answer(6)
        let slots = bench.slots(of: target, options { $0.placeholderDelay = .milliseconds(100) })
        slots.load(bench.request(5))
        #expect(target.log == ["nothing"])
        bench.clock.advance(by: .milliseconds(99))
        bench.settle()
        #expect(target.log == ["nothing"])
        bench.clock.advance(by: .milliseconds(1))
        bench.settle()
        #expect(target.log == ["nothing", "placeholder(1000)"])
        gate.open()
        bench.settle()
        // A picture that comes quickly is shown without the placeholder before it.
        slots.load(bench.request(6))
        bench.settle()
        bench.clock.advance(by: .seconds(1))
        bench.settle()
        #expect(target.log == ["nothing", "placeholder(1000)", "picture(5)", "nothing", "picture(6)"])
    }

    @Test func theCallerMayShowThePictureItself() throws {
        try bench.answer(5)
        let slots = bench.slots(of: target, options { $0.setsImage = false })
        var width: Int?
        slots[.image].load(bench.request(5)) { width = try? $0.get().image.size.width }
        bench.settle()
        #expect(target.log == ["placeholder(1000)"] && width == 5)
        // A closure can show everything instead of the target.
        var shown: [String] = []
        slots.load(bench.request(5)) {
            $0.setImage = { image, role in shown.append("\(role) \(image?.size.width ?? 0)") }
        }
        slots.load(bench.request(6)) {
            $0.errorImage = broken
            $0.setImage = { image, role in shown.append("\(role) \(image?.size.width ?? 0)") }
        }
        bench.settle()
        #expect(shown == ["picture 5", "placeholder 1000", "error 2000"] && target.log == ["placeholder(1000)"])
        // It once kept its image when the slot was cleared.
        slots.clear()
        #expect(shown.last == "placeholder 0" && target.log == ["placeholder(1000)"])
    }

    @Test func withoutAURLThePlaceholderIsShownAndTheCallFails() {
        let slots = bench.slots(of: target, options { _ in })
        var codes: [WebImageError.Code] = []
        slots[.image].load(nil) { if case .failure(let error) = $0 { codes.append(error.code) } }
        #expect(codes == [.invalidURL] && target.log == ["placeholder(1000)"])
        #expect(slots[.image].state.request == nil && slots[.image].state.error?.code == .invalidURL)
    }

    @Test func partsAreShownWhileTheRestIsLoaded() throws {
        let (gate, bytes) = (Gate(), try Fixture.jpeg(64, 64, progressive: true))
        bench.transport.answer(
            SlotBench.url(64), .bytes(bytes, contentType: "image/jpeg").held(by: gate, after: bytes.count - 40))
        let slots = bench.slots(of: target, options { _ in })
        slots.load(bench.request(64))
        bench.settle()
        #expect(target.shown[.image] == .preview(64) && slots[.image].state.image?.info.isPartial == true)
        slots[.highlighted].load(bench.request(64), options: options { $0.showsPreviews = false })
        bench.settle()
        #expect(target.shown[.highlighted] == .placeholder(1000))
        gate.open()
        bench.settle()
        #expect(target.shown[.image] == .picture(64) && target.shown[.highlighted] == .picture(64))
    }

    // MARK: - Progress

    @Test func progressIsAValueAndTheIndicatorIsToldOfIt() throws {
        let (gate, bytes) = (Gate(), try Fixture.jpeg(64, 64))
        bench.transport.answer(
            SlotBench.url(64), .bytes(bytes, contentType: "image/jpeg").held(by: gate, after: bytes.count / 2))
        let indicator = NotingIndicator()
        let slots = bench.slots(of: target, options { $0.indicator = indicator })
        slots.load(bench.request(64))
        #expect(indicator.log == ["start"] && slots[.image].state.fraction == nil)
        bench.settle()
        let fraction = try #require(slots[.image].state.fraction)
        #expect(fraction > 0.4 && fraction < 0.6 && slots[.image].state.progress?.expected?.bytes == bytes.count)
        #expect(indicator.log.count == 2)
        gate.open()
        bench.settle()
        #expect(indicator.log.last == "stop" && indicator.log.filter { $0 == "stop" }.count == 1)
        // A picture in memory needs no indicator.
        slots.load(bench.request(64))
        #expect(indicator.log.filter { $0 == "start" }.count == 1)
    }

    // MARK: - Calls one after the other

    @Test func aNewCallEndsThePreviousOneBeforeItBegins() throws {
        let gate = Gate()
        try bench.answer(5, gate: gate)
        try bench.answer(6)
        let slots = bench.slots(of: target, options { $0.keepsCurrentImage = true })
        slots[.image].load(bench.request(5)) { [target] in
            if case .failure(let error) = $0 { target.note("first \(error.code.rawValue)") }
        }
        bench.settle()
        slots[.image].load(bench.request(6)) { [target] _ in target.note("second") }
        gate.open()
        bench.settle()
        #expect(target.log == ["first 2002", "picture(6)", "second"])
        #expect(bench.transport.cancels(SlotBench.url(5)) == 1)
    }

    @Test func theCallBeforeMayGoOnWithoutBeingShown() throws {
        let gate = Gate()
        try bench.answer(5, gate: gate)
        try bench.answer(6)
        let slots = bench.slots(of: target, options { $0.cancelsPrevious = false })
        var first: Int?
        slots[.image].load(bench.request(5)) { first = try? $0.get().image.size.width }
        slots.load(bench.request(6))
        bench.settle()
        gate.open()
        bench.settle()
        #expect(first == 5 && target.shown[.image] == .picture(6) && !target.log.contains("picture(5)"))
    }

    /// An answer that arrives after the slot has moved on is refused at the slot.
    @Test func anAnswerToAReplacedCallIsNotShown() throws {
        try bench.answer(5)
        try bench.answer(6)
        let slots = bench.slots(of: target)
        slots.load(bench.request(5))
        bench.work()
        #expect(bench.loop.waitingCount == 1)
        slots.load(bench.request(6))
        bench.settle()
        #expect(target.log == ["nothing", "nothing", "picture(6)"])
    }

    @Test func aCompletionMayLoadAgain() throws {
        for number in 5...7 { try bench.answer(number) }
        let slots = bench.slots(of: target)
        slots[.image].load(bench.request(5)) { [bench, target] _ in
            target.note("first")
            slots.load(bench.request(7))
        }
        // Ends the first call, whose completion asks for another picture before this one has begun.
        slots[.image].load(bench.request(6)) { [target] in
            if case .failure(let error) = $0 { target.note("second \(error.code.name)") }
        }
        bench.settle()
        #expect(target.shown[.image] == .picture(7) && !target.log.contains("picture(6)"))
        #expect(target.log.contains("first") && target.log.contains("second cancelled"))
        #expect(bench.transport.hits(SlotBench.url(6)) == 0)
    }

    @Test func slotsOfOneTargetAreIndependent() throws {
        for number in 5...7 { try bench.answer(number) }
        let slots = bench.slots(of: target)
        slots.load(bench.request(5))
        slots.load(bench.request(6), into: .highlighted)
        slots.load(bench.request(7), into: .background)
        slots[.background].cancel()
        bench.settle()
        #expect(target.shown == [.image: .picture(5), .highlighted: .picture(6), .background: .nothing])
        #expect(slots[.background].state.phase.name == "cancelled")
        #expect(slots[.highlighted].state.url == SlotBench.url(6))
    }

    @Test func cancellingEndsTheLoadAndKeepsTheShownImage() throws {
        let gate = Gate()
        try bench.answer(5, gate: gate)
        let slots = bench.slots(of: target, options { $0.transition = .fade() })
        var codes: [Int] = []
        slots[.image].load(bench.request(5)) { if case .failure(let error) = $0 { codes.append(error.code.rawValue) } }
        bench.settle()
        slots.cancel()
        gate.open()
        bench.settle()
        #expect(codes == [2002] && target.log == ["placeholder(1000)"] && bench.transport.running == 0)
        slots.clear()
        #expect(target.shown[.image] == .nothing && slots[.image].state.request == nil)
        // No load is left to cancel.
        slots.cancel()
        #expect(codes == [2002])
    }

    @Test func equalCallsOfARecycledCellChangeNothing() throws {
        let gate = Gate()
        try bench.answer(5, gate: gate)
        let slots = bench.slots(of: target, options { $0.keepsEqualLoad = true })
        var answers = 0
        for _ in 0..<3 { slots[.image].load(bench.request(5)) { if case .success = $0 { answers += 1 } } }
        bench.settle()
        gate.open()
        bench.settle()
        #expect(answers == 3 && target.log == ["placeholder(1000)", "picture(5)"])
        slots[.image].load(bench.request(5)) { if case .success = $0 { answers += 1 } }
        #expect(answers == 4 && target.log.count == 2 && bench.transport.hits(SlotBench.url(5)) == 1)
    }

    /// A list binds its cells again whenever it changes, even a cell whose retry button was just clicked. The bound
    /// request lacks the retry's permission and once ended the retry with `blockedURL`.
    @Test func anEqualCallDoesNotEndARetry() throws {
        let gate = Gate()
        let good = FakeAnswer.bytes(try Fixture.png(5, 2), contentType: "image/png")
        bench.transport.answer(SlotBench.url(5), .status(404), good.held(by: gate))
        let slots = bench.slots(of: target, options { $0.keepsEqualLoad = true })
        slots.load(bench.request(5))
        bench.settle()
        #expect(slots[.image].state.error?.code == .badStatus)
        var answers: [String] = []
        for name in ["retry", "second retry"] {
            slots[.image].reload { if case .success = $0 { answers.append(name) } }
        }
        bench.settle()
        slots[.image].load(bench.request(5)) { if case .success = $0 { answers.append("call") } }
        #expect(slots[.image].state.isLoading && slots[.image].state.request?.retriesFailed == false)
        gate.open()
        bench.settle()
        #expect(target.shown[.image] == .picture(5) && answers == ["retry", "second retry", "call"])
        slots.load(bench.request(5))
        bench.settle()
        #expect(bench.transport.hits(SlotBench.url(5)) == 2)
    }

    @Test func aFailedLoadIsTriedAgainOnRequest() throws {
        bench.transport.answer(
            SlotBench.url(5), .status(404), .bytes(try Fixture.png(5, 2), contentType: "image/png"))
        let slots = bench.slots(of: target)
        slots.load(bench.request(5))
        bench.settle()
        slots.load(bench.request(5))
        bench.settle()
        #expect(slots[.image].state.error?.code == .blockedURL, "it has only just failed")
        slots[.image].reload()
        bench.settle()
        #expect(target.shown[.image] == .picture(5))
    }

    /// The second time, the first answer was given once more.
    @Test func aPictureIsReloadedAsOftenAsItIsAskedFor() throws {
        bench.transport.answer(SlotBench.url(5), .bytes(try Fixture.png(5, 2), contentType: "image/png"))
        let slots = bench.slots(of: target, options { $0.keepsEqualLoad = true })
        var request = bench.request(5)
        request.caching.policy = .reload
        slots.load(request)
        bench.settle()
        for hits in [2, 3] {
            // Two clicks, one load.
            slots[.image].reload()
            slots[.image].reload()
            bench.settle()
            #expect(bench.transport.hits(SlotBench.url(5)) == hits)
        }
        #expect(target.shown[.image] == .picture(5))
    }

    @Test func aTaskMayWaitUntilThePictureIsShown() async throws {
        try bench.answer(5)
        let (slots, gate) = (bench.slots(of: target), Gate())
        try bench.answer(6, gate: gate)
        let shown = Task { try await slots[.image].show(bench.request(5)).image.size.width }
        _ = await eventually {
            bench.settle()
            return target.shown[.image] == .picture(5)
        }
        #expect(try await shown.value == 5)
        let left = Task { try await slots[.image].show(bench.request(6)).image.size.width }
        _ = await eventually { slots[.image].state.url == SlotBench.url(6) }
        left.cancel()
        bench.settle()
        let error = await #expect(throws: WebImageError.self) { try await left.value }
        #expect(error?.code == .cancelled)
        #expect(bench.transport.running == 0)
    }
}
