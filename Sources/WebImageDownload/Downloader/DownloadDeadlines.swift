/// How long a download may take. Nil switches a deadline off.
public struct DownloadDeadlines: Hashable, Sendable, Codable {
    /// A speed that a body must keep up.
    public struct MinimumSpeed: Hashable, Sendable, Codable {
        public var bytesPerSecond: Int
        /// The time over which it is measured. Default 10 s.
        public var window: Duration

        public init(bytesPerSecond: Int, window: Duration = .seconds(10)) {
            self.bytesPerSecond = bytesPerSecond
            self.window = window
        }
    }

    /// From the start to a standing connection, for each redirect anew. Default 10 s.
    public var connect: Duration?
    /// From there to the head of the answer. Default 15 s.
    public var firstByte: Duration?
    /// Between two pieces of the body. Default 15 s. Stands still while we do not read.
    public var idle: Duration?
    /// Default 1 KiB a second over 30 s: a slower one fails with `tooSlow`. Stands still while we do not read.
    public var minimumSpeed: MinimumSpeed?
    /// From the call to the last byte, waiting in the queue and redirects included. Default nil.
    public var total: Duration?

    public init(
        connect: Duration? = .seconds(10), firstByte: Duration? = .seconds(15), idle: Duration? = .seconds(15),
        minimumSpeed: MinimumSpeed? = MinimumSpeed(bytesPerSecond: 1024, window: .seconds(30)), total: Duration? = nil
    ) {
        self.connect = connect
        self.firstByte = firstByte
        self.idle = idle
        self.minimumSpeed = minimumSpeed
        self.total = total
    }
}
