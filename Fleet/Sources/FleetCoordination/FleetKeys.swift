/// The names of a fleet's keys in Redis. A common tag in braces keeps them in one slot of a cluster, which the scripts
/// require.
public struct FleetKeys: Hashable, Sendable {
    private let start: String

    /// - Parameter prefix: distinguishes fleets that use the same server. Default `wi`.
    public init(prefix: String = "wi") { start = "{\(prefix):1}:" }

    /// The lock for a result: the token of the server that works on it.
    func lock(_ result: String) -> String { "\(start)l:\(result)" }
    /// A result, or the reason why there is none.
    func result(_ result: String) -> String { "\(start)r:\(result)" }
    /// The reason why a source cannot be used.
    func failure(_ source: String) -> String { "\(start)n:\(source)" }
    /// The channel for notifications about a result.
    func channel(_ result: String) -> String { "\(start)d:\(result)" }
    /// The list of purges, sorted by their times. Its first member identifies the list: see ``FleetScript/purge``.
    var purges: String { "\(start)purge" }
    /// The highest time that any server was given for the beginning of its work.
    var clock: String { "\(start)clock" }
    /// The channel for notifications of purges.
    var purgeChannel: String { "\(start)p" }
    /// The servers, sorted by the times of their last signs of life.
    var servers: String { "\(start)nodes" }
    /// The time at which the next request of a client is due.
    func rate(_ client: String) -> String { "\(start)g:\(client)" }
}
