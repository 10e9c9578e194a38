import Testing
import WebImageCore
import WebImageTesting

@testable import WebImage

/// The loads of a target that is deallocated.
@MainActor @Suite struct SlotLifetimeTests {
    private let bench = SlotBench()

    @Test func aTargetThatDiesCancelsItsLoads() throws {
        let gate = Gate()
        for number in 5...6 { try bench.answer(number, gate: gate) }
        var codes: [WebImageError.Code] = []
        do {
            let target = HeadlessTarget()
            let slots = bench.slots(of: target)
            slots[.image].load(bench.request(5)) { if case .failure(let error) = $0 { codes.append(error.code) } }
            slots.load(bench.request(6), into: .background)
            bench.settle()
            #expect(bench.transport.running == 2)
        }
        bench.settle()
        #expect(bench.transport.running == 0 && codes == [.cancelled])
    }

    /// Nobody can tell a slot the size of a target that is gone, so that its calls once waited for ever.
    @Test(arguments: [true, false]) func aSlotThatOutlivesItsTargetWaitsForNothing(forSize: Bool) async throws {
        try bench.answer(5)
        var target: HeadlessTarget? = HeadlessTarget()
        var options = SlotOptions()
        if forSize { options.fitsTarget = .cover }
        options.whenHidden = .paused
        var slots: ImageSlots? = try bench.slots(of: #require(target), options)
        if !forSize { slots?.isVisible = false }
        let slot = try #require(slots?[.image])
        var codes: [WebImageError.Code] = []
        slot.load(bench.request(5)) { if case .failure(let error) = $0 { codes.append(error.code) } }
        bench.settle()
        #expect(codes.isEmpty && bench.transport.requests.isEmpty)
        (target, slots) = (nil, nil)
        bench.settle()
        #expect(codes == [.cancelled])
    }

    /// An indicator that outlived its slot once span for ever.
    @Test func slotsThatGoWhileLoadingStopTheirIndicator() throws {
        let gate = Gate()
        try bench.answer(5, gate: gate)
        let indicator = NotingIndicator()
        do {
            let target = HeadlessTarget()
            var options = SlotOptions()
            options.indicator = indicator
            bench.slots(of: target, options).load(bench.request(5))
            #expect(indicator.log.first == "start")
        }
        #expect(indicator.log.last == "stop" && indicator.log.filter { $0 == "stop" }.count == 1)
        bench.settle()
    }

    /// A picture that was not in memory was once looked up, and counted as a miss, twice.
    @Test func aLoadLooksInMemoryOnce() throws {
        try bench.answer(5)
        let target = HeadlessTarget()
        let slots = bench.slots(of: target)
        slots.load(bench.request(5))
        bench.settle()
        #expect(target.shown[.image] == .picture(5) && bench.manager.memoryCache.statistics.misses == 1)
    }

    /// This includes a load that goes on after a later call replaced it in the slot.
    @Test func slotsThatOutliveTheirTargetAnswerAllCalls() throws {
        let gate = Gate()
        for number in 5...6 { try bench.answer(number, gate: gate) }
        var target: HeadlessTarget? = HeadlessTarget()
        var options = SlotOptions()
        options.cancelsPrevious = false
        let slots = try bench.slots(of: #require(target), options)
        var codes: [WebImageError.Code] = []
        for number in 5...6 {
            slots[.image].load(bench.request(number)) { if case .failure(let error) = $0 { codes.append(error.code) } }
        }
        bench.settle()
        target = nil
        gate.open()
        bench.settle()
        #expect(codes == [.cancelled, .cancelled] && bench.transport.running == 0)
    }

    @Test func slotsThatOutliveTheirTargetCancelTheirLoads() throws {
        let gate = Gate()
        try bench.answer(5, gate: gate)
        var target: HeadlessTarget? = HeadlessTarget()
        let slots = try bench.slots(of: #require(target))
        var codes: [WebImageError.Code] = []
        slots[.image].load(bench.request(5)) { if case .failure(let error) = $0 { codes.append(error.code) } }
        weak let old = target
        target = nil
        #expect(old == nil, "slots do not keep their target alive")
        gate.open()
        bench.settle()
        #expect(codes == [.cancelled] && slots[.image].state.phase.name == "cancelled")
    }
}
