@testable import WebImage

/// A frame clock that moves only when a test advances it.
@MainActor final class ManualFrameClock: FrameClock {
    private final class Entry {
        let time: Duration
        var body: (@MainActor () -> Void)?

        init(_ time: Duration, _ body: @escaping @MainActor () -> Void) { (self.time, self.body) = (time, body) }
    }

    private(set) var now: Duration = .zero
    private var entries: [Entry] = []

    /// The number of pending wakes.
    var waitingCount: Int { entries.filter { $0.body != nil }.count }

    func wake(at time: Duration, _ body: @escaping @MainActor () -> Void) -> FrameWake {
        let entry = Entry(time, body)
        entries.append(entry)
        return FrameWake { entry.body = nil }
    }

    /// Advances the time. Each wake that becomes due is called at its own time.
    func advance(by duration: Duration) {
        let end = now + duration
        while let next = entries.filter({ $0.body != nil && $0.time <= end }).min(by: { $0.time < $1.time }) {
            now = max(now, next.time)
            call(next)
        }
        now = end
    }

    /// Advances the time as a busy main loop would: each wake that becomes due is called only at the end.
    func jump(by duration: Duration) {
        now += duration
        for entry in entries where entry.time <= now { call(entry) }
    }

    private func call(_ entry: Entry) {
        let body = entry.body
        entry.body = nil
        entries.removeAll { $0.body == nil }
        body?()
    }
}
