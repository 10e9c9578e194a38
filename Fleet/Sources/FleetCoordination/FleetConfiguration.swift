/// How a server takes part in a fleet. Times are in milliseconds.
public struct FleetConfiguration: Sendable {
    /// Tells fleets apart that share a server of Redis.
    public var keys = FleetKeys()
    /// The name of this server among the others.
    public var server: String
    /// For how long a server that works is waited for without a sign of it.
    public var lease = 5000
    /// How often the list of purges is looked at, besides when its channel says so.
    public var readInterval = 1000
    /// After how long without the list this server is out of touch: ``Fleet/isInTouch``.
    public var silenceLimit = 60_000
    /// How long purges are remembered, and how many.
    public var purgeLife = 31 * 86_400_000
    public var mostPurges = 100_000
    /// Pieces of work of others that may be waited for at once; who comes then works for itself.
    public var mostWaits = 10_000

    public init(server: String) { self.server = server }

    /// A server without a sign for so long is gone.
    var gone: Int { readInterval * 10 }
}
