import Testing
import WebImageCore
import WebImageDownload

@testable import WebImage

/// A request as a value.
@Suite struct ImageRequestTests {
    private let url = "https://pictures.test/a.jpg"

    @Test func aChangeOfACopyLeavesTheOtherAsItIs() {
        let first = ImageRequest(url)
        let plain = first.variantKey
        var second = first
        second.size = TargetSize(width: 100)
        second.caching.key = "other"
        #expect(first.size == nil && first.variantKey == plain && first.originalKey.text == url)
        #expect(second.variantKey != plain && second.originalKey.text == "other")
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

    @Test func oneIsMadeInOneExpression() {
        let request = ImageRequest(url) {
            $0.size = TargetSize(width: 400)
            $0.priority = .high
            $0.caching.store = []
        }
        #expect(request.size?.width == 400 && request.priority == .high && request.caching.store.isEmpty)
        #expect(request.variantKey == ImageRequest(url, size: TargetSize(width: 400)).variantKey)
    }

    @Test func aTextIsARequest() {
        let request: ImageRequest = "https://pictures.test/a.jpg"
        #expect(request.variantKey == ImageRequest(url).variantKey)
    }

    /// Limits are of no concern to keys: a manager's defaults share them.
    @Test func defaultsShareTheKeys() {
        let request = ImageRequest(url)
        let other = request.with(limits: .default, timeout: .seconds(3))
        #expect(other.variantKey == request.variantKey && other.timeout == .seconds(3) && request.timeout == nil)
    }

    @Test func manyAskForTheKeysOfOneAtOnce() async {
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
}
