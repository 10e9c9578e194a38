import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageDownload

/// Failures of HTTP/2, with nginx and with a server that sends scripted frames.
@Suite(.enabled(if: NginxServer.isAvailable, "nginx or openssl is not installed")) struct HTTP2FaultTests {
    struct Fault: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The errors in which the transfer may end. The error for a broken connection depends on how much arrived
        /// before it broke.
        let ends: Set<String>
        let frames: [HTTP2Script.Frame]

        init(_ name: String, _ ends: Set<String>, _ frames: HTTP2Script.Frame...) {
            (testDescription, self.ends, self.frames) = (name, ends, frames)
        }
    }

    private static let part = pattern(1000)
    private static let broken: Set<String> = ["connectionLost", "truncatedBody"]

    /// Error codes of RFC 9113 section 7: 0 NO_ERROR, 2 INTERNAL_ERROR, 8 CANCEL, 11 ENHANCE_YOUR_CALM.
    private static let faults: [Fault] = [
        Fault("the whole", ["complete"], .head(length: 1000), .data(part, ends: true)),
        Fault("reset before the head", ["connectionLost"], .reset(code: 2)),
        Fault("reset after the head", ["connectionLost"], .head(length: 5000), .reset(code: 2)),
        Fault("reset in the body", ["connectionLost"], .head(length: 5000), .data(part), .reset(code: 8)),
        Fault("reset in a body of no length", ["connectionLost"], .head(), .data(part), .reset(code: 2)),
        Fault("an end too early", ["connectionLost"], .head(length: 5000), .data(part, ends: true)),
        Fault(
            "going away after this one", ["complete"], .head(length: 1000), .goAway(lastStream: 1, code: 0),
            .data(part, ends: true)),
        Fault("going away without this one", ["connectionLost"], .goAway(lastStream: 0, code: 11), .hangUp),
        Fault(
            "going away in the body", broken, .head(length: 5000), .data(part), .goAway(lastStream: 1, code: 2),
            .hangUp),
        Fault("hanging up in the body", broken, .head(length: 5000), .data(part), .hangUp),
    ]

    @Test(arguments: faults)
    func aFaultIsNamedAndTheNextRequestWorks(_ fault: Fault) async throws {
        let rig = try Rig(.with { $0.maxConcurrent = 1 })
        let nginx = try NginxServer()
        let script = try HTTP2Script(as: nginx, fault.frames)
        func fetch(_ url: String) async -> (body: [UInt8], end: String) {
            var request = DownloadRequest(url: url)
            request.trust = .systemAnd(pem: nginx.authority)
            return await rig.fetch(rig.downloader.download(request))
        }
        let answer = await fetch(script.url())
        withExtendedLifetime(script) {}
        #expect(fault.ends.contains(answer.end))
        // A body that breaks off is a beginning of the right one.
        #expect(Self.part.starts(with: answer.body) && (answer.end != "complete" || answer.body == Self.part))
        let next = await fetch(nginx.secure("/body"))
        #expect(next.end == "complete" && next.body.count == 10_240)
        #expect(rig.downloader.counters.running == 0)
    }

    /// nginx sends GOAWAY after every third request of a connection, while other requests are running on it.
    @Test func aServerThatGoesAwayAgainAndAgainLosesNothing() async throws {
        let downloader = ImageDownloader(
            configuration: .with {
                $0.maxConcurrent = 8
                $0.maxConcurrentPerHost = 8
                $0.retry = RetryPolicy(retries: 5, firstDelay: .milliseconds(1))
            })
        let nginx = try NginxServer()
        let downloads = (0..<60).map { number in
            var request = DownloadRequest(url: "https://127.0.0.1:\(nginx.briefPort)/body?\(number)")
            request.trust = .systemAnd(pem: nginx.authority)
            return downloader.download(request)
        }
        var opened = 0
        for download in downloads {
            #expect(await download.log.ended().name == "complete" && download.log.receivedCount == 10_240)
            #expect(download.metrics?.version == .http2)
            if download.metrics?.timings?.isReused == false { opened += 1 }
        }
        #expect(opened >= 10, "the connections did end")
    }
}
