import Testing
import WebImageCore

@testable import WebImageDownload
import WebImageTesting

@Suite struct DataURLTests {
    @Test(arguments: [
        ("data:,hello", "text/plain;charset=US-ASCII", "hello"), ("data:,", "text/plain;charset=US-ASCII", ""),
        ("data:image/png;base64,aGVsbG8=", "image/png", "hello"),
        ("data:image/png;base64,aGVsbG8", "image/png", "hello"),
        ("DATA:image/PNG;BASE64,aGVs bG8=", "image/png", "hello"), ("data:text/plain,a%20b%2", "text/plain", "a b%2"),
        ("data:image/svg+xml;utf8,<svg/>#frag", "image/svg+xml;utf8", "<svg/>"),
        ("data:image/png;base64,aGVs%62G8%3D", "image/png", "hello"),
        ("data:;base64,aGk=", "text/plain;charset=US-ASCII", "hi"),
        ("data:a/b;c=d;base64,-_8=", "a/b;c=d", "\u{FFFD}\u{FFFD}"),
    ])
    func aDataURLGivesItsBytes(_ text: String, _ type: String, _ body: String) throws {
        let data = try DataURL(text, limit: 1000)
        #expect(data.mediaType == type)
        #expect(String(decoding: data.bytes, as: UTF8.self) == body)
    }

    @Test(arguments: ["data:", "data:image/png;base64", "data:;base64,a", "data:;base64,aGk=aGk=", "data:;base64,a*=="])
    func aBrokenDataURLIsInvalid(_ text: String) {
        let error = #expect(throws: WebImageError.self) { try DataURL(text, limit: 1000) }
        #expect(error?.code == .invalidURL)
    }

    @Test func theLimitHoldsForTheDecodedBytes() throws {
        #expect(try DataURL("data:,%41%41%41%41", limit: 4).bytes.count == 4)
        let error = #expect(throws: WebImageError.self) { try DataURL("data:,%41%41%41%41", limit: 3) }
        #expect(error?.code == .bodyTooLarge)
        #expect(throws: WebImageError.self) { try DataURL("data:,aaaa", limit: 0) }
    }

    @Test func base64ComesBackAsItWas() {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var random = SeededGenerator(seed: 5)
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            var text: [UInt8] = []
            for start in stride(from: 0, to: length, by: 3) {
                let part = bytes[start..<min(start + 3, length)]
                let bits = part.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - part.count))
                for place in 0...part.count { text.append(alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)]) }
            }
            #expect(Base64.decoded(text) == bytes)
        }
    }

    @Test func anyBytesAreDecodedOrRefused() {
        var random = SeededGenerator(seed: 6)
        var decoded = 0
        for _ in 0..<5000 {
            let text =
                "data:;base64,"
                + String(decoding: (0..<8).map { _ in UInt8.random(in: 43...122, using: &random) }, as: UTF8.self)
            if let data = try? DataURL(text, limit: 100) {
                decoded += 1
                #expect(data.bytes.count <= 6)
            }
        }
        #expect(decoded > 0 && decoded < 5000)
    }
}
