import HTTPTypes
import ServerImages
import Testing
import WebImageTesting

@testable import ServerHTTP

@Suite struct SourceLoopTests {
    /// A source that leads back to the server would begin a request in each request.
    @Test func aRequestOfTheServerItselfIsRefused() async throws {
        let server = try TestServer()
        try server.serve()
        #expect(await server.picture("w:5").status == 200)
        let mark = try #require(server.origin.requests("/a.png").first?.header("via"))
        let path = "/_/w:6/plain/\(server.origin.url("/a.png"))"
        #expect(await server.get(path, [SourceLoop.field: "1.1 webimage-other"]).status == 200)
        // A source may be a result of this server, whose source is another.
        try server.serve("/b.png")
        let next = "/_/w:7/plain/\(server.origin.url("/b.png"))"
        #expect(await server.get(next, [SourceLoop.field: "1.1 proxy, \(mark)"]).status == 200)
        #expect(server.origin.requests("/b.png").first?.header("via") == "\(mark), \(mark)")
        let deep = "\(mark), 1.1 proxy, \(mark), \(mark)"
        #expect(await server.get(path.replacing("w:6", with: "w:8"), [SourceLoop.field: deep]).status == 508)
    }
}
