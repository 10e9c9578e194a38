import WebImageCore

extension ThreadPool: IdleThreads {
    package func share(_ count: Int, _ part: @escaping @Sendable (Int) -> Void) {
        let parts = SharedParts(count, part)
        for _ in 0..<max(min(idleCount, count - 1), 0) {
            run(.low) { [weak self] in
                // Other waiting work is more urgent than helping with these parts.
                while self?.waitingCount == 0, parts.runNext() {}
            }
        }
        while parts.runNext() {}
        parts.waitForOthers()
    }

    package func share(_ work: () -> Void, with help: @escaping @Sendable (_ goesOn: @escaping () -> Bool) -> Void) {
        guard idleCount > 0 else { return work() }
        let parts = SharedParts(1) { [weak self] _ in help { self?.waitingCount == 0 } }
        run(.low) { _ = parts.runNext() }
        work()
        parts.beginNoMore()
        parts.waitForOthers()
    }
}

/// The parts of a piece of work, and how many threads are working on them.
private final class SharedParts: Sendable {
    private let count: Int
    private let part: @Sendable (Int) -> Void
    private let begun = Monitor((next: 0, running: 0))

    init(_ count: Int, _ part: @escaping @Sendable (Int) -> Void) {
        self.count = count
        self.part = part
    }

    /// - Returns: false if every part has been begun.
    func runNext() -> Bool {
        guard let number = take() else { return false }
        part(number)
        begun.withLock { $0.running -= 1 }
        return true
    }

    private func take() -> Int? {
        begun.withLock { begun in
            guard begun.next < count else { return nil }
            defer { begun.next += 1 }
            begun.running += 1
            return begun.next
        }
    }

    func beginNoMore() { begun.withLock { $0.next = count } }

    /// Waits until no part is running. Every part must have been begun.
    func waitForOthers() { begun.wait { $0.running == 0 ? () : nil } }
}
