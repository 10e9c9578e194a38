import Synchronization

/// The digests by which Redis knows scripts.
final class ScriptDigests: Sendable {
    private let digests = Mutex<[String: String]>([:])

    func digest(_ script: FleetScript) -> String? { digests.withLock { $0[script.name] } }
    func keep(_ digest: String, _ script: FleetScript) { digests.withLock { $0[script.name] = digest } }
    func forget(_ script: FleetScript) { digests.withLock { $0[script.name] = nil } }
}
