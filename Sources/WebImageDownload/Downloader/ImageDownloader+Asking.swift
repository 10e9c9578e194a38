import WebImageCore
import WebImageSystem

/// Determines the user and the fields of a request before anything is sent.
extension ImageDownloader {
    /// The result of ``ConfigurationSnapshot/preparation(of:)``.
    package enum Preparation: Sendable {
        /// The request has all the information itself.
        case notNeeded
        case done(PreparedRequest)
        /// A modifier must be waited for: ``prepare(_:by:)``.
        case takesTime
    }

    /// Like ``ConfigurationSnapshot/preparation(of:)``, but waits for the modifier as long as a connection may take.
    ///
    /// A modifier that fails or refuses is asked again when the request is sent; its error is then that of the load.
    ///
    /// - Parameter end: an earlier time at which to stop waiting; nil: none.
    package func prepare(
        _ request: ResolvedRequest, by snapshot: ConfigurationSnapshot, until end: Duration? = nil
    ) async -> PreparedRequest? {
        guard let preparation = RequestPreparation(request, snapshot) else { return nil }
        if let known = preparation.atOnce() { return known }
        let answer = CancellableAnswer<PreparedRequest>()
        let work = Task { answer.give(.success(await preparation.waiting())) }
        defer { work.cancel() }
        let late = preparation.time.map { center.clock.now + $0 }
        let alarm = [late, end].compactMap(\.self).min().map { time in
            center.clock.schedule(at: time) { answer.give(.success(preparation.failed)) }
        }
        defer { alarm?.cancel() }
        return try? await answer.value()
    }
}
