import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageDownload

/// TLS and HTTP/2 against nginx.
@Suite(.enabled(if: NginxServer.isAvailable, "nginx or openssl is not installed")) struct TLSTests {
    private func fetch(
        _ rig: Rig, _ url: String, _ tls: TLSPolicy
    ) async -> (count: Int, end: String, metrics: TransferMetrics?) {
        var request = DownloadRequest(url: url)
        request.tls = tls
        let download = rig.downloader.download(request)
        let (bytes, end) = await rig.fetch(download)
        return (bytes.count, end, download.metrics)
    }

    @Test func onlyCertificatesThatThePolicyTrustsAreAccepted() async throws {
        let (rig, server) = (try Rig(), try NginxServer())
        let url = server.secure("/body")
        #expect(await fetch(rig, url, TLSPolicy()).end == "tlsFailed")
        let known = TLSPolicy(trust: .systemAnd(pem: server.authority))
        let answer = await fetch(rig, url, known)
        #expect(answer.count == 10_240 && answer.end == "complete" && answer.metrics?.version == .http2)
        // The certificate names 127.0.0.1 only.
        #expect(await fetch(rig, server.secure("/body", host: "localhost"), known).end == "tlsFailed")
        #expect(await fetch(rig, url, TLSPolicy(trust: .anyone)).end == "complete")
        // A connection that was opened without checks is not used for a request that checks.
        #expect(await fetch(rig, url, TLSPolicy()).end == "tlsFailed")
    }

    @Test func aPinnedKeyMustBeTheOne() async throws {
        let (rig, server) = (try Rig(), try NginxServer())
        let pin = String(decoding: server.contents("pin"), as: UTF8.self)
        var policy = TLSPolicy(
            trust: .systemAnd(pem: server.authority), pinnedKeys: [pin, String(repeating: "A", count: 43) + "="])
        #expect(await fetch(rig, server.secure("/body"), policy).end == "complete")
        policy.pinnedKeys = [String(repeating: "A", count: 43) + "="]
        #expect(await fetch(rig, server.secure("/body"), policy).end == "tlsFailed")
        // A pinned key does not make an unknown authority trusted.
        #expect(await fetch(rig, server.secure("/body"), TLSPolicy(pinnedKeys: [pin])).end == "tlsFailed")
    }

    @Test func aClientCertificateIsPresentedToTheServer() async throws {
        let (rig, server) = (try Rig(), try NginxServer())
        let url = "https://127.0.0.1:\(server.mutualPort)/body"
        var policy = TLSPolicy(trust: .systemAnd(pem: server.authority))
        #expect(await fetch(rig, url, policy).end == "badStatus")
        policy.clientCertificate = .init(certificate: server.contents("client.pem"), key: server.contents("client.key"))
        #expect(await fetch(rig, url, policy).end == "complete")
        policy.clientCertificate = .init(certificate: [1, 2], key: [3])
        #expect(await fetch(rig, url, policy).end == "tlsFailed")
    }

    @Test func manyShareOneConnectionOverHTTP2() async throws {
        let rig = try Rig(
            .with {
                $0.maxConcurrent = 64; $0.maxConcurrentPerHost = 64
            })
        let server = try NginxServer()
        let downloads = (0..<64).map { number in
            var request = DownloadRequest(url: server.secure("/body?\(number)"))
            request.trust = .systemAnd(pem: server.authority)
            return rig.downloader.download(request)
        }
        var isNew = 0
        for download in downloads {
            #expect(await rig.fetch(download).end == "complete")
            if download.metrics?.timings?.isReused == false { isNew += 1 }
        }
        #expect(isNew == 1)
    }

    @Test func aPlainServerIsNoTLSServer() async throws {
        let (rig, server) = (try Rig(), try NginxServer())
        #expect(await fetch(rig, "https://127.0.0.1:\(server.plainPort)/body", TLSPolicy()).end == "tlsFailed")
    }

    /// Each failure is `tlsFailed`, and its message says what is wrong with the certificate.
    @Test func theErrorSaysWhyACertificateIsRefused() async throws {
        let (rig, server) = (try Rig(), try NginxServer())
        let known = TLSPolicy(trust: .systemAnd(pem: server.authority))
        func complaint(_ url: String, _ tls: TLSPolicy) async -> String {
            var request = DownloadRequest(url: url)
            request.tls = tls
            let download = rig.downloader.download(request)
            guard case .failed(let error) = await download.log.ended() else { return "none" }
            #expect(error.code == .tlsFailed && error.status == nil)
            return error.message
        }
        let expired = "https://127.0.0.1:\(server.expiredPort)/body"
        let selfSigned = "https://127.0.0.1:\(server.selfSignedPort)/body"
        #expect(await complaint(expired, known).contains("expired"))
        #expect(await complaint(selfSigned, known).contains("self-signed"))
        #expect(await complaint(server.secure("/body", host: "localhost"), known).contains("localhost"))
        #expect(await complaint(server.secure("/body"), TLSPolicy()).contains("unable to get local issuer"))
        // A self-signed certificate may be trusted explicitly. Its dates and its name are checked all the same.
        let own = TLSPolicy(trust: .systemAnd(pem: server.contents("self.pem")))
        #expect(await fetch(rig, selfSigned, own).end == "complete")
        #expect(await complaint(selfSigned.replacing("127.0.0.1", with: "localhost"), own).contains("localhost"))
        for url in [expired, selfSigned, server.secure("/body", host: "localhost")] {
            #expect(await fetch(rig, url, TLSPolicy(trust: .anyone)).end == "complete")
            #expect(await fetch(rig, url, known).end == "tlsFailed")
        }
    }

    @Test func trustingAnyoneLogsAWarningForEachRequest() async throws {
        let log = LogBook()
        let rig = try Rig(.with { $0.logger = log.logger })
        let server = try NginxServer()
        let url = server.secure("/body?token=secret").replacing("https://", with: "https://ada:secret@")
        #expect(await fetch(rig, url, TLSPolicy(trust: .systemAnd(pem: server.authority))).end == "complete")
        #expect(log.lines == [])
        #expect(await fetch(rig, url, TLSPolicy(trust: .anyone)).end == "complete")
        let lines = log.lines
        #expect(lines.count == 1 && lines[0].hasPrefix("warning: certificates are NOT checked"))
        #expect(lines[0].contains("127.0.0.1") && !lines[0].contains("secret") && !lines[0].contains("ada"))
        // The warning is repeated for each request, so that recent log lines show it, too.
        #expect(await fetch(rig, url + "&again", TLSPolicy(trust: .anyone)).end == "complete")
        #expect(log.lines.count == 2)
    }
}
