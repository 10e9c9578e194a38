#if TLS
    import FleetTesting
    import RESP
    import RedisClient
    import Testing

    @Suite(
        .enabled(if: RedisServer.isInstalled, "there is no redis-server"),
        .enabled(if: TestCertificate.canBeMade, "there is no openssl"))
    struct RedisSecureTests {
        @Test func commandsAndMessagesGoByTLS() async throws {
            let (files, port) = (try await TestCertificate(), RedisServer.freePort())
            let server = try await RedisServer([
                "--tls-port", "\(port)", "--tls-cert-file", files.certificate, "--tls-key-file", files.key,
                "--tls-ca-cert-file", files.certificate, "--tls-auth-clients", "no", "--requirepass", "secret",
            ])
            let trusting = try client(
                of: "rediss://:secret@127.0.0.1:\(port)", change: { $0.certificateAuthorities = files.certificate })
            let long = String(repeating: "long ", count: 100_000)
            #expect(try await trusting.send(["ECHO", RESPArgument(long)]) == RESPValue.bulk(long))
            let events = EventLog<SubscriptionEvent>()
            let subscription = trusting.subscribe(to: "channel") { events.append($0) }
            await events.wait { $0.contains(.active) }
            _ = try await trusting.send(["PUBLISH", "channel", "hello"])
            await events.wait { $0.count == 2 }
            subscription.end()
            // The system does not trust the certificate. The client fails before it sends the password.
            let careful = try client(of: "rediss://:secret@127.0.0.1:\(port)")
            await #expect(throws: RedisError.self) { try await careful.send(["PING"]) }
            // A server without TLS is refused, too.
            let plain = RedisServer.freePort()
            let other = try await RedisServer(["--port", "\(plain)"])
            let strict = try client(
                of: "rediss://127.0.0.1:\(plain)", change: { $0.certificateAuthorities = files.certificate })
            await #expect(throws: RedisError.self) { try await strict.send(["PING"]) }
            for client in [trusting, careful, strict] { await client.close() }
            withExtendedLifetime((server, other)) {}
        }
    }
#endif
