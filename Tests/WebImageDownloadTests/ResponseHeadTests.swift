import HTTPTypes
import Testing
import WebImageCore

@testable import WebImageDownload
import WebImageTesting

@Suite struct ResponseHeadTests {
    private let lines =
        "HTTP/1.1 200 Fine: really\r\nContent-Type: image/png \r\nVARY:Accept\r\nvary: \tCookie\r\n: none\r\nno colon\r\n"
        + "X-Empty:\r\nContent-Length: 12\r\nCache-Control \t: no-store\r\n\r\n"

    private var head: ResponseHead {
        ResponseHead(status: 200, lines: Array(lines.utf8), version: .http11, remoteAddress: nil)
    }

    /// `HTTPFields` once ended the process.
    @Test func aHeadHasSoManyFieldsAtMost() {
        let lines = Array(String(repeating: "a:\n", count: 70_000).utf8)
        #expect(ResponseHead(status: 200, lines: lines, version: .http11, remoteAddress: nil).headers.count == 4096)
    }

    @Test func fieldsAreFoundWhateverTheirCase() {
        #expect(head[.contentType] == "image/png")
        #expect(head[.vary] == "Accept, Cookie")
        #expect(head[.contentLength] == "12" && head[.cacheControl] == "no-store")
        #expect(head[HTTPField.Name("X-Empty")!] == "")  // a literal that is a name
        #expect(head[.location] == nil)
    }

    /// A Latin-1 `é` once became U+FFFD, and two equal targets became one with a comma.
    @Test(
        arguments: [
            (["/caf\u{E9}"], "/caf%E9"), (["/\u{C3}\u{A9}"], "/\u{E9}"), (["/a,b"], "/a,b"), (["/a", "/a"], "/a"),
            (["/a", "/b"], "/a"), ([""], ""),
        ] as [([String], String)])
    func aLocationIsReadAsBytes(_ values: [String], _ location: String) {
        // Each character stands for one byte.
        let lines = values.map { "lOcation: \($0)\r\n" }.joined().unicodeScalars.map { UInt8($0.value) }
        let head = ResponseHead(status: 302, lines: lines, version: .http11, remoteAddress: nil)
        #expect(head.location == location && RedirectChain.location(of: head) == location)
        #expect(ResponseHead(status: 302).location == nil)
    }

    @Test func allFieldsComeInOrder() {
        let names = head.headers.map(\.name.canonicalName)
        #expect(names == ["content-type", "vary", "vary", "x-empty", "content-length", "cache-control"])
        #expect(head.headers[.vary] == "Accept, Cookie")
    }

    @Test(
        arguments: [
            ("12", 12), ("12, 12", 12), ("+12", nil), ("-1", nil), ("", nil), ("99999999999999999999", nil),
        ] as [(String, Int?)])
    func theLengthIsANumber(_ text: String, _ length: Int?) throws {
        let head = ResponseHead(
            status: 200, lines: Array("Content-Length: \(text)\r\n".utf8), version: .http11, remoteAddress: nil)
        #expect(try head.announcedLength() == length)
    }

    @Test func contradictoryContentLengthsAreAnError() throws {
        func length(_ lines: String) throws(WebImageError) -> Int? {
            try ResponseHead(status: 200, lines: Array(lines.utf8), version: .http11, remoteAddress: nil)
                .announcedLength()
        }
        let lengths = "Content-Length: 10\r\nContent-Length: 12\r\n"
        let error = #expect(throws: WebImageError.self) { try length(lengths) }
        #expect(error?.code == .protocolError)
        #expect(try length(lengths + "Transfer-Encoding: chunked\r\n") == nil)
        #expect(try length("Content-Length: 10\r\nContent-Length: 10\r\n") == 10)
    }

    @Test func anyBytesAreAHead() {
        var random = SeededGenerator(seed: 9)
        for _ in 0..<2000 {
            let bytes = (0..<40).map { _ in [13, 10, 58, 32, 65, 200, 0].randomElement(using: &random) ?? UInt8(0) }
            let head = ResponseHead(status: 200, lines: bytes, version: .http11, remoteAddress: nil)
            #expect(head.headers.count <= 40)
            #expect(head[.contentType] == nil)
        }
    }
}
