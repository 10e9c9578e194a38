#if TLS
    import FleetTesting
    import NIOCore
    import S3Client
    import Testing

    @Suite struct S3SecureTests {
        @Test(.enabled(if: TestCertificate.canBeMade, "there is no openssl"))
        func certificatesAreChecked() async throws {
            let files = try await TestCertificate()
            let server = try await ScriptedServer(certificate: (files.certificate, files.key)) { _ in
                [answer(200, "Hello")]
            }
            let endpoint = "https://127.0.0.1:\(server.port)"
            let trusting = try client(of: endpoint, change: { $0.certificateAuthorities = files.certificate })
            for _ in 0..<3 { #expect(try await trusting.get("a")?.body.text == "Hello") }
            #expect(server.events.events.count { $0 == .asked(0) } == 3)
            // The system does not trust the certificate.
            let careful = try client(of: endpoint)
            await #expect(throws: S3Error.handshakeFailed) { try await careful.get("a") }
            #expect(server.requests.events.count == 3)
            for client in [trusting, careful] { await client.close() }
        }

        @Test(.enabled(if: TestCertificate.canBeMade, "there is no openssl"))
        func aCertificateIsOfItsServerOnly() async throws {
            let files = try await TestCertificate(of: "DNS:elsewhere.example")
            let server = try await ScriptedServer(certificate: (files.certificate, files.key)) { _ in
                [answer(200, "Hello")]
            }
            for host in ["127.0.0.1", "localhost"] {
                let client = try client(
                    of: "https://\(host):\(server.port)", change: { $0.certificateAuthorities = files.certificate })
                await #expect(throws: S3Error.handshakeFailed) { try await client.get("a") }
                await client.close()
            }
            #expect(server.requests.events.isEmpty)
        }

        @Test(.enabled(if: TestCertificate.canBeMade, "there is no openssl"))
        func aSilentServerHoldsNoPlace() async throws {
            let files = try await TestCertificate()
            let server = try await ScriptedServer(certificate: (files.certificate, files.key)) { request in
                request.head.contains("/silent ") ? [] : [answer(200, "Hello")]
            }
            let client = try client(
                of: "https://127.0.0.1:\(server.port)",
                change: {
                    $0.certificateAuthorities = files.certificate
                    $0.maxConnections = 1
                })
            for number in 0..<3 {
                let task = Task { await Result.of { () throws(S3Error) in try await client.get("silent") } }
                await server.requests.wait { $0.count == 2 * number + 1 }
                task.cancel()
                #expect(await task.value == .failure(.cancelled))
                #expect(try await client.get("a")?.body.text == "Hello")
            }
            await client.close()
        }

        @Test func aServerWithoutTLSIsToldApart() async throws {
            // The first bytes of TLS contain no end of an HTTP request. The server therefore never answers, and the
            // client's deadline ends the attempt.
            let server = try await ScriptedServer { _ in [answer(200, "Hello")] }
            let client = try client(
                of: "https://127.0.0.1:\(server.port)", change: { $0.readDeadline = .milliseconds(100) })
            await #expect(throws: S3Error.timedOut) { try await client.get("a") }
            #expect(server.requests.events.isEmpty)
            await client.close()
        }
    }
#endif
