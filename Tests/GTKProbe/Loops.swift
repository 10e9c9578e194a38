#if GTK
    import CSysGTK
    import WebImage
    import WebImageGTK

    /// The main loop, the main actor in it, and the frame clock.
    @MainActor enum Loops {
        static func pump() async {
            var hops = 0
            await withTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask { for _ in 0..<250 { await hop() } }
                }
                while await group.next() != nil { hops += 1 }
            }
            print("hops \(count) tasks \(hops)")

            let clock = GTKFrameClock()
            var wakes: UInt64 = 0
            var isPending = true
            // The loop has nothing to do for 100 ms, except to wake at their end.
            await withCheckedContinuation { continuation in
                clock.wake(at: clock.now + .milliseconds(100)) {
                    wakes = GTKMainLoop.wakeCount
                    clock.wake(at: clock.now + .milliseconds(100)) {
                        wakes = GTKMainLoop.wakeCount - wakes
                        isPending = g_main_context_pending(nil) != 0
                        continuation.resume()
                    }
                }
            }
            print("idle-wakes \(wakes)")
            print("idle-pending \(isPending)")
        }

        private static var count = 0
        private static func hop() { count += 1 }

        static func clock() async {
            let clock = GTKFrameClock()
            let start = clock.now
            var order: [String] = []
            var (isEarly, isAdded) = (false, false)
            func wake(_ name: String, after milliseconds: Int) -> FrameWake {
                let time = start + .milliseconds(milliseconds)
                return clock.wake(at: time) {
                    order.append(name)
                    if clock.now < time { isEarly = true }
                }
            }
            _ = wake("third", after: 30)
            _ = wake("first", after: 10)
            _ = wake("second", after: 20)
            _ = wake("second-too", after: 20)
            let cancelled = wake("cancelled", after: 15)
            _ = wake("over", after: -5)
            var cancelledByFirst: FrameWake?
            clock.wake(at: start + .milliseconds(10)) {
                cancelledByFirst?.cancel()
                clock.wake(at: start) { isAdded = true }
            }
            clock.wake(at: start + .milliseconds(10)) { print("added-in-turn \(isAdded)") }
            cancelledByFirst = wake("cancelled-in-turn", after: 10)
            cancelled.cancel()
            await withCheckedContinuation { continuation in
                clock.wake(at: start + .milliseconds(40)) { continuation.resume() }
            }
            print("order \(order.joined(separator: " "))")
            print("early \(isEarly)")
            print("added \(isAdded)")
        }
    }
#endif
