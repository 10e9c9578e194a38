import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Several callers of one slot that wait for the same picture.
@MainActor @Suite struct SlotCallersTests {
    private let bench = SlotBench()
    private let target = HeadlessTarget()
    private let gate = Gate()

    private func makeSlots() throws -> ImageSlots {
        try bench.answer(5, gate: gate)
        var options = SlotOptions()
        options.keepsEqualLoad = true
        return bench.slots(of: target, options)
    }

    /// A cell was bound again to the same item, and then the task of its earlier use was cancelled. That once ended the
    /// load of both.
    @Test func aTaskThatIsCancelledLeavesTheLoadToALaterCaller() async throws {
        let slots = try makeSlots()
        let left = Task { try await slots[.image].show(bench.request(5)).image.size.width }
        _ = await eventually { slots[.image].state.isLoading }
        var answer: Int?
        slots[.image].load(bench.request(5)) { answer = try? $0.get().image.size.width }
        left.cancel()
        bench.settle()
        let error = await #expect(throws: WebImageError.self) { try await left.value }
        #expect(error?.code == .cancelled && bench.transport.running == 1 && answer == nil)
        gate.open()
        bench.settle()
        #expect(answer == 5 && target.shown[.image] == .picture(5))
    }

    @Test func theLastCallersTaskEndsTheLoadOfAll() async throws {
        let slots = try makeSlots()
        var code: WebImageError.Code?
        slots[.image].load(bench.request(5)) { if case .failure(let error) = $0 { code = error.code } }
        let began = Gate()
        let last = Task {
            began.open()
            return try await slots[.image].show(bench.request(5)).image.size.width
        }
        await began.opened()
        last.cancel()
        _ = await eventually {
            bench.settle()
            return code != nil
        }
        let error = await #expect(throws: WebImageError.self) { try await last.value }
        #expect(error?.code == .cancelled && code == .cancelled && bench.transport.running == 0)
    }
}
