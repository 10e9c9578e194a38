import Testing

@testable import WebImage

@MainActor @Suite struct SystemFrameClockTests {
    /// A sleep that has ended does not throw when it is cancelled, so a player that was sought in that moment once got
    /// a stray frame.
    @Test func aWakeThatIsCancelledAfterItsSleepDoesNotCall() async {
        var sleeper: CheckedContinuation<Void, Never>?
        let clock = SystemFrameClock { _ in await withCheckedContinuation { sleeper = $0 } }
        var calls: [String] = []
        func wake(_ name: String) async -> FrameWake {
            sleeper = nil
            let wake = clock.wake(at: .zero) { calls.append(name) }
            while sleeper == nil { await Task.yield() }
            return wake
        }
        let cancelled = await wake("cancelled")
        // The sleep has ended, and its task waits for the main actor.
        sleeper?.resume()
        cancelled.cancel()
        _ = await wake("later")
        sleeper?.resume()
        while !calls.contains("later") { await Task.yield() }
        #expect(calls == ["later"])
    }

    @Test func aWakeCallsOnceItsTimeHasCome() async {
        let clock = SystemFrameClock()
        let time = clock.now + .milliseconds(1)
        let woken = await withCheckedContinuation { continuation in
            _ = clock.wake(at: time) { continuation.resume(returning: clock.now) }
        }
        #expect(woken >= time)
    }
}
