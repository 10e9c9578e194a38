#if TLS
    import FleetTesting
    import Foundation
    import NIOCore
    import S3Client
    import Testing

    @Suite struct S3SecureTests {
        /// A certificate and its key, in a folder of their own.
        private func makeCertificate(of name: String = "IP:127.0.0.1") async throws -> (
            certificate: String, key: String
        ) {
            let folder = FileManager.default.temporaryDirectory.path + "/s3-tls-\(UInt32.random(in: 0 ... .max))"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let (certificate, key) = (folder + "/certificate.pem", folder + "/key.pem")
            let openssl = try ChildProgram(
                "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                    key,
                    "-out", certificate, "-days", "2", "-subj", "/CN=tests", "-addext",
                    "subjectAltName=\(name)",
                ])
            await openssl.ended()
            return (certificate, key)
        }

        @Test(.enabled(if: RedisServer.find("openssl") != nil, "there is no openssl"))
        func certificatesAreChecked() async throws {
            let files = try await makeCertificate()
            defer {
                try? FileManager.default.removeItem(atPath: files.certificate.replacing("/certificate.pem", with: ""))
            }
            let server = try await ScriptedServer(certificate: files) { _ in [answer(200, "Hello")] }
            let endpoint = "https://127.0.0.1:\(server.port)"
            let trusting = try client(of: endpoint, change: { $0.certificateAuthorities = files.certificate })
            for _ in 0..<3 { #expect(try await trusting.get("a")?.body.text == "Hello") }
            #expect(server.events.events.count { $0 == .asked(0) } == 3)
            // The system knows nothing of it.
            let careful = try client(of: endpoint)
            await #expect(throws: S3Error.handshakeFailed) { try await careful.get("a") }
            #expect(server.requests.events.count == 3)
            for client in [trusting, careful] { await client.close() }
        }

        @Test(.enabled(if: RedisServer.find("openssl") != nil, "there is no openssl"))
        func aCertificateIsOfItsServerOnly() async throws {
            let files = try await makeCertificate(of: "DNS:elsewhere.example")
            defer {
                try? FileManager.default.removeItem(atPath: files.certificate.replacing("/certificate.pem", with: ""))
            }
            let server = try await ScriptedServer(certificate: files) { _ in [answer(200, "Hello")] }
            for host in ["127.0.0.1", "localhost"] {
                let client = try client(
                    of: "https://\(host):\(server.port)", change: { $0.certificateAuthorities = files.certificate })
                await #expect(throws: S3Error.handshakeFailed) { try await client.get("a") }
                await client.close()
            }
            #expect(server.requests.events.isEmpty)
        }

        @Test(.enabled(if: RedisServer.find("openssl") != nil, "there is no openssl"))
        func aSilentServerHoldsNoPlace() async throws {
            let files = try await makeCertificate()
            defer {
                try? FileManager.default.removeItem(atPath: files.certificate.replacing("/certificate.pem", with: ""))
            }
            let server = try await ScriptedServer(certificate: files) { request in
                request.head.contains("/silent ") ? [] : [answer(200, "Hello")]
            }
            let client = try client(
                of: "https://127.0.0.1:\(server.port)",
                change: {
                    $0.certificateAuthorities = files.certificate
                    $0.mostConnections = 1
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
            // TLS begins with bytes that end no request: the server is told by its answer to what it takes for one.
            let server = try await ScriptedServer { _ in [answer(200, "Hello")] }
            let client = try client(
                of: "https://127.0.0.1:\(server.port)", change: { $0.readDeadline = .milliseconds(100) })
            await #expect(throws: S3Error.timedOut) { try await client.get("a") }
            #expect(server.requests.events.isEmpty)
            await client.close()
        }
    }
#endif
