import HTTPTypes
import ServerImages
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

/// Orientation tags, pictures that a format cannot hold, and the sizes that answers state.
@Suite struct AnswerOrientationTests {
    @Test func theSizeOfTheOriginIsTheUprightSize() async throws {
        let server = try TestServer(["IMGPROXY_ENABLE_DEBUG_HEADERS": "1"])
        let turned = try SamplePicture(
            "turned", "", width: 100, height: 200, as: .jpeg, orientation: .right,
            drawing: { size throws(WebImageError) in try SamplePictures.sunset(size) }
        ).encoded()
        server.origin.serve("/a.png", OriginResponse(body: turned))
        let fields = await server.picture("w:50").fields
        #expect(fields[.named("X-Origin-Width")] == "100" && fields[.named("X-Origin-Height")] == "200")
        // The source's size is stated as it is shown, also if the URL does not apply the tag.
        let ignored = await server.picture("w:50/ar:0").fields
        #expect(ignored[.named("X-Origin-Width")] == "100" && ignored[.named("X-Origin-Height")] == "200")
        #expect(ignored[.named("X-Result-Width")] == "50" && ignored[.named("X-Result-Height")] == "25")
    }

    /// A tag that is neither applied nor stripped stays, and the stated size is that of the picture as it is shown.
    /// Turning the picture removes the tag, as in imgproxy.
    @Test(arguments: [
        ("f:jpg", "/a.jpg", Orientation.right, "25x50"), ("f:png", "/a.png", .right, "25x50"),
        ("f:webp", "/a.webp", .right, "25x50"), ("f:tiff", "/a.jpg", .right, "25x50"),
        ("f:bmp", "/a.jpg", .up, "50x25"), ("f:avif", "/a.jpg", .up, "50x25"),
        ("f:png/rot:180", "/a.jpg", .up, "50x25"),
        ("f:png/fl:1", "/a.jpg", .up, "50x25"), ("f:png/sm:1", "/a.jpg", .up, "50x25"),
        ("f:png/sm:1/kcr:1", "/a.jpg", .up, "50x25"), ("f:png/ar:1", "/a.jpg", .up, "50x100"),
    ]) func anOrientationTagThatIsLeftAloneStays(
        options: String, source: String, orientation: Orientation, size: String
    ) async throws {
        let server = try TestServer(["IMGPROXY_ENABLE_DEBUG_HEADERS": "1", "IMGPROXY_STRIP_METADATA": "0"])
        let format: ImageFormat = source.hasSuffix("jpg") ? .jpeg : source.hasSuffix("png") ? .png : .webp
        let picture = try SamplePictures.sunset(PixelSize(width: 200, height: 100)).treated(as: .right)
        server.origin.serve(source, OriginResponse(body: try picture.encoded(as: format, EncodeOptions())))
        let answer = await server.picture("w:50/ar:0/\(options)", source)
        let result = try #require(try await Image(data: answer.bytes).info.header, "\(answer.text)")
        #expect(result.orientation == orientation)
        #expect("\(result.displaySize)" == size)
        let fields = answer.fields
        #expect(fields[.named("X-Origin-Width")] == "100" && fields[.named("X-Origin-Height")] == "200")
        let (width, height) = (fields[.named("X-Result-Width")] ?? "", fields[.named("X-Result-Height")] ?? "")
        #expect("\(width)x\(height)" == size)
    }

    /// In an AVIF the orientation is a property of the picture, not a tag: imgproxy's decoder returns the picture
    /// upright.
    @Test func theOrientationOfAnAVIFIsNoTag() async throws {
        let server = try TestServer(["IMGPROXY_STRIP_METADATA": "0"])
        let picture = try SamplePictures.sunset(PixelSize(width: 200, height: 100)).treated(as: .right)
        server.origin.serve("/a.avif", OriginResponse(body: try picture.encoded(as: .avif, EncodeOptions())))
        let turned = try await server.picture("w:50/f:png", "/a.avif").image()
        let asked = try await server.picture("w:50/ar:0/f:png", "/a.avif").image()
        #expect(asked.size == PixelSize(width: 50, height: 100) && asked.info.header?.orientation == .up)
        #expect(try #require(PixelComparison(asked, turned)).differingPixels == 0)
    }

    @Test func aFormatsLimitIsInTheSizeOfTheResult() async throws {
        let server = try TestServer(["IMGPROXY_ENABLE_DEBUG_HEADERS": "1"])
        try server.serve()
        let answer = await server.picture("w:300/el:1/f:ico")
        #expect(try await answer.image().size == PixelSize(width: 256, height: 192))
        let fields = answer.fields
        #expect(fields[.named("X-Result-Width")] == "256" && fields[.named("X-Result-Height")] == "192")
    }

    /// AVIF cannot hold sides under 16 pixels. The format that takes its place depends on whether the picture has
    /// transparent pixels.
    @Test(arguments: [
        ("w:10", "jpeg"), ("w:10/pd:1", "png"), ("w:10/pd:1/bg:fff", "jpeg"), ("s:10:12/exar:1", "png"),
        ("s:10:12/ex:1", "png"), ("rs:fill:10:12/ex:1", "jpeg"),
    ]) func aPictureTooSmallForAVIFComesInAnotherFormat(options: String, format: String) async throws {
        let server = try TestServer()
        try server.serve("/a.jpg", as: .jpeg)
        let small = await server.picture(options + "/f:avif", "/a.jpg")
        #expect(small.fields[.contentType] == "image/\(format)", "\(small.text)")
    }
}
