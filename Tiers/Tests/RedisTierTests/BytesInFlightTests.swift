import Testing
import WebImage

@testable import RedisTier

@Suite struct BytesInFlightTests {
    private let bytes = BytesInFlight(limit: 10)

    private func enter(_ count: Int) -> Task<Bool, Never> {
        Task {
            do throws(WebImageError) {
                try await bytes.enter(count)
                return true
            } catch {
                #expect(error.code == .cancelled)
                return false
            }
        }
    }

    @Test func bytesWaitInOrderUntilThereIsRoom() async {
        #expect(await enter(6).value)
        let second = enter(5)
        let third = enter(4)
        // Those that came first go first, whichever of the tasks that is.
        bytes.leave(6)
        #expect(await second.value)
        #expect(await third.value)
        bytes.leave(5)
        bytes.leave(4)
        #expect(await enter(100).value, "one may always be sent")
        let last = enter(1)
        bytes.leave(100)
        #expect(await last.value)
    }

    @Test func whoIsCancelledWaitsNoLongerAndHoldsUpNobody() async {
        #expect(await enter(6).value)
        let second = enter(5)
        second.cancel()
        #expect(await second.value == false)
        #expect(await enter(4).value)
        bytes.leave(6)
        bytes.leave(4)
        #expect(await enter(10).value)
    }
}
