import FleetTesting
import NIOCore
import NIOPosix
import RESP
import RedisClient
import Testing

/// A client of the server at this URL. By default it has two event loops of its own.
func client(
    of url: String, loops: Int = 2, onNotice: @escaping @Sendable (RedisClient.Notice) -> Void = { _ in },
    change: (inout RedisConfiguration) -> Void = { _ in }
) throws -> RedisClient {
    var configuration = try RedisConfiguration(url: url)
    // Test machines are busy. Tests that are not about the deadline get a longer one than the default.
    configuration.deadline = .seconds(5)
    configuration.backoff = (.milliseconds(1), .milliseconds(20))
    change(&configuration)
    return try RedisClient(
        configuration, group: MultiThreadedEventLoopGroup(numberOfThreads: loops), onNotice: onNotice)
}
