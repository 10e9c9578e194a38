import Foundation
import HTTPTypes
import ServerGrammar
import ServerImages
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

@Suite struct LocalFilesTests {
    /// A folder with a picture, a sibling folder with another picture, and links.
    private final class Files {
        let all = FileManager.default.temporaryDirectory.appending(path: "local-\(UUID().uuidString)")
        var root: URL { all.appending(path: "root") }

        init() throws {
            let manager = FileManager.default
            for name in ["root/in side", "secret"] {
                try manager.createDirectory(at: all.appending(path: name), withIntermediateDirectories: true)
            }
            let picture = Data(try TestServer.bytes(PixelSize(width: 64, height: 48), as: .png))
            for name in ["root/a.png", "root/a#%41.png", "root/in side/b.png", "secret/s.png"] {
                try picture.write(to: all.appending(path: name))
            }
            func link(_ name: String, _ target: String) throws {
                try manager.createSymbolicLink(atPath: root.appending(path: name).path, withDestinationPath: target)
            }
            try link("inner.png", "in side/b.png")
            try link("folder", "in side")
            try link("out.png", "../secret/s.png")
            try link("outer", "../secret")
            try link("absolute.png", all.appending(path: "secret/s.png").path)
            try link("loop", "loop")
        }

        deinit { try? FileManager.default.removeItem(at: all) }
    }

    private func server(_ files: Files, _ more: [String: String] = [:]) throws -> TestServer {
        try TestServer(["IMGPROXY_LOCAL_FILESYSTEM_ROOT": files.root.path].merging(more) { $1 })
    }

    @Test(arguments: [
        "local:///a.png", "local:///in%20side/b.png", "local:///./in%20side/../a.png", "local:///inner.png",
        "local:///folder/b.png", "local:///a.png%3Fversion=2", "local:///nowhere/../a.png", "LOCAL:///a.png",
        "local:///a%23%2541.png",
    ]) func filesOfTheFolderAreSources(_ source: String) async throws {
        let files = try Files()
        let answer = await (try server(files)).get("/_/w:16/plain/\(source)")
        #expect(answer.status == 200, "\(answer.text.prefix(200))")
        #expect(try await answer.image().size == PixelSize(width: 16, height: 12))
    }

    @Test(arguments: [
        "local:///nothing.png", "local:///../secret/s.png", "local:///in%20side/../../secret/s.png",
        "local:///in%2520side/b.png", "local:///a.png%23x",
        "local:///out.png",
        "local:///outer/s.png", "local:///absolute.png", "local:///loop", "local:///in%20side", "local:///",
        "local://host/a.png", "local:///%25E0", "local:///a.png%2500.jpg", "local:///..%252fsecret/s.png",
        "local:///a.png/", "local:///" + String(repeating: "a", count: 300),
    ]) func missingFilesAndThoseOutsideTheFolderAreNotFound(_ source: String) async throws {
        let files = try Files()
        let answer = await (try server(files)).get("/_/w:16/plain/\(source)")
        #expect(answer.status == 404, "\(source)")
        #expect(!answer.text.contains(files.root.path))
    }

    /// The bytes of the folder's name were once counted as characters, and a longer name stood for a shorter one.
    @Test(arguments: ["Fotos-\u{e4}", "Fotos-a\u{308}"]) func aFolderMayHaveAnyName(name: String) async throws {
        let files = try Files()
        let root = files.all.appending(path: name)
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        let sizes = [("xa.png", 64), ("a.png", 32), ("\u{301}b.png", 16), ("b.png", 8)]
        for (name, side) in sizes {
            let picture = try TestServer.bytes(PixelSize(width: side, height: side), as: .png)
            try Data(picture).write(to: root.appending(path: name))
        }
        let server = try TestServer(["IMGPROXY_LOCAL_FILESYSTEM_ROOT": root.path])
        for (name, side) in sizes {
            let answer = await server.get("/_/f:png/plain/local:///" + PercentEncoding.encode(name))
            #expect(try await answer.image().size == PixelSize(width: side, height: side), "\(name)")
        }
    }

    /// Swift's strings compare both names as equal.
    @Test func aSiblingFolderWithAnEquivalentNameIsOutside() async throws {
        let files = try Files()
        let names = ["caf\u{e9}", "cafe\u{301}"].map { files.all.appending(path: $0) }
        for name in names { try FileManager.default.createDirectory(at: name, withIntermediateDirectories: true) }
        let picture = Data(try TestServer.bytes(PixelSize(width: 8, height: 8), as: .png))
        try picture.write(to: names[1].appending(path: "s.png"))
        try FileManager.default.createSymbolicLink(
            atPath: names[0].appending(path: "a.png").path, withDestinationPath: names[1].appending(path: "s.png").path)
        let server = try TestServer(["IMGPROXY_LOCAL_FILESYSTEM_ROOT": names[0].path])
        #expect(await server.get("/_/w:16/plain/local:///a.png").status == 404)
    }

    @Test func withoutAFolderLocalSourcesAreRefused() async throws {
        let answer = await (try TestServer()).get("/_/w:16/plain/local:///etc/hostname")
        #expect(answer.status == 404 && answer.text == "Source is unreachable")
    }

    @Test func allowedSourcesRestrictLocalFiles() async throws {
        let files = try Files()
        let server = try server(files, ["IMGPROXY_ALLOWED_SOURCES": "local:///in side/"])
        #expect(await server.get("/_/w:16/plain/local:///in%20side/b.png").status == 200)
        for path in ["a.png", "in%20side/../a.png", "in%20side/%252e%252e/a.png", "in%20side/x%23/../../a.png"] {
            #expect(await server.get("/_/w:16/plain/local:///\(path)").status == 404)
        }
    }

    /// If a disk fails or no file descriptor is left, cached results stay.
    @Test func anUnreadableFileDoesNotCountAsGone() {
        func refusal(_ code: WebImageError.Code) -> RequestRefusal {
            RequestRefusal(WebImageError(code, ""), source: "local:///a.png")
        }
        #expect(refusal(.cannotRead).isSourceDown && refusal(.cannotRead).status == 404)
        #expect(refusal(.fileNotFound).fault == .gone)
    }

    /// The result of a deleted file is served at most once more. That its folder cannot be reached is no reason to
    /// serve it.
    @Test func aFileThatIsGoneIsServedNoMore() async throws {
        let files = try Files()
        let server = try server(files, ["WEBIMAGE_SOURCE_TTL": "60"])
        _ = await server.get("/_/w:16/plain/local:///a.png")
        try FileManager.default.removeItem(at: files.root.appending(path: "a.png"))
        server.advance(61)
        #expect(await server.get("/_/w:16/plain/local:///a.png").fields[.cacheStatus] == "webimage; hit; detail=stale")
        while await server.get("/_/w:16/plain/local:///a.png").status == 200 { await Task.yield() }
        #expect(await server.get("/_/w:16/plain/local:///a.png").status == 404)
    }

    @Test func aPipeIsRefusedWithoutWaiting() async throws {
        let files = try Files()
        #expect(mkfifo(files.root.appending(path: "pipe").path, 0o600) == 0)
        #expect(await (try server(files)).get("/_/w:16/plain/local:///pipe").status == 404)
    }

    @Test func aFileThatChangesIsSeenWhenItsTimeIsOver() async throws {
        let files = try Files()
        let server = try server(files, ["WEBIMAGE_SOURCE_TTL": "60", "WEBIMAGE_STALE_WHILE_REVALIDATE": "0"])
        let old = await server.get("/_/w:16/plain/local:///a.png")
        #expect(old.fields[.lastModified] != nil)
        try Data(try TestServer.bytes(PixelSize(width: 48, height: 64), as: .png))
            .write(to: files.root.appending(path: "a.png"))
        #expect(await server.get("/_/w:16/plain/local:///a.png").bytes == old.bytes)
        server.advance(61)
        let new = await server.get("/_/w:16/plain/local:///a.png")
        #expect(try await new.image().size == PixelSize(width: 16, height: 21))
    }

    @Test func rawServesRangesOfLocalFiles() async throws {
        let files = try Files()
        let answer = await (try server(files)).get("/_/raw:1/plain/local:///a.png", [.range: "bytes=1-3"])
        guard case .stream(let body) = answer.body else {
            Issue.record("\(answer.status)")
            return
        }
        var bytes: [UInt8] = []
        for try await piece in body.bytes { bytes += piece.bytes }
        #expect(answer.status == 206 && bytes == Array("PNG".utf8))
    }

    @Test func aBusterIsTheEarliestTimeOfAChange() async throws {
        let files = try Files()
        let server = try server(files, ["IMGPROXY_LAST_MODIFIED_BUSTER": "2099-01-01T00:00:00Z"])
        let answer = await server.get("/_/w:16/plain/local:///a.png")
        #expect(answer.fields[.lastModified] == "Thu, 01 Jan 2099 00:00:00 GMT")
        let since = await server.get(
            "/_/w:16/plain/local:///a.png", [.ifModifiedSince: "Wed, 01 Jan 2098 00:00:00 GMT"])
        #expect(since.status == 200)
    }
}
