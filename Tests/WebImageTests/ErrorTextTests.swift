// All of Foundation, because many programs show its `localizedDescription` of an error.
import Foundation
import Testing
import WebImage
import WebImageCore
import WebImageSystem
import WebImageTesting

/// The texts of errors that programs show.
@Suite struct ErrorTextTests {
    /// The text was once "The operation could not be completed. (WebImageCore.WebImageError error 1.)".
    @Test func localizedDescriptionSaysWhatHappened() {
        let error = WebImageError(.badStatus, "the server answered 404", location: "http://h/a.jpg", status: 404)
        let any: any Error = error
        #expect(any.localizedDescription == "badStatus (2001): the server answered 404 [http://h/a.jpg]")
        #expect(error.localizedDescription == any.localizedDescription && "\(any)" == any.localizedDescription)
    }

    @Test func aSystemsErrorIsToldInWords() {
        let fault = FileFault("openat", "/cache/x", 28)
        #expect("\(fault)" == "openat /cache/x: No space left on device")
        let error = WebImageError(.noSpace, "the entry was not written", cause: fault)
        #expect("\(error)".hasSuffix("because: openat /cache/x: No space left on device"))
    }

    @Test func aWebAddressWithoutASchemeGetsAHint() async throws {
        let bench = TestBench()
        for text in ["www.example.test/a.jpg", "localhost:8080/a.jpg"] {
            let error = await #expect(throws: WebImageError.self) {
                try await bench.manager.image(for: ImageRequest(text))
            }
            #expect(error?.message.contains("https://") == true, "\(text)")
        }
        let path = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: "/etc/hostname") }
        #expect(path?.code == .invalidURL)
        #expect(path?.message == "the URL has no scheme; a path is given with ImageRequest(path:)")
        let file = await #expect(throws: WebImageError.self) {
            try await bench.manager.image(for: ImageRequest(path: "nowhere.jpg"))
        }
        #expect(file?.code == .fileNotFound && file?.message == "there is no such file")
    }

    @Test func requestsAndAnswersAreShort() async throws {
        let bench = TestBench()
        bench.answer("http://pictures.test/a.png", with: try Fixture.png(40, 30), type: "image/png")
        var request = ImageRequest("http://me:secret@pictures.test/a.png")
        #expect("\(request)" == "ImageRequest(http://pictures.test/a.png)")
        request.size = TargetSize(width: 20, fit: .cover)
        #expect("\(request)" == "ImageRequest(http://pictures.test/a.png, 20x cover)")
        let response = try await bench.manager.image(for: ImageRequest("http://pictures.test/a.png"))
        #expect("\(response)".hasPrefix("ImageResponse(Image(40x30, png, opaque), from network, "))
    }
}
