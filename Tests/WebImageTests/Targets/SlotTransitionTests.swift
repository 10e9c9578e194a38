import Testing
import WebImageCore
import WebImageTesting

@testable import WebImage

/// Tests of when a slot shows a picture with a transition.
@MainActor @Suite struct SlotTransitionTests {
    private let bench = SlotBench()
    private let target = HeadlessTarget()

    private func options(_ change: (inout SlotOptions) -> Void = { _ in }) -> SlotOptions {
        var options = SlotOptions()
        options.transition = .fade(.milliseconds(200))
        change(&options)
        return options
    }

    /// SDWebImage's table: a picture that had to be waited for gets a transition; one from memory gets it only if it is
    /// forced.
    @Test(arguments: [
        ("network", false, true), ("disk", false, true), ("memory", false, false), ("file", false, true),
        ("network", true, true), ("disk", true, true), ("memory", true, true),
    ])
    func picturesInMemoryGetATransitionOnlyWhereForced(source: String, isForced: Bool, moves: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/5.png"
        try FileTree.write(try Fixture.png(5, 2), to: path)
        let bench = SlotBench {
            if source == "disk" { $0.disk = DiskCacheConfiguration(directory: folder.path + "/cache") }
        }
        try bench.answer(5)
        var request = source == "file" ? ImageRequest(path: path) : bench.request(5)
        let slots = bench.slots(of: target, options { $0.forcesTransition = isForced })
        if source == "memory" { bench.remember(5) }
        if source == "disk" {
            request.caching.store = .disk
            slots.load(request, into: "before")
            bench.settle()
            bench.manager.memoryCache.removeAll()
            request.caching.policy = .cacheOnly
        }
        let earlier = target.log.count
        slots.load(request)
        bench.settle()
        #expect(slots[.image].state.phase.name == "loaded from \(source)")
        #expect(target.log.dropFirst(earlier).contains("transition") == moves)
        #expect(target.shown[.image] == .picture(5))
    }

    @Test func previewsHaveNoTransitionButTheFinalPictureHas() throws {
        let (gate, bytes) = (Gate(), try Fixture.jpeg(64, 64, progressive: true))
        bench.transport.answer(
            SlotBench.url(64), .bytes(bytes, contentType: "image/jpeg").held(by: gate, after: bytes.count - 40))
        let slots = bench.slots(of: target, options())
        slots.load(bench.request(64))
        bench.settle()
        #expect(target.log == ["nothing", "preview(64)"], "a preview is only a part")
        gate.open()
        bench.settle()
        #expect(target.log.suffix(2) == ["transition", "picture(64)"])
    }

    @Test func theCompletionMayWaitForTheTransition() throws {
        for number in 5...6 { try bench.answer(number) }
        target.endsTransitionsAtOnce = false
        let slots = bench.slots(of: target, options { $0.waitsForTransition = true })
        var answers: [Int] = []
        slots[.image].load(bench.request(5)) { answers.append((try? $0.get().image.size.width) ?? 0) }
        bench.settle()
        #expect(target.shown[.image] == .picture(5) && answers.isEmpty)
        target.endTransitions()
        #expect(answers == [5])
        // The next call cuts the transition short and completes it. (SDWebImage never calls the completion in this
        // case.)
        slots[.image].load(bench.request(6)) { answers.append((try? $0.get().image.size.width) ?? 0) }
        bench.settle()
        slots.load(bench.request(5))
        #expect(answers == [5, 6])
        target.endTransitions()
        #expect(answers == [5, 6])
    }

    @Test func aCancelledLoadShowsNoPicture() throws {
        try bench.answer(5)
        let slots = bench.slots(of: target, options())
        slots.load(bench.request(5))
        bench.work()
        slots.cancel()
        bench.settle()
        #expect(target.log == ["nothing"])
    }

    @Test func aCustomTransitionIsCarriedOut() throws {
        try bench.answer(5)
        var steps: [String] = []
        let slots = bench.slots(
            of: target,
            options {
                $0.waitsForTransition = true
                $0.transition = CustomTransition(duration: .seconds(1)) { context in
                    steps.append("prepare \(context.image.size.width) \(context.slot)")
                    context.setImage()
                    context.finish()
                    context.finish()
                }
            })
        slots[.image].load(bench.request(5)) { _ in steps.append("answer") }
        bench.settle()
        #expect(steps == ["prepare 5 image", "answer"] && target.shown[.image] == .picture(5))
    }

    /// A custom transition that showed its picture late once showed it over that of the next load.
    @Test func aLateCustomTransitionDoesNotShowAReplacedPicture() throws {
        for number in 5...6 { try bench.answer(number) }
        var contexts: [TransitionContext] = []
        let slots = bench.slots(
            of: target, options { $0.transition = CustomTransition(duration: .seconds(1)) { contexts.append($0) } })
        slots.load(bench.request(5))
        bench.settle()
        // The slot keeps a picture when its load is cancelled.
        slots.cancel()
        #expect(target.log == ["nothing"] && contexts.first?.isCurrent == true)
        slots.load(bench.request(6))
        bench.settle()
        #expect(contexts.map(\.isCurrent) == [false, true])
        for context in contexts.reversed() { context.setImage() }
        #expect(target.shown[.image] == .picture(6))
        slots.clear()
        for context in contexts {
            context.setImage()
            context.finish()
        }
        #expect(target.shown[.image] == .nothing && contexts.allSatisfy { !$0.isCurrent })
    }

    @Test func onlyTheFirstEndOfACustomTransitionCounts() {
        var ends = 0
        let transition = CustomTransition(duration: .seconds(1)) { context in
            context.setImage()
            context.finish()
            context.finish()
        }
        transition.run(to: Fixture.gradient(5, 2), in: .image, of: target) { ends += 1 }
        #expect(ends == 1 && target.shown[.image] == .picture(5))
    }
}
