import RESP
import RedisClient
import Synchronization

/// The scripts that Redis has loaded. Those who need a script at the same time share its loading.
final class LoadedScripts: Sendable {
    /// The digest by which Redis runs a script.
    typealias Loading = Task<Result<String, RedisError>, Never>

    private let client: RedisClient
    /// By the names of the scripts. Those that fail are removed, so that the next caller tries again.
    private let loadings = Mutex<[String: Loading]>([:])

    init(_ client: RedisClient) {
        self.client = client
    }

    /// Loads a script, unless it is loaded or being loaded.
    ///
    /// - Parameter lost: a loading whose digest Redis no longer knows.
    func loading(_ script: FleetScript, insteadOf lost: Loading? = nil) -> Loading {
        loadings.withLock { loadings in
            if let loading = loadings[script.name], loading != lost { return loading }
            let loading = Loading { [self] in
                do throws(RedisError) {
                    // Redis returns the digest of a loaded script, so it need not be computed here.
                    let loaded = try await client.send(["SCRIPT", "LOAD", RESPArgument(script.text)])
                    guard let digest = loaded.text else { throw .unexpected }
                    return .success(digest)
                } catch {
                    self.loadings.withLock { $0[script.name] = nil }
                    return .failure(error)
                }
            }
            loadings[script.name] = loading
            return loading
        }
    }
}
