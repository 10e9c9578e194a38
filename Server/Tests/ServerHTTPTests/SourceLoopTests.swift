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
        #expect(await server.get(path, [SourceLoop.field: "1.1 proxy, \(mark)"]).status == 508)
        #expect(await server.get(path, [SourceLoop.field: "1.1 webimage-other"]).status == 200)
    }
}
