import Testing

@testable import ServerGrammar

@Suite struct SourceURLTests {
    @Test(arguments: [
        ("http://evil/\u{301}@good/", "evil"), ("http://evil\u{301}/@good/", "evil\u{301}"),
        ("http://evil?\u{301}@good/", "evil"), ("http://evil#\u{301}@good/", "evil"),
        ("http://user\u{301}@\u{301}host/", "\u{301}host"), ("http://a@b@Host:80/x", "host"),
        ("http://user:secret@host", "host"), ("http://[::1]:80/", "[::1]"), ("http://[::1", "["),
        ("http://host\\@other/", "other"), ("http://\u{212A}.test/", "\u{212A}.test"), ("local:///a", ""),
        ("s3://bucket/key", "bucket"), ("http:///host", ""),
    ]) func theHostIsThatOfTheBytes(url: String, host: String) throws {
        let found = try #require(SourceURL(url)).host
        #expect(Array(found.utf8) == Array(host.utf8))
    }

    @Test(arguments: ["http:/host", "host/a", "", "http:/\u{301}/host", "data:,x"])
    func urlsWithoutAnAuthorityAreRefused(url: String) { #expect(SourceURL(url) == nil) }

    @Test(arguments: [
        ("http://h/a/b.png?c/d#e", "/a/b.png", "b.png"), ("http://h", "", ""), ("http://h/a/", "/a/", ""),
        ("http://h/a#b?c", "/a", "a"), ("http://h/a/\u{301}b", "/a/\u{301}b", "\u{301}b"), ("http://h?a/b", "", ""),
    ]) func pathAndNameEndBeforeTheQuery(url: String, path: String, name: String) throws {
        let parts = try #require(SourceURL(url))
        #expect(parts.path == path && parts.name == name)
    }

    @Test(arguments: [
        ("http://u:p@h:1/a?b@c#d", "http://h:1/a?b@c#d"), ("http://h/\u{301}@x", "http://h/\u{301}@x"),
        ("http://h?u@x", "http://h?u@x"),
    ]) func onlyTheUserIsLeftOut(url: String, other: String) throws {
        #expect(try #require(SourceURL(url)).withoutUser == other)
    }

    @Test(arguments: [
        ("http://h/a/../b", true), ("http://h/a/%2e%2E/b", true), ("http://h/a/..%2fb", true),
        ("http://h/a/%2e%2e/%zz", true), ("http://h/a/..\\b", true), ("http://h/a/..%5Cb", true),
        ("http://h/a/../\u{301}b", true), ("local:///a/b#/../c", true), ("http://h/.", true),
        ("http://h/a..b/...", false),
        ("http://h/a?b=/../c", false), ("http://h/%2e%2e%2e", false), ("http://../a", false),
    ]) func segmentsOfDotsAreFound(url: String, has: Bool) throws {
        #expect(try #require(SourceURL(url)).hasDotSegments == has)
    }
}
