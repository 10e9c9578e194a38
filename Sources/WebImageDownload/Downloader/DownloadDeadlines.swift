/// How long a download may take. Nil switches a deadline off.
public struct DownloadDeadlines: Hashable, Sendable, Codable {
    /// A minimum speed of a body.
    public struct MinimumSpeed: Hashable, Sendable, Codable {
        public var bytesPerSecond: Int
        /// The time over which the speed is measured; at least 100 ms. Default 10 s.
        public var window: Duration

        public init(bytesPerSecond: Int, window: Duration = .seconds(10)) {
            self.bytesPerSecond = bytesPerSecond
            self.window = window
        }
    }

    /// How long connecting may take, counted anew for each redirect. Default 10 s.
    public var connect: Duration?
    /// How long the head of the answer may take after that. Default 15 s.
    public var firstByte: Duration?
    /// How long may pass between two pieces of the body. Time in which the download is paused does not count. Default
    /// 15 s.
    public var idle: Duration?
    /// The minimum speed of a body; a slower one fails with `tooSlow`. Time in which the download is paused does not
    /// count. Default 1 KiB a second over 30 s.
    public var minimumSpeed: MinimumSpeed?
    /// How long the whole download may take, from the call to the last byte, including the queue and redirects. Default
    /// nil.
    public var total: Duration?

    /// Makes deadlines; those that are not given have their defaults.
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

extension DownloadDeadlines {
    /// Whether each deadline is at least as long as that of `others`: a host that misses one of them would have missed
    /// that of `others`, too.
    func areNoShorter(than others: DownloadDeadlines) -> Bool {
        func isNoShorter(_ own: Duration?, _ other: Duration?) -> Bool {
            guard let own else { return true }
            return other.map { own >= $0 } ?? false
        }
        return isNoShorter(connect, others.connect) && isNoShorter(firstByte, others.firstByte)
            && isNoShorter(idle, others.idle) && (minimumSpeed == nil || minimumSpeed == others.minimumSpeed)
    }
}
