#if TLS
    import FleetTesting
    import Foundation
    import NIOCore
    import ServerConfiguration
    import ServerImages
    import Testing
    import WebImage
    import WebImageTesting

    @testable import ServerHTTP

    /// Clients that connect by TLS, over real sockets.
    @Suite(.enabled(if: TestCertificate.canBeMade, "there is no openssl")) struct SecureServerTests {
        private func run(
            _ variables: [String: String] = [:], _ body: (RunningServer) async throws -> Void
        ) async throws {
            let files = try await TestCertificate()
            let own = ["WEBIMAGE_TLS_CERTIFICATE": files.certificate, "WEBIMAGE_TLS_KEY": files.key]
            try await RunningServer.run(own.merging(variables) { $1 }, { _ in }, body)
        }

        private func picture(
            _ behaviours: [OriginResponse.Behaviour] = [], filledBy count: Int = 0
        ) throws -> OriginServer {
            let origin = try OriginServer()
            var body = try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)
            body += [UInt8](repeating: 7, count: count)
            origin.serve(
                "/a.png",
                OriginResponse(headers: [("Cache-Control", "max-age=1000")], body: body, behaviours: behaviours))
            return origin
        }

        @Test(arguments: [true, false]) func http1AndHTTP2AreServed(isNew: Bool) async throws {
            let origin = try picture()
            try await run { server in
                var configuration = DownloadConfiguration()
                configuration.tls.trust = .anyone
                configuration.allowsHTTP2 = isNew
                let client = ImageDownloader(configuration: configuration)
                // The second answer comes from memory.
                for _ in 0..<2 {
                    let url = "https://127.0.0.1:\(server.port)" + RunningServer.path("w:20", origin)
                    let answer = try await client.data(for: DownloadRequest(url: url))
                    #expect(answer.head?.version == (isNew ? .http2 : .http11))
                    #expect(try await Image(data: answer.bytes).size == PixelSize(width: 20, height: 15))
                    #expect(answer.head?.headers[.server] == "webimage" && answer.head?.headers[.date] != nil)
                }
                #expect(server.metric("webimage_cache_requests_total{result=\"memory\"}") == 1)
                client.shutDown()
            }
        }

        @Test func streamsShareAConnection() async throws {
            let origin = try picture()
            try await run { server in
                let client = try await FrameConnection(port: server.port)
                for number in 0..<90 {
                    try await client.get(RunningServer.path("w:\(number % 9 + 10)", origin), 2 * number + 1)
                }
                try await client.wait { $0.streams.values.count { $0.hasEnded } == 90 }
                #expect(client.inbox.streams.values.allSatisfy { $0.status == "200" || !$0.hasEnded })
                #expect(origin.hits("/a.png") <= 9)
                try await client.get("/health", 181, method: "HEAD")
                try await client.wait { $0.streams[181]?.hasEnded == true }
                #expect(client.stream(181).status == "200" && client.stream(181).body.isEmpty)
                #expect(client.isOpen)
            }
        }

        @Test func aLongBodyGoesOnAsTheClientHasRoom() async throws {
            let origin = try picture(filledBy: 3_000_000)
            try await run { server in
                let client = try await FrameConnection(port: server.port)
                try await client.get(RunningServer.path("skp:png", origin), 1)
                try await client.wait { ($0.streams[1]?.body.count ?? 0) == 65_535 }
                #expect(!client.stream(1).hasEnded)
                try await client.takes(4_000_000, 1)
                try await client.wait { $0.streams[1]?.hasEnded == true }
                #expect(client.stream(1).body.count > 3_000_000)
                #expect(server.metric("webimage_slow_readers_total") == 0)
            }
        }

        @Test func aClientThatOpensNoWindowIsClosed() async throws {
            let origin = try picture(filledBy: 3_000_000)
            try await run(["IMGPROXY_WRITE_RESPONSE_TIMEOUT": "1"]) { server in
                let client = try await FrameConnection(port: server.port)
                try await client.get(RunningServer.path("skp:png", origin), 1)
                try await client.closed()
                #expect(client.stream(1).body.count == 65_535)
                #expect(server.metric("webimage_slow_readers_total") == 1)
            }
        }

        @Test func theWorkForAStreamThatIsResetIsCancelled() async throws {
            let gate = Gate()
            let origin = try picture([.hold(gate, at: .beforeHead)])
            try await run { server in
                let client = try await FrameConnection(port: server.port)
                try await client.get(RunningServer.path("w:10", origin), 1)
                try await server.wait { $0.endpoint.service.waitingCount == 1 }
                try await client.reset(1)
                try await server.wait {
                    $0.endpoint.service.waitingCount == 0 && $0.metric("requests_in_progress") == 0
                }
                #expect(server.endpoint.metricsText.contains(#"status_codes_total{status="499"} 1"#))
                gate.open()
                try await client.get("/health", 3)
                try await client.wait { $0.streams[3]?.hasEnded == true }
                #expect(client.stream(3).status == "200")
            }
        }

        /// The HTTP/2 rapid reset attack, CVE-2023-44487.
        @Test func aClientThatKeepsResettingStreamsIsClosed() async throws {
            let gate = Gate()
            let origin = try picture([.hold(gate, at: .beforeHead)])
            try await run(["IMGPROXY_WRITE_RESPONSE_TIMEOUT": "1"]) { server in
                let client = try await FrameConnection(port: server.port)
                for number in 0..<5000 where client.isOpen {
                    do {
                        try await client.get(RunningServer.path("w:\(number + 1)", origin), 2 * number + 1)
                        try await client.reset(2 * number + 1)
                    } catch {
                        break
                    }
                }
                try await client.closed()
                gate.open()
                try await server.wait {
                    $0.endpoint.service.waitingCount == 0 && $0.metric("requests_in_progress") == 0
                }
                let other = try await FrameConnection(port: server.port)
                try await other.get("/health", 1)
                try await other.wait { $0.streams[1]?.hasEnded == true }
                #expect(other.stream(1).status == "200")
            }
        }

        @Test func aClientThatViolatesTheProtocolIsClosed() async throws {
            // An idle client would be closed only after an hour.
            let limits = ["IMGPROXY_WRITE_RESPONSE_TIMEOUT": "1", "IMGPROXY_KEEP_ALIVE_TIMEOUT": "3600"]
            try await run(limits) { server in
                let client = try await FrameConnection(port: server.port)
                try await client.get("/health", 1)
                try await client.wait { $0.streams[1]?.hasEnded == true }
                // A WINDOW_UPDATE for a stream that was never opened.
                try await client.sendUnchecked([0, 0, 4, 8, 0, 0, 0, 0, 99, 0, 0, 1, 0])
                try await client.closed()
                #expect(client.inbox.isLeaving)
            }
        }

        /// Behind a proxy, other requests on the connection may be those of other users.
        @Test func aMalformedRequestEndsNoOther() async throws {
            let gate = Gate()
            let origin = try picture([.hold(gate, at: .beforeHead)])
            try await run(["IMGPROXY_WRITE_RESPONSE_TIMEOUT": "1"]) { server in
                let client = try await FrameConnection(port: server.port)
                try await client.get(RunningServer.path("w:10", origin), 1)
                try await server.wait { $0.endpoint.service.waitingCount == 1 }
                try await client.get("/a b", 3)
                try await client.wait { $0.streams[3]?.isReset == true }
                gate.open()
                try await client.wait { $0.streams[1]?.hasEnded == true }
                try await client.get("/health", 5)
                try await client.wait { $0.streams[5]?.hasEnded == true }
                #expect(client.stream(1).status == "200" && client.stream(5).status == "200")
                #expect(!client.inbox.isLeaving)
            }
        }

        @Test(arguments: [true, false]) func aRequestHasNoMoreFieldsThanByTheOldVersion(isWhole: Bool) async throws {
            try await run { server in
                let client = try await FrameConnection(port: server.port)
                // In HTTP/1.1 the host counts as a field, too.
                try await client.get("/health", 1, others: 99)
                try await client.get("/health", 3, isWhole: isWhole, others: 101)
                try await client.get("/health", 5)
                try await client.wait { inbox in [1, 3, 5].allSatisfy { inbox.streams[$0]?.isOver == true } }
                #expect([1, 3, 5].map { client.stream($0).status } == ["200", "400", "200"])
                #expect(!client.inbox.isLeaving)
            }
        }

        /// Each further violation was once reported to the client. If it did not read the reports, they piled up in
        /// memory.
        @Test func repeatedProtocolViolationsAreReportedOnce() async throws {
            try await run(["IMGPROXY_WRITE_RESPONSE_TIMEOUT": "1"]) { server in
                let client = try await FrameConnection(port: server.port)
                // CONTINUATION frames without a head.
                for _ in 0..<200 { try? await client.sendUnchecked([0, 0, 0, 9, 0, 0, 0, 0, 1]) }
                try await client.closed()
                // One GOAWAY reports the protocol error, and one may announce that the server leaves.
                #expect((1...2).contains(client.inbox.leavings))
            }
        }

        /// A client may allow an HPACK table of 4 GiB. The whole table was once searched for each field of each answer.
        @Test func varyingFieldsAreNotKeptInTheHPACKTable() async throws {
            try await run { server in
                let client = try await FrameConnection(port: server.port, tableSize: 1 << 20)
                for number in 0..<100 { try await client.get("/_/\(number)", 2 * number + 1) }
                try await client.wait { $0.streams.values.count { $0.hasEnded } == 100 }
                let ids = Set(client.inbox.streams.values.compactMap { $0.fields["x-request-id"] })
                #expect(ids.count == 100)
                #expect(
                    client.inbox.kept.isSubset(of: ["server", "x-content-type-options", "content-security-policy"]))
                #expect(client.inbox.kept.count == 3)
            }
        }

        @Test func aClientThatIgnoresGOAWAYIsClosed() async throws {
            try await run(["IMGPROXY_KEEP_ALIVE_TIMEOUT": "1", "IMGPROXY_WRITE_RESPONSE_TIMEOUT": "1"]) { server in
                let client = try await FrameConnection(port: server.port)
                try await client.get("/health", 1)
                try await client.wait { $0.streams[1]?.hasEnded == true }
                try await client.fallSilent()
                try await client.closed()
                #expect(client.stream(1).status == "200" && client.inbox.isLeaving)
            }
        }

        @Test func aBodyThatNeverEndsHoldsNothing() async throws {
            try await run { server in
                let client = try await FrameConnection(port: server.port)
                try await client.get("/health", 1, method: "POST", isWhole: false)
                try await client.wait { $0.streams[1]?.isReset == true }
                #expect(client.stream(1).status == "405" && client.stream(1).hasEnded)
                #expect(client.isOpen)
            }
        }

        /// The answer is ready on the event loop at once, before the end of the request has arrived.
        @Test func aPictureInMemoryDoesNotWaitForTheEndOfItsRequest() async throws {
            let origin = try picture()
            try await run { server in
                let client = try await FrameConnection(port: server.port)
                let path = RunningServer.path("w:20", origin)
                try await client.get(path, 1)
                try await client.wait { $0.streams[1]?.hasEnded == true }
                try await client.get(path, 3, isWhole: false)
                try await client.wait { $0.streams[3]?.isReset == true }
                #expect(client.stream(3).status == "200" && client.stream(3).hasEnded)
                #expect(client.stream(3).body == client.stream(1).body)
                #expect(server.metric("webimage_cache_requests_total{result=\"memory\"}") == 1)
                try await client.get(path, 5)
                try await client.wait { $0.streams[5]?.hasEnded == true }
                #expect(client.stream(5).status == "200" && client.isOpen)
            }
        }

        @Test func idleClientsAreClosed() async throws {
            try await run(["IMGPROXY_KEEP_ALIVE_TIMEOUT": "1", "IMGPROXY_READ_REQUEST_TIMEOUT": "1"]) { server in
                // The first client has made a request, the second never does, and the third does not even begin TLS.
                let first = try await FrameConnection(port: server.port)
                try await first.get("/health", 1)
                let second = try await FrameConnection(port: server.port)
                let third = try await RawConnection(port: server.port)
                try await first.closed()
                try await second.closed()
                try await third.closed()
                #expect(first.stream(1).status == "200" && first.inbox.isLeaving)
            }
        }

        @Test func aClientThatDoesNotSpeakTLSIsClosed() async throws {
            try await run { server in
                let text = try await RawConnection.answer("GET /health HTTP/1.1\r\nHost: a\r\n\r\n", port: server.port)
                #expect(!text.contains("HTTP/1.1"))
            }
        }

        @Test func aServerThatStopsAnswersRequestsItHasBegun() async throws {
            let gate = Gate()
            let origin = try picture([.hold(gate, at: .beforeHead)])
            var client: FrameConnection?
            try await run { server in
                let own = try await FrameConnection(port: server.port)
                try await own.get(RunningServer.path("w:10", origin), 1)
                try await server.wait { $0.endpoint.service.waitingCount == 1 }
                client = own
                Task {
                    try await own.wait { $0.isLeaving }
                    gate.open()
                }
            }
            try await client?.closed();
            #expect(client?.stream(1).status == "200" && client?.stream(1).hasEnded == true)
        }

        @Test func aServerThatStopsLosesNoAnswerUnderLoad() async throws {
            let origin = try picture(filledBy: 10_000)
            var asking: Task<[FrameConnection], any Error>?
            try await run { server in
                let path = RunningServer.path("skp:png", origin)
                let busy = Gate()
                asking = Task {
                    try await withThrowingTaskGroup { group in
                        for _ in 0..<4 {
                            group.addTask {
                                let client = try await FrameConnection(port: server.port)
                                try? await ask(client, path, busy)
                                try await client.closed()
                                return client
                            }
                        }
                        return try await group.reduce(into: []) { $0.append($1) }
                    }
                }
                await busy.opened()
            }
            for client in try await asking?.value ?? [] {
                // Requests that came too late were refused before any work was done for them, so that the client may
                // safely ask another server.
                let streams = client.inbox.streams.filter {
                    $0.key > 0 && !($0.value.isReset && $0.value.status == nil)
                }
                #expect(streams.count > 4 && streams.values.allSatisfy { $0.hasEnded && $0.body.count > 10_000 })
            }
        }

        /// Sends requests until the server leaves, with four in flight at a time. Throws when the connection has ended.
        private func ask(_ client: FrameConnection, _ path: String, _ isBusy: Gate) async throws {
            try await client.takes(1 << 30)
            var id = 1
            while !client.inbox.isLeaving {
                try await client.get(path, id)
                if id > 8 { try await client.wait { $0.streams[id - 8]?.isOver == true } }
                if id == 101 { isBusy.open() }
                id += 2
            }
        }

        @Test func aNewCertificateIsTakenOver() async throws {
            let (first, second) = (try await TestCertificate(), try await TestCertificate())
            let certificate = try ServerCertificate(.init(chain: first.certificate, key: first.key))
            #expect(try await !certificate.renew())
            // While only one of the two files is new, certificate and key do not match, and the earlier ones stay in
            // use.
            try FileManager.default.removeItem(atPath: first.certificate)
            try FileManager.default.copyItem(atPath: second.certificate, toPath: first.certificate)
            await #expect(throws: SettingsError.self) { try await certificate.renew() }
            try FileManager.default.removeItem(atPath: first.key)
            try FileManager.default.copyItem(atPath: second.key, toPath: first.key)
            #expect(try await certificate.renew())
            #expect(try await !certificate.renew())
        }

        @Test func aMissingCertificateIsNamedInTheError() async throws {
            let error = #expect(throws: SettingsError.self) {
                try ServerCertificate(.init(chain: "/nowhere/a.pem", key: "/nowhere/b.pem"))
            }
            for name in ["WEBIMAGE_TLS_CERTIFICATE (/nowhere/a.pem)", "WEBIMAGE_TLS_KEY (/nowhere/b.pem)"] {
                #expect(error?.description.contains(name) == true)
            }
        }
    }
#endif
