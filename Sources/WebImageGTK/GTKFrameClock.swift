#if GTK
    internal import CShimGTK
    internal import CSysGTK
    public import WebImage

    /// Calls closures at given times, on GLib's main loop: for frames of animations.
    ///
    /// A wake-up comes at its time or up to a millisecond later, never earlier. Wake-ups that are due in the same turn
    /// of the loop come in the order of their times, and for equal times in the order of the calls. While nothing is
    /// due, the clock uses no processor time.
    @MainActor public final class GTKFrameClock: FrameClock {
        // Set in `init`, after the other properties, because it needs the address of this object.
        private var alarm: UnsafeMutableRawPointer!
        /// The calls to come, in the order of their times.
        private var wakeups: [Wakeup] = []
        private var lastNumber = 0

        public init() {
            let ring: @convention(c) (UnsafeMutableRawPointer) -> Void = { context in
                onMainActor(context, ()) { (clock: GTKFrameClock, _) in clock.ring() }
            }
            alarm = wi_alarm_new(ring, Unmanaged.passUnretained(self).toOpaque())
        }

        isolated deinit { wi_alarm_destroy(alarm) }

        /// The time of the monotonic clock, to which the times of frames refer (``FrameTick/frame(_:)``).
        public var now: Duration { .microseconds(g_get_monotonic_time()) }

        /// Calls a closure once at a given time. If the time has passed, the call comes with the loop's next turn.
        ///
        /// - Parameters:
        ///   - time: a time of the clock of ``now``.
        ///   - body: the closure. It is released after the call, when it is cancelled, and with the clock.
        /// - Returns: a value that can cancel the call; it need not be kept.
        @discardableResult public func wake(at time: Duration, _ body: @escaping @MainActor () -> Void) -> FrameWake {
            lastNumber += 1
            let wakeup = Wakeup(self, time, lastNumber, body)
            wakeups.insert(wakeup, at: wakeups.firstIndex { $0.time > time } ?? wakeups.endIndex)
            setAlarm()
            return FrameWake { wakeup.cancel() }
        }

        fileprivate func cancel(_ wakeup: Wakeup) {
            wakeups.removeAll { $0 === wakeup }
            setAlarm()
        }

        /// Calls the closures that are due. Closures that are added meanwhile must wait for the loop's next turn, so
        /// that other events are handled in between.
        private func ring() {
            let (now, last) = (self.now, lastNumber)
            while let index = wakeups.firstIndex(where: { $0.number <= last }), wakeups[index].time <= now {
                wakeups.remove(at: index).run()
            }
            setAlarm()
        }

        private func setAlarm() { wi_alarm_set(alarm, wakeups.first.map { Self.microseconds($0.time) } ?? -1) }

        /// The time in microseconds, rounded up so that no call is early; 0 for negative times.
        private static func microseconds(_ time: Duration) -> Int64 {
            let (seconds, attoseconds) = time.components
            guard time > .zero else { return 0 }
            guard seconds < Int64.max / 2_000_000 else { return -1 }
            return seconds * 1_000_000 + (attoseconds + 999_999_999_999) / 1_000_000_000_000
        }

        /// A closure to call at a given time.
        @MainActor final class Wakeup {
            let time: Duration
            let number: Int
            private weak var clock: GTKFrameClock?
            private var body: (@MainActor () -> Void)?

            fileprivate init(
                _ clock: GTKFrameClock, _ time: Duration, _ number: Int, _ body: @escaping @MainActor () -> Void
            ) {
                self.clock = clock
                self.time = time
                self.number = number
                self.body = body
            }

            /// Cancels the call. Does nothing once the closure was called.
            func cancel() {
                guard body != nil else { return }
                body = nil
                clock?.cancel(self)
            }

            fileprivate func run() {
                let body = self.body
                self.body = nil
                body?()
            }
        }
    }
#endif
