import Testing
import WebImage

@testable import ServerGrammar

@Suite struct PathTests {
    private func source(_ path: String, _ change: (inout URLGrammar) -> Void = { _ in }) throws -> String {
        var grammar = URLGrammar()
        change(&grammar)
        return try grammar.parse(target: "/_/" + path).source
    }

    @Test(arguments: [
        ("w:1/plain/http://a.b/c%20d.png", "http://a.b/c d.png"),
        ("w:1/plain/http://a.b/c%2540.png", "http://a.b/c%40.png"),
        ("plain/http://a.b/c.png@webp", "http://a.b/c.png"),
        ("plain/http:/a.b/c.png", "http://a.b/c.png"),
        ("plain/https:/a.b/c.png", "https://a.b/c.png"),
        ("plain/local:/c.png", "local:///c.png"),
        ("plain/http%3A%2F%2Fa.b/c.png", "http://a.b/c.png"),
        ("plain/http://a.b/x:/y", "http://a.b/x:/y"),
        ("aHR0cDovL2EuYi9jLnBuZw", "http://a.b/c.png"),
        ("aHR0cDovL2EuYi9jLnBuZw==", "http://a.b/c.png"),
        ("aHR0cDov/L2EuYi9/jLnBuZw.webp", "http://a.b/c.png"),
        ("w:1//aHR0cDov/L2EuYi9/jLnBuZw", "http://a.b/c.png"), ("/w:1/plain/http://a.b/c.png", "http://a.b/c.png"),
        ("plain/HTTP://a.b/C.png", "http://a.b/C.png"),
        // Bytes that are not UTF-8, as in names on older servers.
        ("plain/http://a.b/%ffc%E9%C3%A9%c3/d", "http://a.b/%FFc%E9é%C3/d"),
        ("aHR0cDovL2EuYi_p", "http://a.b/%E9"), ("plain/http://a.b/%F0%9F%98%80%F0%9F%98", "http://a.b/😀%F0%9F%98"),
    ]) func sourcesAreRead(path: String, expected: String) throws { #expect(try source(path) == expected) }

    @Test(arguments: [
        "", "/", "w:1", "w:1/", "plain/", "plain/@png", "plain/http://a.b/c@png@webp", "plain/http://a.b/%zz",
        "aHR0*", "aHR0c", "aHR0.png.webp", ".png", "fit/300/300/sm/0/aHR0",
        "plain/http://a.b/c@nope",
        "plain/http://a.b/%0d%0a", "plain/http://a.b/%00",
    ]) func brokenPathsAreInvalid(path: String) {
        let refusal = #expect(throws: RequestRefusal.self) { try source(path) }
        #expect(refusal?.status == 404)
        #expect(refusal?.text == "Invalid URL")
    }

    @Test func encryptedSourcesAreRefusedByName() {
        let refusal = #expect(throws: RequestRefusal.self) { try source("w:1/enc/aHR0cDovL2EuYi9jLnBuZw") }
        #expect(refusal?.detail == "encrypted sources (enc) are a part of imgproxy Pro")
    }

    @Test(arguments: [
        ("http://b/${1}-$2", "http://b/x-y/z"), ("$0?", "http://a/x/y?/z"), ("$1x|${1}x", "|xx/z"),
        ("$$1${3}$", "$1$/z"),
    ])
    func replacementsAreThoseOfGo(_ text: String, _ wanted: String) throws {
        let replacement = URLReplacement(pattern: WildcardPattern("http://a/*/*"), replacement: text)
        #expect(replacement.applied(to: "http://a/x/y/z") == wanted)
    }

    @Test func theExtensionWinsOverTheFormatButNotWithRaw() throws {
        let grammar = URLGrammar()
        #expect(try grammar.parse(target: "/_/f:png/plain/http://a.b/c@webp").options.format == .webp)
        #expect(try grammar.parse(target: "/_/f:png/raw:1/plain/http://a.b/c@webp").options.format == .png)
        // With `raw`, the text after the source need not name a format.
        #expect(try grammar.parse(target: "/_/raw:1/plain/http://a.b/c@d.e").source == "http://a.b/c")
        #expect(try grammar.parse(target: "/_/plain/http://a.b/c@jpg").options.format == .jpeg)
        #expect(try grammar.parse(target: "/_/plain/http://a.b/c@").options.format == nil)
    }

    @Test func theEndOfABase64SourceMayBeAFileName() throws {
        let path = "aHR0cDovL2EuYi9jLnBuZw.webp/puppy.jpg"
        #expect(try source(path) { $0.base64IncludesFilename = true } == "http://a.b/c.png")
        #expect(throws: RequestRefusal.self) { try source(path) }
    }

    @Test func prefixBaseAndReplacementsApply() throws {
        var grammar = URLGrammar()
        grammar.pathPrefix = "/img"
        grammar.baseURL = "http://a.b/"
        grammar.replacements = [
            URLReplacement(pattern: WildcardPattern("mys3-*://"), replacement: "http://a.b/${1}/")
        ]
        #expect(try grammar.parse(target: "/img/_/plain/c.png").source == "http://a.b/c.png")
        #expect(try grammar.parse(target: "/img/_/plain/http://a.b/c.png").source == "http://a.b/c.png")
        #expect(try grammar.parse(target: "/img/_/plain/mys3-pics://c.png").source == "http://a.b/pics/c.png")
        #expect(throws: RequestRefusal.self) { try grammar.parse(target: "/_/plain/c.png") }
    }

    @Test(arguments: [
        ("http://a.b/", "http://a.b/c", true), ("http://a.b/", "http://a.bc/", false),
        ("http://*.b/", "http://x.b/c", true), ("http://*.b/", "http://x/y.b/c", false),
        ("http://*.b/", "http://x.b.b/c", true), ("http://a.b/*/c", "http://a.b/x/cd", true),
        ("http://a.b/*/c", "http://a.b/x/y/c", false), ("*://a.b", "https://a.b/", true), ("", "anything", true),
    ]) func starsStandForAnythingWithoutASlash(pattern: String, url: String, matches: Bool) {
        #expect(WildcardPattern(pattern).matches(url) == matches)
    }

    /// What the library requests differs from what a client and the configuration write.
    @Test(arguments: [
        ("https://user:p%40w@cdn.example.com/", "https://cdn.example.com/a", true),
        ("https://cdn.example.com:443/", "https://cdn.example.com/a", true),
        ("http://cdn.example.com:80", "http://cdn.example.com:8080/a", true),
        ("HTTP://CDN.example.com/A", "http://cdn.example.com/A", true),
        ("HTTP://CDN.example.com/A", "http://cdn.example.com/a", false),
        ("https://example.com/my files/*/über%20", "https://example.com/my%20files/x/%C3%BCber%20/a", true),
        ("http://*.example.com/", "http://evil.com/?.example.com/", false),
        ("http://example.com/", "http://example.com.evil/", false), ("s3://A b/", "s3://A b/c", true),
    ]) func requestsAreComparedInNormalForm(pattern: String, url: String, allows: Bool) {
        var grammar = URLGrammar()
        grammar.allowedSources = [WildcardPattern(pattern)]
        #expect(grammar.allows(request: url) == allows)
    }

    @Test func aLongPatternOfStarsIsNoBomb() {
        let pattern = WildcardPattern("http://" + String(repeating: "*a", count: 200) + "b")
        #expect(!pattern.matches("http://" + String(repeating: "a", count: 1000)))
    }

    @Test func anotherSeparatorIsTaken() throws {
        var grammar = URLGrammar()
        grammar.argumentsSeparator = "__"
        let parsed = try grammar.parse(target: "/_/rs__fill__30__40/plain/http://a.b/c")
        #expect(parsed.options.geometry.width == 30)
        #expect(parsed.options.geometry.resizing == .fill)
    }
}
