import WebImageCore
import WebImageSystem

/// Who asks, and with what: before anything is sent.
extension ImageDownloader {
    /// What ``ConfigurationSnapshot/preparation(of:)`` found.
    package enum Preparation: Sendable {
        /// The request says all of it itself.
        case notNeeded
        case done(PreparedRequest)
        /// A modifier must be waited for: ``prepare(_:by:)``.
        case takesTime
    }

    /// As ``ConfigurationSnapshot/preparation(of:)``, waiting for the modifier for as long as a connection may take.
    ///
    /// A modifier that fails or refuses is asked again when the request is sent, and is then the reason of its failure.
    package func prepare(
        _ request: ResolvedRequest, by snapshot: ConfigurationSnapshot
    ) async -> PreparedRequest? {
        guard let preparation = RequestPreparation(request, snapshot) else { return nil }
        if let known = preparation.atOnce() { return known }
        let answer = CancellableAnswer<PreparedRequest>()
        let work = Task { answer.give(.success(await preparation.waiting())) }
        defer { work.cancel() }
        let alarm = preparation.time.map { time in
            center.clock.schedule(at: center.clock.now + time) { answer.give(.success(preparation.failed)) }
        }
        defer { alarm?.cancel() }
        return try? await answer.value()
    }
}
