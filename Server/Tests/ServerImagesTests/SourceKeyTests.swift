import ServerConfiguration
import Testing
import WebImage

@testable import ServerImages

@Suite struct SourceKeyTests {
    /// Keys are written beside the cached originals. A digest of the user keeps those of several users apart.
    @Test func keysHoldNeitherUserNorPassword() throws {
        var settings = ServerSettings()
        settings.allowsPrivate = true
        let anna = try SourceRequest.make("http://anna:secret@pictures.test/a.jpg", settings) { _ in }
        let bert = try SourceRequest.make("http://bert:secret@pictures.test/a.jpg", settings) { _ in }
        #expect(anna.options.caching.key == "http://pictures.test/a.jpg\naccess private")
        #expect(anna.options.caching.key == bert.options.caching.key)
        #expect(anna.originalKey != bert.originalKey)
        #expect(SourceRequest.key("s3://bucket/a@b") == "s3://bucket/a@b")
    }
}
