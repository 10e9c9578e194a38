import Logging
import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Calls of one further tier: each has a deadline, a tier that keeps failing is left alone for a while, and failures
/// are logged.
final class TierCalls: Sendable {
    /// The kinds of calls that the circuit counts separately: a tier may be too slow for reads and yet make every
    /// change in time.
    enum Use: String {
        case reads, changes
    }

    private struct State {
        var circuit = CircuitBreaker(
            policy: CircuitPolicy(failures: 5, firstPause: .seconds(1), longestPause: .seconds(30)))
        var troubles = TroubleCounts()
    }

    private let clock: any LoadClock
    private let logger: Logger
    private let state = Guarded(State())

    init(clock: any LoadClock, logger: Logger) {
        self.clock = clock
        self.logger = logger
    }

    // MARK: The circuit

    /// Whether a call may be made now. If so, ``note(_:of:)`` or ``noteUnmade(_:)`` must follow.
    func admits(_ use: Use) -> Bool { state.withLock { $0.circuit.admits(use.rawValue, at: clock.now) } }

    /// Whether calls are refused at the moment.
    func refuses(_ use: Use) -> Bool { state.withLock { $0.circuit.opening(of: use.rawValue) != nil } }

    /// Records the outcome of a call.
    func note<Value>(_ result: Result<Value, WebImageError>, of use: Use) {
        guard case .failure(let error) = result else { return note(.success, of: use) }
        note(error.isTiersFailure ? .failure : .neither, of: use)
        log(error)
    }

    /// Records that an admitted call was not made, or that the tier is not to blame for its failure.
    func noteUnmade(_ use: Use) { note(.neither, of: use) }

    private func note(_ outcome: CircuitBreaker.Outcome, of use: Use) {
        state.withLock { $0.circuit.note(outcome, of: use.rawValue, at: clock.now) }
    }

    func log(_ error: WebImageError) {
        guard let times = state.withLock({ $0.troubles.note(error.code) }) else { return }
        logger.warning(
            "a tier of bytes failed, the load goes on", metadata: ["error": "\(error)", "times": "\(times)"])
    }

    // MARK: A call

    /// Makes a call of the tier.
    ///
    /// - Parameters:
    ///   - answer: gets the result once, at the deadline at the latest.
    ///   - hangs: called when as much time again has passed after the call was cancelled at its deadline. It may have
    ///     ended.
    ///   - end: called when the call has really ended.
    func call<Value: Sendable>(
        within deadline: Duration, _ work: @escaping @Sendable () async throws(WebImageError) -> Value,
        answer: @escaping @Sendable (Result<Value, WebImageError>) -> Void,
        hangs: (@Sendable () -> Void)? = nil, end: @escaping @Sendable () -> Void
    ) {
        let race = DeadlineRace()
        let alarm = clock.schedule(at: clock.now + deadline) { [clock] in
            guard race.expire() else { return }
            answer(.failure(Self.isLate(by: deadline)))
            if let hangs { _ = clock.schedule(at: clock.now + deadline, hangs) }
        }
        race.begin(
            Task {
                let result: Result<Value, WebImageError>
                do throws(WebImageError) { result = .success(try await work()) } catch { result = .failure(error) }
                if race.end() {
                    alarm.cancel()
                    answer(result)
                }
                end()
            })
    }

    static func isLate(by deadline: Duration) -> WebImageError {
        WebImageError(.deadlineExceeded, "a tier of bytes did not answer within \(deadline.inWords)")
    }
}

extension WebImageError {
    /// Whether the error shows that a tier does not work, and not only that it refused one call.
    fileprivate var isTiersFailure: Bool {
        switch code {
        case .bodyTooLarge, .requestRefused, .locked, .cancelled, .corruptEntry, .limitExceeded: false
        case .circuitOpen, .queueFull, .shutDown: false
        default: true
        }
    }
}
