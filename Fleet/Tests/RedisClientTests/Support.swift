import FleetTesting
import NIOCore
import NIOPosix
import RESP
import RedisClient
import Testing

/// A client of a server, on two event loops of its own.
func client(
    of url: String, loops: Int = 2, onNotice: @escaping @Sendable (RedisClient.Notice) -> Void = { _ in },
    change: (inout RedisConfiguration) -> Void = { _ in }
) throws -> RedisClient {
    var configuration = try RedisConfiguration(url: url)
    // The machine that runs tests is busy: what is not about the deadline gets more time.
    configuration.deadline = .seconds(5)
    configuration.backoff = (.milliseconds(1), .milliseconds(20))
    change(&configuration)
    return try RedisClient(
        configuration, group: MultiThreadedEventLoopGroup(numberOfThreads: loops), onNotice: onNotice)
}
