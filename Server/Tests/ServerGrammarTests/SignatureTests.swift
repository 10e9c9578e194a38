import Testing
import WebImage

@testable import ServerGrammar

@Suite struct SignatureTests {
    private static let hexKey = SigningKey(
        key: bytes("943b421c9eb07c830af81030552c86009268de4e532ba2ee2eab8247c6da0881"),
        salt: bytes("520f986b998545b4785e0defbc4f3c1203f22de2374a3d53cb7a7fe9fea309c5"))
    private static let plainPath = "/rs:fit:300:300/plain/http://img.example.com/pretty/image.jpg"

    private static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
    }

    private func grammar(_ change: (inout SignatureCheck) -> Void = { _ in }) -> URLGrammar {
        var grammar = URLGrammar()
        grammar.signatures.keys = [Self.hexKey]
        change(&grammar.signatures)
        return grammar
    }

    @Test func theSpecificationsVectorsAreMade() {
        let textKey = SigningKey(key: Array("secret".utf8), salt: Array("hello".utf8))
        let path = "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
        #expect(textKey.signature(of: path) == "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8")
        #expect(Self.hexKey.signature(of: Self.plainPath) == "m3k5QADfcKPDj-SDI2AIogZbC3FlAXszuwhtWXYqavc")
        #expect(Self.hexKey.signature(of: Self.plainPath, size: 8) == "m3k5QADfcKM")
    }

    @Test func aSignedPathPassesAndAnotherOneDoesNot() throws {
        let grammar = grammar()
        let signed = grammar.signed(Self.plainPath)
        #expect(try grammar.parse(target: signed).source == "http://img.example.com/pretty/image.jpg")
        #expect(throws: RequestRefusal.self) { try grammar.parse(target: signed + "x") }
        let refusal = #expect(throws: RequestRefusal.self) { try grammar.parse(target: "/AAAA" + Self.plainPath) }
        #expect(refusal?.status == 403)
        #expect(refusal?.text == "Forbidden")
    }

    @Test func aShortSignatureHasTheSizeThatIsConfigured() throws {
        let short = grammar { $0.size = 8 }
        #expect(try short.parse(target: "/m3k5QADfcKM" + Self.plainPath).options.geometry.width == 300)
        #expect(throws: RequestRefusal.self) {
            try short.parse(target: "/m3k5QADfcKPDj-SDI2AIogZbC3FlAXszuwhtWXYqavc" + Self.plainPath)
        }
        #expect(throws: RequestRefusal.self) { try grammar().parse(target: "/m3k5QADfcKM" + Self.plainPath) }
        // A signature has no padding. An additional slash after it is not a part of the path.
        #expect(throws: RequestRefusal.self) { try short.parse(target: "/m3k5QADfcKM=" + Self.plainPath) }
        #expect(try short.parse(target: "/m3k5QADfcKM/" + Self.plainPath).options.geometry.width == 300)
    }

    @Test func anyKeyWillDoAndTrustedTextsPass() throws {
        let other = SigningKey(key: [1, 2], salt: [3])
        let both = grammar {
            $0.keys.append(other)
            $0.trusted = ["letmein"]
        }
        _ = try both.parse(target: "/" + other.signature(of: Self.plainPath) + Self.plainPath)
        _ = try both.parse(target: "/letmein" + Self.plainPath)
        #expect(throws: RequestRefusal.self) { try grammar().parse(target: "/letmein" + Self.plainPath) }
    }

    @Test func withoutKeysAnySignatureButAnOptionPasses() throws {
        let open = URLGrammar()
        _ = try open.parse(target: "/unsafe" + Self.plainPath)
        let refusal = #expect(throws: RequestRefusal.self) { try open.parse(target: Self.plainPath) }
        #expect(refusal?.status == 403)
        #expect(refusal?.text.hasPrefix("The signature appears to be a processing option.") == true)
    }

    @Test func theSignatureIsThatOfTheRepairedPath() throws {
        let grammar = grammar()
        let signature = grammar.signed(Self.plainPath).split(separator: "/")[0]
        let broken = "/\(signature)/rs%3Afit%3A300%3A300/plain/http:/img.example.com/pretty/image.jpg?x=1"
        let parsed = try grammar.parse(target: broken)
        #expect(parsed.source == "http://img.example.com/pretty/image.jpg")
        #expect(parsed.options.geometry.height == 300)
    }

    @Test func emptySegmentsCountAsMkimgproxySignsThem() throws {
        let grammar = grammar()
        let path = "/resize:fill:300:200//aHR0cDovL2EuYi9jLnBuZw"
        #expect(try grammar.parse(target: grammar.signed(path)).source == "http://a.b/c.png")
        let merged = grammar.signed(path).split(separator: "/")[0]
        #expect(throws: RequestRefusal.self) {
            try grammar.parse(target: "/\(merged)/resize:fill:300:200/aHR0cDovL2EuYi9jLnBuZw")
        }
    }
}
