import Synchronization
package import WebImageCore
package import WebImageSystem

/// Reports to its owner when memory is short. The owner of caches creates it and stops it.
///
/// If the kernel can report pressure, the watcher is one blocked thread, which costs nothing; otherwise it is a timer.
/// While memory is short it checks again every two seconds, so that caches continue to free memory until it is not.
package final class MemoryPressureWatcher: Sendable {
    private struct State {
        var gauge = MemoryPressureGauge()
        var isStopped = false
        var alarm: (any MemoryPressureAlarm)?
        var timer: ScheduledAction?
    }

    private let source: any MemoryPressureSource
    private let clock: any LoadClock
    private let interval: Duration
    private let onPressure: @Sendable (MemoryPressureLevel) -> Void
    private let startThread: ThreadStarter
    private let state = Guarded(State())

    package static let repeatInterval = Duration.seconds(2)

    /// - Parameters:
    ///   - interval: how often a timer checks if the kernel does not report pressure.
    ///   - startThread: starts a thread; returns false if the system has none left.
    ///   - onPressure: receives every level except `none`, on a thread of the watcher or the clock; it must not block
    ///   for long.
    package init(
        source: any MemoryPressureSource, clock: any LoadClock, interval: Duration = .seconds(5),
        startThread: @escaping ThreadStarter = startThread(named:_:),
        onPressure: @escaping @Sendable (MemoryPressureLevel) -> Void
    ) {
        self.source = source
        self.clock = clock
        self.interval = interval
        self.startThread = startThread
        self.onPressure = onPressure
    }

    deinit { stop() }

    /// Begins to watch. Call it once.
    package func start() {
        let reading = source.read()
        let alarm = source.makeAlarm()
        let wasStopped = state.withLock { state in
            _ = state.gauge.level(of: reading)
            state.alarm = alarm
            return state.isStopped
        }
        guard !wasStopped else {
            alarm?.stop()
            return
        }
        guard let alarm else { return schedule(after: interval) }
        // The thread must not retain the watcher, which is stopped when its owner releases it.
        let hasThread = startThread("wi-pressure") { [weak self] in
            while alarm.wait() {
                guard let self else { return }
                self.look()
            }
            self?.alarmEnded()
        }
        if hasThread { return }
        state.withLock { $0.alarm = nil }
        alarm.stop()
        schedule(after: interval)
    }

    /// Nothing is left that the alarm could wait for: the reading is looked at periodically instead.
    private func alarmEnded() {
        let isStopped = state.withLock { state in
            state.alarm = nil
            return state.isStopped
        }
        if !isStopped { schedule(after: interval) }
    }

    /// Stops watching permanently. A call of `onPressure` may still be running.
    package func stop() {
        let (alarm, timer) = state.withLock { state in
            state.isStopped = true
            defer { (state.alarm, state.timer) = (nil, nil) }
            return (state.alarm, state.timer)
        }
        alarm?.stop()
        timer?.cancel()
    }

    private func look() {
        let reading = source.read()
        let (level, hasAlarm, isStopped) = state.withLock { state in
            (state.gauge.level(of: reading), state.alarm != nil, state.isStopped)
        }
        guard !isStopped else { return }
        if level > .none {
            onPressure(level)
            ProcessMemory.returnFree()
        }
        if level > .none {
            schedule(after: Self.repeatInterval)
        } else if !hasAlarm {
            schedule(after: interval)
        }
    }

    /// Replaces the timer: there is only one at a time.
    private func schedule(after wait: Duration) {
        let action = clock.schedule(at: clock.now + wait) { [weak self] in self?.look() }
        let old = state.withLock { state -> ScheduledAction? in
            if state.isStopped { return action }
            defer { state.timer = action }
            return state.timer
        }
        old?.cancel()
    }
}
