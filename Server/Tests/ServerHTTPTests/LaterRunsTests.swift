import Foundation
import ServerConfiguration
import ServerGrammar
import ServerImages
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

/// What a server serves from the cache folder of an earlier run, with another clock or other settings.
@Suite struct LaterRunsTests {
    private let folder: ScratchDirectory
    private let origin: OriginServer

    init() throws {
        folder = try ScratchDirectory()
        origin = try OriginServer()
        origin.serve(
            "/a.png",
            OriginResponse(
                headers: [("Cache-Control", "max-age=1000")],
                body: try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png)))
    }

    /// Runs a server with the folder, and waits until it has written everything.
    private func run<Value>(
        _ variables: [String: String] = [:], _ body: (TestServer) async throws -> Value
    ) async throws -> Value {
        let server = try TestServer(
            variables.merging(["WEBIMAGE_CACHE_DIR": folder.path]) { one, _ in one }, origin: origin)
        await server.purging.restore()
        let value = try await body(server)
        await server.endpoint.service.cache.flush()
        await server.manager.drain(within: .seconds(5))
        return value
    }

    /// It was once served for the time by which the clock had been ahead, also after purges.
    @Test func aResultFromTheFutureIsMadeAnew() async throws {
        try await run { server in
            server.advance(3000)
            #expect(await server.picture("w:10").status == 200)
        }
        let cached = try await run { server in
            let answer = await server.picture("w:10")
            #expect(answer.status == 200)
            return answer.fields[.named("Cache-Status")]
        }
        #expect(cached?.contains("hit") == false, "\(cached ?? "")")
        #expect(try await run { await $0.picture("w:10").fields[.named("Cache-Status")] }?.contains("hit") == true)
    }

    /// Results, descriptions and originals of an address that is no longer allowed were once served from the caches.
    @Test(arguments: ["/_/w:10", "/_/w:11", "/_/raw:1", "/info/_"])
    func addressesThatAreNoLongerAllowedAreRefused(options: String) async throws {
        let path = "\(options)/plain/\(origin.url("/a.png"))"
        try await run { server in
            #expect(await server.get(path).status == 200)
            #expect(await server.picture("w:10").status == 200)
        }
        #expect(try await run { await $0.get(path).status } == 200)
        let refusing = ["IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES": "false"]
        #expect(try await run(refusing) { await $0.get(path).status } == 404)
        #expect(try await run { await $0.get(path).status } == 200)
    }

    /// A source that another request had loaded was once exempt from the limit.
    @Test func theLimitOnBytesHoldsForCachedSources() async throws {
        let options = ["IMGPROXY_ALLOW_SECURITY_OPTIONS": "true"]
        try await run(options) { server in
            #expect(await server.picture("w:10/msfs:100").status == 422)
            #expect(await server.picture("w:10").status == 200)
            #expect(await server.picture("w:11/msfs:100").status == 422)
            #expect(await server.picture("raw:1/msfs:100").status == 422)
            #expect(await server.picture("w:11").status == 200)
        }
        for path in ["/_/w:10", "/_/w:12", "/_/raw:1", "/info/_"] {
            let status = try await run(["IMGPROXY_MAX_SRC_FILE_SIZE": "100"]) {
                await $0.get("\(path)/plain/\(origin.url("/a.png"))").status
            }
            #expect(status == 422, "\(path)")
        }
    }

    /// A stale result was once served for a day although its redirect was no longer allowed.
    @Test func aSourceThatIsNoLongerAllowedEndsItsResults() async throws {
        origin.serve(
            "/moved.png",
            OriginResponse(status: 302, headers: [("Location", "/a.png"), ("Cache-Control", "max-age=1")]))
        func get(_ server: TestServer) async -> Int { await server.picture("w:10", "/moved.png").status }
        #expect(try await run(["IMGPROXY_ALLOWED_SOURCES": "\(origin.url("/"))"], get) == 200)
        let last = try await run(["IMGPROXY_ALLOWED_SOURCES": "\(origin.url("/moved"))"]) { server in
            server.advance(2000)
            var status = await get(server)
            // The result is renewed in the background.
            let end = ContinuousClock.now + .seconds(60)
            while status == 200, ContinuousClock.now < end {
                await Task.yield()
                status = await get(server)
            }
            return status
        }
        #expect(last == 404)
    }

    /// Such a purge was once confirmed, and forgotten at the end of the process.
    @Test func aPurgeThatCannotBeStoredIsNotConfirmed() async throws {
        let lost = try ScratchDirectory()
        let server = try TestServer(["WEBIMAGE_CACHE_DIR": lost.path], origin: origin)
        #expect(await server.picture("w:10").status == 200)
        #expect(await server.admin("/purge", #"{"all": true}"#).status == 200)
        try FileManager.default.removeItem(atPath: lost.path)
        try Data("in the way".utf8).write(to: URL(fileURLWithPath: lost.path))
        let answer = await server.admin("/purge", #"{"all": true}"#)
        #expect(answer.status == 503)
        #expect(await server.picture("w:10").fields[.named("Cache-Status")]?.contains("hit") == false)
    }

    /// Of two servers on one folder, the one that purged last once removed the purges of the other.
    @Test func purgesOfTwoServersOnOneFolderAreKept() async throws {
        try await run { one in
            try await run { two in
                _ = await one.admin("/purge", #"{"urls": ["http://a.test/a.png"]}"#)
                _ = await two.admin("/purge", #"{"urls": ["http://b.test/b.png"]}"#)
            }
        }
        let known = try await run { server in
            ["http://a.test/a.png", "http://b.test/b.png", "http://c.test/"].map { server.purging.lastPurge($0) > 0 }
        }
        #expect(known == [true, true, false])
    }
}
