#if GTK
    /// How long GTK's callbacks into Swift take, and what the main actor does between them: each holds up the main loop. For
    /// tests; nothing is measured until ``isMeasuring`` is set.
    ///
    /// All callbacks go through ``onMainActor(_:_:_:)``, and the main actor's jobs through ``GTKMainLoop``. One within another
    /// counts as a part of that.
    @MainActor package enum CallbackTimes {
        package static var isMeasuring = false
        package private(set) static var times: [Duration] = []
        /// What ``leaveOut(_:)`` has taken in all.
        package private(set) static var leftOut = Duration.zero
        private static var depth = 0

        static func measure<Result>(_ body: () -> Result) -> Result {
            guard isMeasuring else { return body() }
            depth += 1
            let (begin, leftOutBefore) = (ContinuousClock.now, leftOut)
            defer {
                depth -= 1
                if depth == 0 { times.append(ContinuousClock.now - begin - (leftOut - leftOutBefore)) }
            }
            return body()
        }

        /// Runs what a test does within a callback, and does not count it.
        package static func leaveOut<Result>(_ body: () -> Result) -> Result {
            let begin = ContinuousClock.now
            defer { leftOut += ContinuousClock.now - begin }
            return body()
        }

        /// The times since the last call.
        package static func take() -> [Duration] {
            defer { times = [] }
            return times
        }
    }
#endif
