import HTTPTypes
import Testing
import WebImageTesting

@testable import ServerHTTP

/// Sources with users, passwords, and other spellings than those in which the library requests them.
@Suite struct SourceFormTests {
    @Test func sourcesAreAllowedHoweverTheyAreWritten() async throws {
        let server = try TestServer([
            "IMGPROXY_ALLOWED_SOURCES": "http://me:pw@LOCALHOST:*/my files/,http://127.0.0.1:*/r"
        ])
        try server.serve("/my%20files/a.png")
        let port = server.origin.port
        #expect(await server.get("/_/w:1/plain/http://me:pw%40LOCALHOST:\(port)/my%20files/a.png").status == 200)
        #expect(await server.get("/_/w:1/plain/http://LOCALHOST:\(port)/my%20files/a.png").status == 404)
        server.origin.serve("/r", OriginResponse(status: 302, headers: [("Location", "/other/a.png")]))
        #expect(await server.picture("w:1", "/r").text == "Invalid source URL")
    }

    /// As without user and password in the URL.
    @Test func aWrongPasswordInTheSourceIsPassedOn() async throws {
        let server = try TestServer()
        server.origin.serve(
            "/a.png", OriginResponse(status: 401, headers: [("WWW-Authenticate", "Basic realm=\"x\"")]))
        let answer = await server.get("/_/w:1/plain/http://me:pw%40127.0.0.1:\(server.origin.port)/a.png")
        #expect(answer.status == 401 && answer.text == "Source is unreachable")
    }
}
