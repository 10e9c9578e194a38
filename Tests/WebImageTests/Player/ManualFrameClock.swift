@testable import WebImage

/// A frame clock that stands until a test moves it.
@MainActor final class ManualFrameClock: FrameClock {
    private final class Entry {
        let time: Duration
        var body: (@MainActor () -> Void)?

        init(_ time: Duration, _ body: @escaping @MainActor () -> Void) { (self.time, self.body) = (time, body) }
    }

    private(set) var now: Duration = .zero
    private var entries: [Entry] = []

    /// How many wakes are to come.
    var waitingCount: Int { entries.filter { $0.body != nil }.count }

    func wake(at time: Duration, _ body: @escaping @MainActor () -> Void) -> FrameWake {
        let entry = Entry(time, body)
        entries.append(entry)
        return FrameWake { entry.body = nil }
    }

    /// Moves the time on; what comes due on the way is called at its own time.
    func advance(by duration: Duration) {
        let end = now + duration
        while let next = entries.filter({ $0.body != nil && $0.time <= end }).min(by: { $0.time < $1.time }) {
            now = max(now, next.time)
            call(next)
        }
        now = end
    }

    /// Moves the time on as on a busy main loop: what comes due on the way is called at the end.
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
