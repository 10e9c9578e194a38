public import HTTPTypes
public import WebImageCore

/// How long a download may take. Nil switches a deadline off.
public struct DownloadDeadlines: Hashable, Sendable {
    /// A speed that a body must keep up.
    public struct MinimumSpeed: Hashable, Sendable {
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
    /// Default nil. Stands still while we do not read.
    public var minimumSpeed: MinimumSpeed?
    /// From the call to the last byte, waiting in the queue and redirects included. Default nil.
    public var total: Duration?

    public init(
        connect: Duration? = .seconds(10), firstByte: Duration? = .seconds(15), idle: Duration? = .seconds(15),
        minimumSpeed: MinimumSpeed? = nil, total: Duration? = nil
    ) {
        self.connect = connect
        self.firstByte = firstByte
        self.idle = idle
        self.minimumSpeed = minimumSpeed
        self.total = total
    }
}

/// How an ``ImageDownloader`` works.
public struct DownloadConfiguration: Sendable {
    /// Who goes first among equally urgent downloads.
    public enum Order: Hashable, Sendable {
        case firstInFirstOut
        case lastInFirstOut
    }

    /// Transfers at a time. Default 6.
    public var maxConcurrent = 6
    /// Transfers at a time to one host and port. Default 6.
    public var maxConcurrentPerHost = 6
    /// Default first in, first out.
    public var order = Order.firstInFirstOut
    public var deadlines = DownloadDeadlines()
    /// The longest body that is taken. Default 64 MiB.
    public var bodyLimit = ByteCount.mebibytes(64)
    /// Default 10.
    public var redirectLimit = 10
    /// The statuses whose bodies are taken; all others fail with `badStatus`. Default 200 to 299.
    public var acceptableStatuses = 200..<300
    /// Sent with each request that does not say otherwise. Default `User-Agent` and `Accept`.
    public var fields: HTTPFields
    /// Offers HTTP/2 to `https` hosts. Default true.
    public var allowsHTTP2 = true
    /// Bytes of a body kept in memory; more goes to a temporary file while it is read. Default 4 MiB.
    public var memoryPerTransfer = ByteCount.mebibytes(4)
    /// The same for all bodies together. Default 64 MiB.
    public var memoryForAll = ByteCount.mebibytes(64)
    /// Where temporary files without a name are made. Default `$TMPDIR`, else `/tmp`.
    public var temporaryDirectory = defaultTemporaryDirectory()

    /// - Parameter formats: the picture formats to ask for, the most wanted first.
    public init(formats: [ImageFormat] = []) {
        fields = [.userAgent: Self.userAgent, .accept: Self.accept(formats)]
    }

    /// `webimage/<version> (<system>)`.
    public static var userAgent: String { "webimage/\(version) (Linux)" }

    static let version = "0.1"

    /// An `Accept` value: the formats by name, then any picture, then anything (SDWebImage row D-09).
    public static func accept(_ formats: [ImageFormat]) -> String {
        var types: [String] = []
        for type in formats.compactMap(\.mimeType) where !types.contains(type) { types.append(type) }
        return (types + [types.isEmpty ? "image/*" : "image/*;q=0.9", "*/*;q=0.8"]).joined(separator: ",")
    }
}
