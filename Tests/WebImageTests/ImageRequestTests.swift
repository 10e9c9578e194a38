import Foundation
import Testing
import WebImageCore
import WebImageDownload

@testable import WebImage

/// A request as a value.
@Suite struct ImageRequestTests {
    private let url = "https://pictures.test/a.jpg"

    /// Errors are printed: the one that refuses to write a secret down once held it. A caller that guessed the URL of
    /// another caller's bytes once got their picture.
    @Test func bytesInMemoryHaveNoNameThatCanBeGuessed() {
        let own = ImageRequest(data: [1, 2, 3], name: "mine")
        #expect((0..<10_000).allSatisfy { ImageRequest("data:,\($0)").variantKey != own.variantKey })
        #expect(own.url.utf8.count > 20 && ImageRequest(data: [1, 2, 3], name: "mine").url != own.url)
    }

    @Test func namesThatDifferInBytesAreTwoFiles() {
        let (composed, decomposed) = (ImageRequest(path: "/\u{E9}.png"), ImageRequest(path: "/e\u{301}.png"))
        #expect(composed != decomposed && Set([composed, decomposed]).count == 2)
    }

    @Test func encodingErrorsAndDumpsTellNoSecret() {
        var request = ImageRequest("http://a.test/a.png")
        request.http.headers[.authorization] = "Bearer s3cret"
        let error = #expect(throws: EncodingError.self) { try JSONEncoder().encode(request) }
        #expect(error != nil && !String(describing: error).contains("s3cret"))
        var text = ""
        dump(BasicCredentials(user: "anna", password: "s3cret"), to: &text)
        #expect(!text.contains("s3cret") && !text.contains("anna"))
    }

    @Test func aSideBelowOnePixelCountsAsUnspecified() throws {
        var size = TargetSize(width: 10, height: 20)
        (size.width, size.height) = (0, -5)
        #expect(size == TargetSize())
        let json = Data(#"{"width":0,"height":7,"fit":"cover","upscale":false}"#.utf8)
        #expect(try JSONDecoder().decode(TargetSize.self, from: json) == TargetSize(height: 7, fit: .cover))
        let written = try JSONEncoder().encode(TargetSize(width: 3, upscale: true))
        #expect(try JSONDecoder().decode(TargetSize.self, from: written) == TargetSize(width: 3, upscale: true))
    }

    @Test func aChangeOfACopyLeavesTheOtherAsItIs() {
        let first = ImageRequest(url)
        let plain = first.variantKey
        var second = first
        second.size = TargetSize(width: 100)
        second.caching.key = "other"
        #expect(first.size == nil && first.variantKey == plain && first.originalKey.text == url)
        #expect(second.variantKey != plain && second.originalKey.text == "other")
    }

    /// Requests with a plain URL and default options take a shortcut to their keys. It gives the same keys as the long
    /// way.
    @Test(arguments: [
        "https://example.com/a.png?x=1", "http://example.com:8080/%C3%A4", "https://EXAMPLE.com/a#b", "no URL",
    ])
    func optionsThatWereChangedBackGiveTheSameKeys(_ url: String) {
        for size in [nil, TargetSize(width: 320, height: 7, fit: .cover, upscale: true), TargetSize(height: 1_000_000)]
        {
            let plain = ImageRequest(url, size: size)
            let touched = ImageRequest(url) {
                $0.size = size
                $0.http.headers[.accept] = "image/webp"
                $0.http.headers[.accept] = nil
                $0.decoding.page = 3
                $0.decoding.page = 0
                $0.caching.policy = .noStore
                $0.caching.policy = .cacheFirst
            }
            #expect(touched.variantKey == plain.variantKey)
            #expect(touched.originalKey == plain.originalKey)
            #expect(touched == plain)
            #expect(plain.variantKey.text.hasPrefix(plain.originalKey.text + "\u{1F}g1:2;"))
        }
    }

    @Test func keysFollowEveryChange() {
        var request = ImageRequest(url)
        var seen: Set<String> = []
        for width in 1...20 {
            request.size = TargetSize(width: width)
            #expect(seen.insert(request.variantKey.text).inserted)
            #expect(request.variantKey == ImageRequest(url, size: TargetSize(width: width)).variantKey)
        }
        request.http.headers[.accept] = "image/png"
        #expect(request.originalKey != ImageRequest(url).originalKey)
        request.http.headers = [:]
        request.size = nil
        #expect(request.variantKey == ImageRequest(url).variantKey)
    }

    /// Finished pictures are on disk under these keys (contracts, "Identity"), so the keys must not change by accident.
    @Test func theTextOfVariantKeysDoesNotChange() {
        func text(_ change: (inout ImageRequest.Options) -> Void) -> String {
            String(ImageRequest(url, change).variantKey.text.dropFirst(url.utf8.count + 1))
        }
        #expect(text { _ in } == "g1:2;")
        #expect(text { $0.size = TargetSize(width: 400, height: 30) } == "g1:2;s6:400x30;")
        #expect(
            text { $0.size = TargetSize(width: 1_234_567, fit: .cover, upscale: true) }
                == "g1:2;s9:1234567x0;f5:cover;u1:1;")
        let long = String(repeating: "é", count: 700)
        let all = text {
            $0.size = TargetSize(height: 12)
            $0.decoding.appliesOrientation = false
            $0.decoding.keepsBitDepth = true
            $0.decoding.convertsToSRGB = false
            $0.decoding.scalesInLinearLight = true
            $0.decoding.bitmapLimit = ByteCount(.max)
            $0.decoding.firstFrameOnly = true
            $0.decoding.usesEmbeddedThumbnail = true
            $0.decoding.frameLimit = .max
            $0.decoding.transformsAnimations = false
            $0.decoding.transformsVectors = false
            $0.decoding.requiresAnimation = true
            $0.decoding.page = .max
            $0.decoding.formatHint = ImageFormat(rawValue: long)
            $0.transformers = [.blur(sigma: 2), .gray()]
        }
        let most = "19:9223372036854775807;"
        #expect(
            all == "g1:2;s4:0x12;o4:keep;d2:16;c4:keep;l1:1;b\(most)11:1;31:1;2\(most)n1:0;v1:0;a1:1;p\(most)"
                + "h1400:\(long);t6:blur:2;t4:gray;")
    }

    @Test func aRequestIsMadeInOneExpression() {
        let request = ImageRequest(url) {
            $0.size = TargetSize(width: 400)
            $0.priority = .high
            $0.caching.store = []
        }
        #expect(request.size?.width == 400 && request.priority == .high && request.caching.store.isEmpty)
        #expect(request.variantKey == ImageRequest(url, size: TargetSize(width: 400)).variantKey)
    }

    @Test func aStringLiteralIsARequest() {
        let request: ImageRequest = "https://pictures.test/a.jpg"
        #expect(request.variantKey == ImageRequest(url).variantKey)
    }

    /// Limits and timeouts are not part of keys, so applying a manager's defaults keeps the key.
    @Test func defaultsShareTheKeys() {
        let request = ImageRequest(url)
        let other = request.with(limits: .default, timeout: .seconds(3))
        #expect(other.variantKey == request.variantKey && other.timeout == .seconds(3) && request.timeout == nil)
    }

    @Test func concurrentReadersGetTheSameKeys() async {
        for number in 0..<50 {
            let request = ImageRequest("\(url)?\(number)")
            let texts = await withTaskGroup(of: String.self) { group in
                for _ in 0..<8 { group.addTask { request.variantKey.text + request.originalKey.text } }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(texts.count == 1)
        }
    }

    @Test func aPathIsAFileAndATextIsNot() throws {
        #expect(try ImageRequest(path: "/a/b c#.png").download.get().isLocal)
        #expect(throws: WebImageError.self) { try ImageRequest("/a/b.png").download.get() }
        #expect(ImageRequest(path: "/a/b.png").originalKey == ImageRequest("file:///a/b.png").originalKey)
        #expect(ImageRequest(argument: "a.png").isPath && !ImageRequest(argument: url).isPath)
        #expect(!ImageRequest(argument: " \(url)").isPath)
    }

    // MARK: - Comparing and encoding

    /// Changes each option. Only options with ``OptionChange/canBeWritten`` can be encoded.
    @Test(arguments: OptionChange.all) func eachOptionTellsRequestsApart(_ change: OptionChange) throws {
        let request = ImageRequest(url, change.change)
        let other = ImageRequest(url, change.change)
        #expect(request == other && request.hashValue == other.hashValue, "the same change")
        #expect(request != ImageRequest(url), "no change")
        #expect(Set([request, other, ImageRequest(url)]).count == 2)
        #expect(request.isPlain == (request.variantKey == request.originalKey.variant(PictureKey.plain)))
        var changed = ImageRequest(url)
        changed.options = request.options
        #expect(changed == request && changed.variantKey == request.variantKey && changed.isPlain == request.isPlain)
        guard change.canBeWritten else {
            #expect(throws: EncodingError.self) { try JSONEncoder().encode(request) }
            return
        }
        let text = try JSONEncoder().encode(request)
        let read = try JSONDecoder().decode(ImageRequest.self, from: text)
        #expect(read == request && read.variantKey == request.variantKey, "\(String(decoding: text, as: UTF8.self))")
    }

    /// Fails if an option was added to requests but not to ``OptionChange/all``.
    @Test func theListKnowsEachOption() {
        func count(_ value: Any) -> Int { Mirror(reflecting: value).children.count }
        let options = ImageRequest.Options()
        let groups = 3
        let stored = count(options) - groups + count(options.decoding) + count(options.caching) + count(options.http)
        #expect(OptionChange.all.count == stored)
        #expect(Set(OptionChange.all.map(\.name)).count == stored)
    }

    /// Two hooks with the same name are equal, even if they do different things.
    @Test func aHookOfTheSameNameTakesThePlaceOfTheOther() throws {
        func request(_ status: Int) -> ImageRequest {
            ImageRequest(url) {
                $0.http.responseModifier = ResponseModifier(name: "same") { head in
                    ResponseHead(status: status, headers: head.headers)
                }
            }
        }
        var changed = request(200)
        changed.http = request(201).http
        let modifier = try #require(try changed.download.get().request.responseModifier)
        #expect(modifier.modify(ResponseHead(status: 500))?.status == 201 && changed == request(200))
        changed.size = TargetSize(width: 8)
        let kept = try #require(try changed.download.get().request.responseModifier)
        #expect(kept.modify(ResponseHead(status: 500))?.status == 201)
    }

    @Test func optionsAtTheirDefaultsAreNotEncoded() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let plain = try encoder.encode(ImageRequest(url))
        #expect(String(decoding: plain, as: UTF8.self) == #"{"url":"https://pictures.test/a.jpg"}"#)
        let some = try encoder.encode(
            ImageRequest(url) {
                $0.decoding.page = 2
                $0.http.headers[.accept] = "image/png"
                $0.caching.policy = .refresh
            })
        #expect(
            String(decoding: some, as: UTF8.self)
                == #"{"caching":{"policy":"refresh"},"decoding":{"page":2},"http":{"headers":[{"name":"Accept","value":"image/png"}]},"#
                + #""url":"https://pictures.test/a.jpg"}"#)
        let path = try JSONDecoder().decode(
            ImageRequest.self, from: try JSONEncoder().encode(ImageRequest(path: "/tmp/a.png")))
        #expect(path == ImageRequest(path: "/tmp/a.png") && path != ImageRequest("/tmp/a.png"))
    }

    @Test func transformsAreWrittenAsTheirText() throws {
        var request = ImageRequest(url)
        request.transformers = [.crop(.square), .blur(sigma: 2), .roundCorners(24)]
        let text = try JSONEncoder().encode(request)
        #expect(String(decoding: text, as: UTF8.self).contains(#""transformers":"crop:square|blur:2|round:24""#))
        #expect(try JSONDecoder().decode(ImageRequest.self, from: text) == request)
        // A transform that cannot be expressed as text is not encoded.
        let mark = ImageTransform.watermark(Fixture.gradient(2, 2))
        for odd in [mark, .customPixels(id: "a") { _ in }] {
            request.transformers = [.gray(), odd]
            #expect(throws: EncodingError.self) { try JSONEncoder().encode(request) }
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(ImageRequest.self, from: Data(#"{"url":"a:b","transformers":"blur:"}"#.utf8))
        }
    }

    @Test func bytesAndHalfRequestsAreRefused() {
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(ImageRequest(data: [1, 2], name: "mine")) }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(ImageRequest.self, from: Data(#"{"size":{"width":4}}"#.utf8))
        }
        #expect(throws: DecodingError.self) {
            let text = #"{"url":"a:b","http":{"addressPolicy":{"deniedAddresses":["nowhere"]}}}"#
            _ = try JSONDecoder().decode(ImageRequest.self, from: Data(text.utf8))
        }
    }
}
