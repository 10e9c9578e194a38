import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// What a slot shows when it has a picture from the caches while the origin is asked.
@MainActor @Suite struct CachedSlotTests {
    private let bench = SlotBench()
    private let target = HeadlessTarget()

    private func options(_ change: (inout SlotOptions) -> Void) -> SlotOptions {
        var options = SlotOptions()
        options.placeholder = Fixture.gradient(1000, 1)
        change(&options)
        return options
    }

    private func show(_ number: Int, in slots: ImageSlots) {
        slots.load(bench.request(number))
        bench.settle()
    }

    private func refreshing(_ number: Int) -> ImageRequest {
        var request = bench.request(number)
        request.caching.policy = .refresh
        return request
    }

    /// The cached picture is shown while the origin is asked, and not a second time if it is still valid.
    @Test func aRevalidatedPictureIsShownOnce() throws {
        let bytes = try Fixture.png(5, 2)
        bench.transport.answer(
            SlotBench.url(5), .bytes(bytes, contentType: "image/png", headers: [.eTag: "\"1\""]),
            .status(304, headers: [.eTag: "\"1\""]))
        let slots = bench.slots(of: target, options { _ in })
        show(5, in: slots)
        var answers = 0
        slots[.image].load(refreshing(5)) { _ in answers += 1 }
        bench.settle()
        #expect(target.log == ["placeholder(1000)", "picture(5)", "picture(5)"] && answers == 1)
        #expect(bench.transport.hits(SlotBench.url(5)) == 2)
    }

    /// The answer was the error, although the picture is shown, and ``ImageManager/image(for:)`` returns it.
    @Test func aCachedPictureThatCannotBeCheckedIsTheAnswer() throws {
        bench.transport.answer(
            SlotBench.url(5), .bytes(try Fixture.png(5, 2), contentType: "image/png"), .status(500))
        let slots = bench.slots(of: target, options { $0.errorImage = Fixture.gradient(9, 2) })
        show(5, in: slots)
        var request = refreshing(5)
        request.http.retry = .never
        var answers: [Int?] = []
        slots[.image].load(request) { answers.append((try? $0.get())?.image.size.width) }
        bench.settle()
        #expect(answers == [5] && target.shown[.image] == .picture(5))
        #expect(slots[.image].state.phase.name.hasPrefix("loaded") && bench.transport.hits(SlotBench.url(5)) == 2)
    }

    /// Half of the newer picture once replaced the whole older one, and stayed.
    @Test func aPartOfANewerPictureDoesNotReplaceAWholeOne() throws {
        let bytes = try Fixture.jpeg(64, 64, progressive: true)
        let newer = try Fixture.jpeg(60, 60, progressive: true)
        bench.transport.answer(
            SlotBench.url(64), .bytes(bytes, contentType: "image/jpeg"),
            .bytes(newer, contentType: "image/jpeg").failing(after: newer.count - 40))
        let slots = bench.slots(of: target, options { _ in })
        show(64, in: slots)
        var answer: Image?
        slots[.image].load(refreshing(64)) { answer = (try? $0.get())?.image }
        bench.settle()
        #expect(bench.transport.hits(SlotBench.url(64)) == 2 && answer?.size.width == 64)
        #expect(target.shown[.image] == .picture(64) && !target.log.contains("preview(60)"))
        #expect(slots[.image].state.image?.storage === answer?.storage)
    }

    /// The fallback once replaced a cached picture that could only not be checked.
    @Test(arguments: [false, true]) func aFallbackDoesNotReplaceACachedPicture(timesOut: Bool) throws {
        let png = FakeAnswer.bytes(try Fixture.png(5, 2), contentType: "image/png")
        let gate = Gate()
        bench.transport.answer(
            SlotBench.url(5), png, timesOut ? png.held(by: gate) : .failure(WebImageError(.dnsFailed, "no address")))
        let slots = bench.slots(of: target)
        show(5, in: slots)
        var request = refreshing(5)
        (request.fallback, request.alternatives) = (Fixture.gradient(9, 2), [SlotBench.url(7)])
        request.timeout = .seconds(5)
        var answers: [Int?] = []
        slots[.image].load(request) { answers.append((try? $0.get())?.image.size.width) }
        wait { bench.transport.hits(SlotBench.url(5)) == 2 }
        if timesOut { bench.clock.advance(by: .seconds(6)) }
        wait { !answers.isEmpty }
        #expect(answers == [5] && target.shown[.image] == .picture(5) && bench.transport.hits(SlotBench.url(7)) == 0)
        gate.open()
        bench.settle()
    }

    @Test func aFallbackDoesNotReplaceTheCachedPictureOfAnAlternative() throws {
        let offline = FakeAnswer.failure(WebImageError(.dnsFailed, "no address"))
        bench.transport.answer(SlotBench.url(5), offline)
        bench.transport.answer(
            SlotBench.url(7), .bytes(try Fixture.png(7, 2), contentType: "image/png"), offline)
        let slots = bench.slots(of: target)
        show(7, in: slots)
        var request = refreshing(5)
        (request.fallback, request.alternatives) = (Fixture.gradient(9, 2), [SlotBench.url(7)])
        var answers: [Int?] = []
        slots[.image].load(request) { answers.append((try? $0.get())?.image.size.width) }
        wait { !answers.isEmpty }
        #expect(answers == [7] && target.shown[.image] == .picture(7) && bench.transport.hits(SlotBench.url(7)) == 2)
    }

    /// Loads with options for a failure run in tasks of their own, which the bench does not run.
    private func wait(until isDone: () -> Bool) {
        let end = ContinuousClock.now + .seconds(60)
        repeat { bench.settle() } while !isDone() && ContinuousClock.now < end
    }
}
