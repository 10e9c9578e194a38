import FleetCoordination
import ServerConfiguration

/// Whether results that were made earlier may be served.
extension ImageService {
    enum Serving {
        case fresh
        /// The result may be served at once, while the origin is asked in the background.
        case whileRenewed
        /// The result may be served only if the origin cannot answer: see ``mayServeStale(_:for:)``.
        case expired
        /// The result may be served once the origin has confirmed that the source is unchanged, because purges may have
        /// been missed.
        case onceConfirmed
        /// The result was purged.
        case never
    }

    /// - Parameter source: the URL of the source.
    func serving(of result: StoredResult, _ source: String) -> Serving {
        if purging.fleet == nil, result.isOfFuture(at: now()) { return .never }
        return switch purging.verdict(result, source) {
        case .purged: .never
        case .unsure: .onceConfirmed
        case .current where result.freshness.freshUntil > now(): .fresh
        case .current where mayServeStale(result, for: .renewal): .whileRenewed
        case .current: .expired
        }
    }

    /// Whether a stale result may be served while it is renewed, or because its source is down.
    func mayServeStale(_ result: StoredResult, for use: SourceFreshness.StaleUse) -> Bool {
        let most = use == .renewal ? settings.staleWhileRevalidate : settings.staleIfError
        return result.freshness.mayBeServed(for: use, now: now(), most: most)
    }
}
