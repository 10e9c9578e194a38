#if GTK
    /// How long GTK's callbacks into Swift take: each holds up the main loop. For tests; nothing is measured until
    /// ``isMeasuring`` is set.
    ///
    /// All callbacks but those of the main actor's queue go through ``onMainActor(_:_:_:)``. One within another counts as a part
    /// of that.
    @MainActor package enum CallbackTimes {
        package static var isMeasuring = false
        package private(set) static var times: [Duration] = []
        private static var depth = 0

        static func measure<Result>(_ body: () -> Result) -> Result {
            guard isMeasuring else { return body() }
            depth += 1
            let begin = ContinuousClock.now
            defer {
                depth -= 1
                if depth == 0 { times.append(ContinuousClock.now - begin) }
            }
            return body()
        }

        /// The times since the last call.
        package static func take() -> [Duration] {
            defer { times = [] }
            return times
        }
    }
#endif
