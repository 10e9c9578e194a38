#if GTK
    /// Measures how long GTK's callbacks into Swift, and the main actor's jobs between them, take: each holds up the
    /// main loop. For tests; nothing is measured until ``isMeasuring`` is set.
    ///
    /// All callbacks go through ``onMainActor(_:_:_:)``, and the main actor's jobs through ``GTKMainLoop``. A nested
    /// callback counts as a part of the outer one.
    @MainActor package enum CallbackTimes {
        package static var isMeasuring = false
        package private(set) static var times: [Duration] = []
        /// The total time that ``leaveOut(_:)`` has excluded.
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

        /// Runs a test's own work within a callback, and excludes it from the times.
        package static func leaveOut<Result>(_ body: () -> Result) -> Result {
            let begin = ContinuousClock.now
            defer { leftOut += ContinuousClock.now - begin }
            return body()
        }

        /// Returns the times since the last call.
        package static func take() -> [Duration] {
            defer { times = [] }
            return times
        }
    }
#endif
