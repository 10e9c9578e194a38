import HTTPTypes
import Testing
import WebImageCore

@testable import WebImageDownload
import WebImageTesting

@Suite struct WebURLTests {
    /// The examples of RFC 3986 section 5.4, resolved against http://a/b/c/d;p?q; nil for references that leave HTTP.
    @Test(arguments: [
        ("g:h", nil), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"),
        (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"),
        ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"),
        ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."),
        (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"), ("https://other:444/x", "https://other:444/x"),
    ])
    func referencesResolveAsInTheStandard(_ reference: String, _ expected: String?) throws {
        let base = try WebURL("http://a/b/c/d;p?q")
        #expect((try? base.resolving(reference))?.text == expected)
    }

    /// RFC 3986 sections 3.3 and 3.4: pchar, `/` and `?` stay as they are; all other bytes are encoded.
    @Test func onlyTheLiteralBytesOfTheStandardAreNotEncoded() {
        let literals = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?".utf8)
        #expect((0...UInt8.max).filter(PercentEncoding.isLiteral) == literals.sorted())
    }

    @Test(arguments: [
        ("HTTP://Example.COM", "http://example.com/"), ("http://h:80/a", "http://h/a"), ("https://h:443", "https://h/"),
        ("https://h:80/", "https://h:80/"), ("http://h:/a", "http://h/a"), ("http://h/a#b?c", "http://h/a"),
        ("http://h?q", "http://h/?q"), ("http://u:p@h/a", "http://h/a"), ("http://h/a b", "http://h/a%20b"),
        ("http://h/ä", "http://h/%C3%A4"), ("http://h/%7e%zz%", "http://h/%7e%25zz%25"),
        ("http://h/a?b=[1]|2", "http://h/a?b=%5B1%5D%7C2"), ("  http://h/a \n", "http://h/a"),
        ("http://[::1]:8080/a", "http://[::1]:8080/a"), ("http://h/a/../../b/./c", "http://h/b/c"),
        ("http://h//a//b", "http://h//a//b"), ("http://a@b@h/", "http://h/"), ("http://h/a@b:c", "http://h/a@b:c"),
    ])
    func aURLHasOneNormalForm(_ text: String, _ expected: String) throws {
        let url = try WebURL(text)
        #expect(url.text == expected)
        #expect(try WebURL(url.text).text == expected)
    }

    /// Host names in other scripts or in other forms of ASCII are normalised to one spelling, which policies and
    /// connections use.
    @Test(arguments: [
        ("http://bücher.de/a.png", "xn--bcher-kva.de"), ("http://BÜCHER.de/", "xn--bcher-kva.de"),
        ("http://bu\u{308}cher.de/", "xn--bcher-kva.de"), ("http://faß.de/", "xn--fa-hia.de"),
        ("http://例え.jp/", "xn--r8jz45g.jp"), ("http://ｌocalhost/", "localhost"),
        ("http://ｍetadata.internal/", "metadata.internal"), ("http://metadata。internal/", "metadata.internal"),
        ("http://127．0．0．1:8080/", "127.0.0.1"), ("http://１２７.0.0.1/", "127.0.0.1"),
        ("http://u:p@ﬁ.test/x", "fi.test"), ("//ｌocalhost/x", "localhost"),
        ("http://xn--bcher-kva.de/", "xn--bcher-kva.de"),
    ])
    func aHostHasOneSpelling(_ text: String, _ host: String) throws {
        let url = try WebURL("http://base.test/").resolving(text)
        #expect(url.host == host)
        #expect(try WebURL(url.text) == url || url.credentials != nil)
    }

    @Test(arguments: [
        "http://\u{AD}/", "http://a\u{2028}b/", "http://ａ／b/", "http://a\u{FF20}b/", "http://\u{FFFD}.de/",
    ])
    func aHostWithoutASpellingIsInvalid(_ text: String) {
        let error = #expect(throws: WebImageError.self) { try WebURL(text) }
        #expect(error?.code == .invalidURL)
    }

    /// A URL in normal form is recognised in one pass. A space in front sends the same text through the general parser.
    @Test func theShortWayAndTheLongOneGiveTheSame() throws {
        var random = SeededGenerator(seed: 5)
        let pieces = [
            "a", "b.c", "Z", "-", ".", "..", "/", "/", "?", "%41", "%4", "%", ":", "8", "80", "443", "0", "_", "~", "@",
            "[", "#", "ä", " ", "\u{7F}", "=", "&",
        ]
        var short = 0
        for _ in 0..<20_000 {
            let rest = (0..<Int.random(in: 1..<9, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }
            let text =
                ["http://", "https://h", "https://h/", "HTTP://h"].randomElement(using: &random)! + rest.joined()
            guard let plain = WebURL(plain: text) else { continue }
            short += 1
            let long = try WebURL(" " + text)
            #expect(plain == long, "\(text)")
            #expect(plain.host == long.host && plain.port == long.port && plain.scheme == long.scheme)
            #expect(plain.path == long.path && plain.query == long.query && plain.origin == long.origin)
            #expect(plain.hostAndPort == long.hostAndPort && plain.text == text)
        }
        #expect(short > 1000)
    }

    @Test(arguments: [
        "", "h/a", "http:", "http://", "http:///a", "http://:80/", "http://h:0/", "http://h:65536/", "http://h:8o/",
        "http://h:+8/", "http://[::1/", "http://[zz]/", "http://a b/", "http://h<x>/", "http://h/\u{0}",
        "http://h\u{7F}/",
        "http://h%41/", "http://[::1]x/",
    ])
    func invalidURLsAreRefused(_ text: String) {
        #expect(throws: WebImageError.self) { try WebURL(text) }
        #expect((try? WebURL(text)) == nil)
    }

    @Test func aSchemeThatIsNotHTTPIsNamed() {
        let error = #expect(throws: WebImageError.self) { try WebURL("ftp://h/a") }
        #expect(error?.code == .unsupportedScheme)
        #expect(error?.message.contains("ftp") == true)
    }

    @Test(arguments: [
        ("www.example.com/a.jpg", true), ("example.com/a.jpg", true), ("www.example.com", true),
        ("localhost:8080/a.jpg", true), ("example.com:443/a", true), ("127.0.0.1/a.png", true),
        ("bücher.example/ü.png", true), ("a.jpg", false), ("/www.example.com/a.jpg", false), ("./a.b/c.jpg", false),
        ("photos/a.jpg", false), ("", false), ("..", false), ("../a.jpg", false), ("a.7z/x", false),
        ("example.com:x/a", false), ("a..com/b", false), ("C:/a.jpg", false),
    ])
    func textThatLooksLikeAHostGetsAHint(_ text: String, isHost: Bool) {
        #expect((MissingScheme.hint(for: text) != nil) == isHost)
    }

    /// The error once said that files can be loaded, although a redirect had led to the file.
    @Test func aRedirectToAFileSaysWhereRedirectsMayGo() throws {
        var chain = RedirectChain(try WebURL("http://h/a"), method: .get, limit: 3)
        let error = #expect(throws: WebImageError.self) { try chain.follow("file:///etc/passwd", status: 302) }
        #expect(error?.code == .redirectRefused)
        let told = error?.description ?? ""
        #expect(told.contains("file:///etc/passwd") && told.contains("http and https only"))
        #expect(!told.contains("file and data can"))
    }

    @Test func userAndPasswordAreDecodedAndKeptApart() throws {
        let url = try WebURL("http://an%40na:s%3Aecret:x@h/")
        #expect(url.credentials == BasicCredentials(user: "an@na", password: "s:ecret:x"))
        #expect(url.text == "http://h/")
        #expect("\(BasicCredentials(user: "anna", password: "secret"))".contains("secret") == false)
        #expect(try WebURL("http://@h/").credentials == nil)
    }

    @Test(arguments: [
        ("http://user:pw@h/a?b=1#frag", "http://h/a?b=1"), ("http://h/a?token=abc&x=1", "http://h/a?token=…&x=1"),
        ("https://h/a?X-Amz-Signature=abc", "https://h/a?X-Amz-Signature=…"), ("not a url @ all", "not a url @ all"),
        ("//user@h/", "//h/"), ("https://user:pa/ss@host/x", "https://host/x"),
        ("https://user:pa?ss@host/x", "https://host/x"), ("https://user:pa#ss@host/x", "https://host/x"),
        ("  https://user:pa/s@s@host/x?sid=1", "https://host/x?sid=…"), ("https:/user:pw@host/x", "https://host/x"),
        ("http:user:pw@host", "http://host"), ("http://h/a@b:c", "http://h/a@b:c"),
        ("asset:a@2x.png", "asset:a@2x.png"),
        (
            "https://h/?jwt=a&id_token=b&client_secret=c&session=d&w=5",
            "https://h/?jwt=…&id_token=…&client_secret=…&session=…&w=5"
        ),
        (
            "https://h/?%74oken=a&access_key=b&apikey=c&sas=d&sv=e",
            "https://h/?%74oken=…&access_key=…&apikey=…&sas=…&sv=e"
        ),
        ("data:image/png;base64,AAAA", "data:image/png;base64,… (26 bytes)"),
    ])
    func messagesShowNoSecrets(_ text: String, _ expected: String) {
        #expect(redactedURL(text) == expected)
    }

    /// No text in a `Location` field crashes the program.
    @Test func anyTextIsEitherAURLOrAnError() {
        var random = SeededGenerator(seed: 11)
        let pieces = [
            "http", "https", ":", "/", "//", "?", "#", "@", "[", "]", ".", "..", "%", "%2", "ä", "\u{0}", " ", "h",
            "80",
        ]
        for _ in 0..<4000 {
            let text = (0..<Int.random(in: 0..<12, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }.joined()
            guard let url = try? WebURL(text) else { continue }
            #expect(url.path.hasPrefix("/"))
            #expect((try? WebURL(url.text))?.text == url.text, "\(text)")
            if let next = try? url.resolving(text) { #expect(next.text == url.text, "\(text)") }
        }
    }
}
