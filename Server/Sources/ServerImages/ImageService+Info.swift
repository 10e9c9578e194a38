import FleetCoordination
import ServerConfiguration
public import ServerGrammar

extension ImageService {
    /// Returns the description of a source, which is made once and cached like a picture. Making it takes a place in
    /// the queue of pictures.
    public func find(
        _ options: InfoOptions, of url: URLGrammar.ParsedURL, client: String?
    ) async throws(RequestRefusal) -> Found {
        let text = "info 2\n\(settings.limits)\n\(options.key)\n\(sourceName(url))"
        let key = Base64URL.encode(Digest.sha256(Array(text.utf8)))
        let deadline = ContinuousClock.now + settings.timeout
        var known = await cache.result(key)
        if let (result, layer) = known {
            switch serving(of: result, url.source) {
            case .fresh: return Found(result: result, source: layer == .memory ? .memory : .disk)
            case .never: known = nil
            case .whileRenewed:
                renewLater(key) { [self] in
                    do throws(RequestRefusal) {
                        let found = try await tell(options, of: url, key, until: .now + settings.timeout)
                        if found.result.freshness.forbidsStoring { retire(result, key, url) }
                        return .success(found)
                    } catch {
                        if error.endsResults { retire(result, key, url) }
                        return .failure(error)
                    }
                }
                return Found(result: result, source: .stale)
            case .expired, .onceConfirmed: break
            }
        }
        try await admit(client, url)
        do throws(RequestRefusal) {
            return try await tell(options, of: url, key, until: deadline)
        } catch {
            guard error.isSourceDown, let (result, _) = known, mayServeStale(result, for: .failure) else { throw error }
            return Found(result: result, source: .stale)
        }
    }

    private func tell(
        _ options: InfoOptions, of url: URLGrammar.ParsedURL, _ key: String, until deadline: ContinuousClock.Instant
    ) async throws(RequestRefusal) -> Found {
        try await flightResult(key, url.source) { [self] in
            do throws(RequestRefusal) {
                let begun = purging.stamp
                let made = try await inTurn(url.source, until: deadline) { place, left throws(RequestRefusal) in
                    var made = try await maker.info(options, of: url, begun: begun, timeout: left)
                    made.cost.queue = place.waited.inSeconds
                    return (made, nil)
                }
                if !made.result.freshness.forbidsStoring { cache.keep(made.result, key) }
                return FlightResult(result: .success(made))
            } catch {
                return FlightResult(result: .failure(error))
            }
        }
    }
}
