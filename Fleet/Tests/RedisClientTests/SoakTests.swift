import FleetTesting
import Foundation
import NIOCore
import RESP
import RedisClient
import Testing

/// Tests that take minutes. They run only with WEBIMAGE_SOAK=1.
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["WEBIMAGE_SOAK"] != nil, "only with WEBIMAGE_SOAK=1"),
    .enabled(if: RedisServer.isInstalled, "there is no redis-server"))
struct RedisSoakTests {
    /// The resident memory of this process in bytes; 0 where `/proc` does not tell.
    private static var residentBytes: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let pages = text.split(separator: " ")
        return pages.count > 1 ? (Int(pages[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }

    /// Three million commands, of which each tenth carries 2 kB. Every answer is right, and memory does not grow.
    @Test func threeMillionCommandsTakeNoMoreMemory() async throws {
        let server = try await RedisServer()
        let client = try client(of: server.url, change: { $0.maxInFlight = 5000 })
        let (rounds, tasks, each) = (30, 100, 1000)
        var sizes: [Int] = []
        for round in 0..<rounds {
            let wrong = await withTaskGroup(of: Int.self) { group in
                for task in 0..<tasks {
                    group.addTask {
                        var wrong = 0
                        for number in 0..<each {
                            let text =
                                number % 10 == 0
                                ? String(repeating: "\(task)-\(number).", count: 250) : "\(round)-\(task)-\(number)"
                            if (try? await client.send(["ECHO", RESPArgument(text)])) != RESPValue.bulk(text) {
                                wrong += 1
                            }
                        }
                        return wrong
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(wrong == 0)
            sizes.append(Self.residentBytes)
        }
        #expect(client.statistics.commands == rounds * tasks * each)
        let (early, late) = (sizes[rounds / 5], sizes[rounds - 1])
        print("resident after 600,000 commands: \(early >> 10) KiB, after 3,000,000: \(late >> 10) KiB")
        #expect(late <= early + early / 20, "\(sizes)")
        await client.close()
    }
}
