/// The configuration of a server in a fleet. Times are in milliseconds.
public struct FleetConfiguration: Sendable {
    /// Distinguishes fleets that use the same Redis server.
    public var keys = FleetKeys()
    /// The name of this server among the others.
    public var server: String
    /// How long a server may hold the lock for a piece of work without renewing it; then another server takes over.
    public var lease = 5000
    /// How often the list of purges is read, in addition to notifications on its channel.
    public var readInterval = 1000
    /// How long a server may go without reading the list before it is out of touch: ``Fleet/isInTouch``.
    public var silenceLimit = 60_000
    /// How long purges are remembered, and how many.
    public var purgeLife = 31 * 86_400_000
    public var maxPurges = 100_000
    /// How many requests may wait for other servers at a time; for further ones, this server does the work itself.
    public var maxWaits = 10_000

    public init(server: String) { self.server = server }

    /// The time without a sign of life after which a server counts as gone.
    var gone: Int { readInterval * 10 }
}
