import FleetTesting
import Foundation
import NIOCore
import Testing
import WebImageTesting

@testable import ServerHTTP

/// The balancers' configurations that we ship, run in the real balancers. The three servers behind them answer with
/// their numbers.
@Suite struct RoutingTests {
    enum Balancer: String, CaseIterable, Sendable {
        case haproxy, nginx

        var isInstalled: Bool { RedisServer.find(rawValue) != nil }
    }

    static let installed = Balancer.allCases.filter(\.isInstalled)

    private final class Rig {
        let port = RedisServer.freePort()
        private(set) var servers: [OriginServer]
        private let program: ChildProgram
        private let folder: ScratchDirectory

        /// - Parameter byHashOnly: Whether the balancer chooses by hash only and ignores health and load. On a busy
        ///   test machine a server may answer late, and HAProxy may count a request as running for a moment after its
        ///   client has the answer. The next request would then rightly go to another server.
        init(_ balancer: Balancer, byHashOnly: Bool = false) async throws {
            folder = try ScratchDirectory()
            servers = try (0..<3).map { _ in try OriginServer() }
            var source = URL(fileURLWithPath: #filePath)
            for _ in 0..<3 { source.deleteLastPathComponent() }
            source.appendPathComponent("Packaging/Fleet")
            let name = balancer == .haproxy ? "haproxy.cfg" : "nginx.conf"
            var text = try String(contentsOf: source.appendingPathComponent(name), encoding: .utf8)
            for (number, server) in servers.enumerated() {
                text = text.replacingOccurrences(of: "127.0.0.1:808\(number + 1)", with: "127.0.0.1:\(server.port)")
                server.serve(under: "/") { _ in OriginResponse(body: Array("\(number)".utf8)) }
            }
            text = text.replacingOccurrences(of: ":8000", with: "127.0.0.1:\(port)")
            text = text.replacingOccurrences(of: "listen 8000", with: "listen 127.0.0.1:\(port)")
            if byHashOnly, balancer == .haproxy {
                for (ours, other) in [
                    ("check inter 1s", "check inter 1h"), ("hash-balance-factor 150", "hash-balance-factor 0"),
                ] {
                    try #require(text.contains(ours))
                    text = text.replacingOccurrences(of: ours, with: other)
                }
            }
            let path = folder.path + "/" + name
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            switch balancer {
            case .haproxy: program = try ChildProgram("haproxy", ["-f", path, "-db"])
            case .nginx:
                program = try ChildProgram(
                    "nginx",
                    [
                        "-p", folder.path, "-c", path, "-e", folder.path + "/error.log", "-g",
                        "daemon off; master_process off; pid \(folder.path)/pid;",
                    ])
            }
            while (try? await RawConnection(port: port)) == nil { await Task.yield() }
        }

        /// The number of the server that answers, or nil if none does.
        func ask(_ path: String) async throws -> Int? {
            let request = "GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            let text = try await RawConnection.answer(request, port: port)
            return text.hasPrefix("HTTP/1.1 200") ? text.last.flatMap { Int(String($0)) } : nil
        }

        /// Makes a server answer `/ready` with 503 and this text from now on.
        func say(_ text: String, _ server: Int) {
            servers[server].serve("/ready", OriginResponse(status: 503, body: Array(text.utf8)))
        }

        func stop(_ server: Int) { servers[server].stop() }
    }

    /// Requests for a source go to the same server, however the source is written and whatever the options are.
    @Test(arguments: installed) func allSizesOfASourceGoToOneServer(_ balancer: Balancer) async throws {
        let rig = try await Rig(balancer, byHashOnly: true)
        var used: Set<Int> = []
        for number in 0..<12 {
            let plain = "http://example.org/a%20\(number).jpg?b=c:d/e"
            let encoded = Data(plain.utf8).base64EncodedString()
                .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
                .replacingOccurrences(of: "=", with: "")
            let forms = [
                [
                    "/signature/plain/\(plain)", "/other/rs:fit:3:4/plain/\(plain)",
                    "/_/w:1/h:2/q:3/plain/\(plain)@webp",
                    "/info/s1/s:1/plain/\(plain)", "/srcset/s2/w:1:2:3/plain/\(plain)",
                ],
                [
                    "/signature/\(encoded)", "/other/rs:fit:3:4/\(encoded).png", "/_/w:1/\(encoded).webp",
                    "/info/s1/s:1/\(encoded)", "/srcset/s2/w:1:2:3/\(encoded)",
                ],
            ]
            for form in forms {
                var servers: Set<Int?> = []
                for path in form { servers.insert(try await rig.ask(path)) }
                #expect(servers.count == 1, "\(form): \(servers)")
                for case let server? in servers { used.insert(server) }
            }
        }
        #expect(used == [0, 1, 2])
    }

    /// The sources of the lost server move to the others. The others keep their own, except for a few that exceed their
    /// load.
    @Test(arguments: installed) func aServerThatIsLostMovesItsOwnShareOnly(_ balancer: Balancer) async throws {
        let rig = try await Rig(balancer)
        var before: [Int?] = []
        func path(_ number: Int, _ size: Int) -> String { "/_/w:\(size)/plain/http://example.org/\(number).jpg" }
        for number in 0..<60 { before.append(try await rig.ask(path(number, 1))) }
        #expect(Set(before) == [0, 1, 2])
        rig.stop(1)
        var moved = 0
        for number in 0..<60 {
            let after = try await rig.ask(path(number, 2))
            #expect(after == 0 || after == 2)
            if before[number] != 1, after != before[number] { moved += 1 }
        }
        #expect(moved <= 6)
    }

    /// A server that drains gets no new requests although it still answers. A server that is overloaded keeps its
    /// sources.
    @Test(.enabled(if: Balancer.haproxy.isInstalled, "there is no haproxy"))
    func aDrainingServerGetsNoNewRequests() async throws {
        let rig = try await Rig(.haproxy)
        func share(of server: Int) async throws -> Int {
            var count = 0
            for number in 0..<60 {
                if try await rig.ask("/_/plain/http://a/\(number)") == server { count += 1 }
            }
            return count
        }
        #expect(try await share(of: 1) > 5)
        let probes = rig.servers[1].hits("/ready")
        rig.say("overloaded", 1)
        _ = await rig.servers[1].waitForHits("/ready", probes + 4)
        #expect(try await share(of: 1) > 5)
        rig.say("draining", 1)
        while try await share(of: 1) > 0 {}
        #expect(await rig.servers[1].waitForHits("/ready", probes + 5))
    }
}
