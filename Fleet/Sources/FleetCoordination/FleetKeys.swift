/// The names of what a fleet keeps in Redis. One tag in braces holds them in one slot of a cluster, as the scripts need it.
public struct FleetKeys: Hashable, Sendable {
    private let start: String

    /// - Parameter prefix: tells fleets apart that share a server. Default `wi`.
    public init(prefix: String = "wi") { start = "{\(prefix):1}:" }

    /// Who works on a result.
    func lock(_ result: String) -> String { "\(start)l:\(result)" }
    /// A result, or why there is none.
    func result(_ result: String) -> String { "\(start)r:\(result)" }
    /// Why a source cannot be used.
    func failure(_ source: String) -> String { "\(start)n:\(source)" }
    /// The channel that says that something happened to a result.
    func channel(_ result: String) -> String { "\(start)d:\(result)" }
    /// Purges by their times, and below them one member that names this list: see `FleetScript.purge`.
    var purges: String { "\(start)purge" }
    /// The channel that says that something was purged.
    var purgeChannel: String { "\(start)p" }
    /// The servers by the times of their last beats.
    var servers: String { "\(start)nodes" }
    /// When the next request of a client is due.
    func rate(_ client: String) -> String { "\(start)g:\(client)" }
}
