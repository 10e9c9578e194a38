import HTTPTypes
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// Answers that need special treatment: compressed without being asked, asking for credentials, or without TLS where
/// TLS was expected.
@Suite struct DownloadAnswerTests {
    private let body = pattern(5000)

    @Test func aBodyThatWasCompressedUnaskedIsUnpacked() async throws {
        let rig = try Rig()
        rig.server.serve("/a", compressed())
        let download = rig.download("/a")
        #expect(await rig.fetch(download) == (body, "complete"))
        #expect(download.log.expectedLength == nil)
        #expect(rig.server.requests("/a").first?.header("Accept-Encoding") == "identity")
    }

    @Test func aCompressedBodyMayNotGrowBeyondTheLimit() async throws {
        let rig = try Rig(.with { $0.bodyLimit = 4096 })
        rig.server.serve("/a", compressed().with(framing: .chunked(size: 512)))
        #expect(await rig.fetch("/a").end == "decompressionLimit")
    }

    @Test func aCompressedBodyThatIsBrokenIsAnError() async throws {
        let rig = try Rig()
        rig.server.serve(
            "/a", OriginResponse.bytes(body, contentType: "image/png").with(header: "Content-Encoding", "gzip"))
        #expect(await rig.fetch("/a").end == "protocolError")
    }

    /// A 204 has no body, whatever length it states (RFC 9112 section 6.3). It once counted as truncated and was
    /// retried.
    @Test func aLengthOfA204IsIgnored() async throws {
        let rig = try Rig(.with { $0.bodyLimit = 4096 })
        for length in ["321", "99999"] {
            rig.server.serve("/a", .status(204, headers: [("Content-Length", length)]))
            #expect(await rig.fetch("/a") == ([], "complete"))
        }
    }

    /// Some pictures are stored with a `Content-Encoding` that is not a coding. They are pictures all the same.
    @Test(arguments: ["utf-8", "aws-chunked", "gzip, x-none", "none"])
    func aBodyInAnUnknownCodingComesAsItIs(coding: String) async throws {
        let rig = try Rig()
        let picture = OriginResponse.bytes(body, contentType: "image/png")
        rig.server.serve("/a", picture.with(header: "Content-Encoding", coding))
        rig.server.serve("/b", picture)
        rig.server.serve("/c", compressed())
        let download = rig.download("/a")
        #expect(await rig.fetch(download) == (body, "complete"))
        #expect(download.exchange?.head[.contentEncoding] == coding)
        // Requests that reuse the libcurl handle are not affected.
        #expect(await rig.fetch("/b") == (body, "complete"))
        #expect(await rig.fetch("/c") == (body, "complete"))
    }

    /// By default libcurl would retry by itself when a reused connection has died.
    @Test(arguments: [(RetryPolicy.never, 1, "connectionLost"), (RetryPolicy(retries: 1), 2, "complete")])
    func libcurlDoesNotRetryByItself(_ policy: RetryPolicy, _ count: Int, _ end: String) async throws {
        let rig = try Rig(.with { $0.retry = policy })
        let good = OriginResponse.bytes(body, contentType: "image/png")
        rig.server.serve("/first", good)
        rig.server.serve("/second", good.with(.cut(at: .beforeHead)), good)
        #expect(await rig.fetch("/first").end == "complete")
        // Sent on the connection of the first request, which the server then closes without an answer.
        #expect(await rig.fetch("/second").end == end)
        #expect(rig.server.hits("/second") == count)
    }

    @Test(arguments: [401, 407]) func credentialsThatAreNotAcceptedAreNamed(status: Int) async throws {
        let rig = try Rig()
        rig.server.serve("/a", .status(status))
        let url = rig.server.url("/a")
        #expect(await rig.fetch("/a").end == "badStatus")
        #expect(await rig.fetch(url.replacing("http://", with: "http://anna:wrong@")).end == "authenticationFailed")
        var request = DownloadRequest(url: url)
        request.headers[.authorization] = "Bearer old"
        let download = rig.downloader.download(request)
        guard case .failed(let error) = await download.log.ended() else {
            Issue.record("credentials that were refused gave a body")
            return
        }
        #expect(error.code == .authenticationFailed && error.status == status)
    }

    @Test func httpsToAServerWithoutTLSFails() async throws {
        let rig = try Rig()
        let listener = try LoopbackSocket.listening()
        defer { listener.close() }
        startThread(named: "test-no-tls") {
            guard let client = listener.accept() else { return }
            _ = client.send("this is not TLS\r\n")
            client.close()
        }
        #expect(await rig.fetch("https://127.0.0.1:\(listener.port)/a").end == "tlsFailed")
    }

    private func compressed() -> OriginResponse {
        .bytes(DeflateWriter.gzip(body), contentType: "image/png").with(header: "Content-Encoding", "gzip")
    }
}

/// The downloader used on its own, through its public API.
@Suite struct DownloadedDataTests {
    private let body = pattern(300_000)

    @Test func aBodyAndItsHeadAreReturned() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .bytes(body, contentType: "image/png"))
        let (bytes, head) = try await rig.downloader.data(for: DownloadRequest(url: rig.server.url("/a")))
        #expect(bytes == body && head?.status == 200 && head?.headers[.contentType] == "image/png")
        let data = try await rig.downloader.data(for: DownloadRequest(url: "data:,abc"))
        #expect(data.bytes == Array("abc".utf8) && data.head == nil)
    }

    @Test func dataForARequestThrowsItsError() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .bytes(body, contentType: "image/png"))
        var limited = DownloadRequest(url: rig.server.url("/a"))
        limited.bodyLimit = .kibibytes(1)
        let tooLarge = await #expect(throws: WebImageError.self) { try await rig.downloader.data(for: limited) }
        #expect(tooLarge?.code == .bodyTooLarge)
        let missing = DownloadRequest(url: rig.server.url("/nothing"))
        let refused = await #expect(throws: WebImageError.self) { try await rig.downloader.data(for: missing) }
        #expect(refused?.code == .badStatus && refused?.status == 404)
        let invalid = await #expect(throws: WebImageError.self) {
            try await rig.downloader.data(for: DownloadRequest(url: "no URL"))
        }
        #expect(invalid?.code == .invalidURL)
    }

    @Test func aCancelledTaskEndsTheTransfer() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .bytes(body, contentType: "image/png").with(.stall(at: .byte(1000))))
        let request = DownloadRequest(url: rig.server.url("/a"))
        let task = Task { try await rig.downloader.data(for: request) }
        await rig.server.waitForHeld("/a", 1)
        task.cancel()
        let error = await #expect(throws: WebImageError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(await rig.server.waitForClosed("/a"))
    }
}
