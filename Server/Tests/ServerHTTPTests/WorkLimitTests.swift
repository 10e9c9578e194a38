import Foundation
import ServerGrammar
import Testing
import WebImage
import WebImageTesting

@testable import ServerHTTP

/// Limits on the work for one picture after its source has been read.
@Suite struct WorkLimitTests {
    /// An encoder that does not finish until it is released at the end of the test.
    private final class HeldEncoder: ImageCoder {
        private let gate = DispatchSemaphore(value: 0)

        let decodableFormats: Set<ImageFormat> = []
        let encodableFormats: Set<ImageFormat> = [.bmp]

        func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder { throw WebImageError(.unsupportedFeature, "it only writes") }

        func encode(
            _ image: Image, as format: ImageFormat, _ options: EncodeOptions
        ) throws(WebImageError) -> [UInt8] {
            gate.wait()
            return []
        }

        func release() { gate.signal() }
    }

    /// The deadline of a request once ended with its load, so that encoding a large JPEG XL or WebP had no limit.
    @Test func encodingIsAPartOfTheTimeOfARequest() async throws {
        let (encoder, coders) = (HeldEncoder(), CoderRegistry())
        coders.register(encoder)
        defer { encoder.release() }
        let server = try TestServer(
            ["IMGPROXY_TIMEOUT": "1", "IMGPROXY_DEVELOPMENT_ERRORS_MODE": "1"], coders: coders)
        try server.serve()
        let answer = await server.picture("f:bmp")
        #expect(answer.status == 503)
        #expect(answer.text.hasPrefix("Timeout") && answer.text.contains("IMGPROXY_TIMEOUT"), "\(answer.text)")
        #expect(await server.picture("f:png").status == 200)
    }

    /// An icon with two entries that are the same PNG.
    private static func icon() throws -> [UInt8] {
        let picture = try TestServer.bytes(PixelSize(width: 16, height: 16), as: .png)
        func word(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        let entry = [16, 16, 0, 0, 1, 0, 32, 0] + word(picture.count, 4) + word(6 + 2 * 16, 4)
        return [0, 0, 1, 0, 2, 0] + entry + entry + picture
    }

    /// An icon's entries were once counted as frames, so that a server without animations refused icons.
    @Test(arguments: ["IMGPROXY_MAX_ANIMATION_FRAMES=1", "maf:1"]) func anIconMayHaveMoreEntriesThanFrames(
        _ limit: String
    ) async throws {
        let isVariable = limit.hasPrefix("IMGPROXY")
        let server = try TestServer(
            isVariable ? ["IMGPROXY_MAX_ANIMATION_FRAMES": "1"] : ["IMGPROXY_ALLOW_SECURITY_OPTIONS": "1"])
        server.origin.serve("/a.ico", OriginResponse(body: try Self.icon()))
        let answer = await server.picture(isVariable ? "f:png" : "f:png/" + limit, "/a.ico")
        #expect(answer.status == 200, "\(answer.text)")
    }

    /// Ten frames of 64 by 48 pixels were once enlarged to ten of 35 megapixels, which took 9 s and 900 MB.
    @Test func anAnimationIsNotEnlargedBeyondTheLimitOfAllItsFrames() async throws {
        let server = try TestServer(["IMGPROXY_MAX_SRC_RESOLUTION": "1", "IMGPROXY_DEVELOPMENT_ERRORS_MODE": "1"])
        server.origin.serve("/a.gif", OriginResponse(body: SmallGIF.bytes(width: 64, height: 48)))
        #expect(await server.picture("rs:force:500:400/el:1", "/a.gif").status == 200)
        let answer = await server.picture("rs:force:1000:500/el:1", "/a.gif")
        #expect(answer.status == 422 && answer.text.contains("4 frames of 1000x500"), "\(answer.text)")
        #expect(answer.text.contains("raise IMGPROXY_MAX_SRC_RESOLUTION to allow it"))
        #expect(await server.picture("rs:force:1000:500/el:1/f:png", "/a.gif").status == 200)
    }

    @Test func squaresMayBeLargerThanEveryPicture() async throws {
        let server = try TestServer()
        try server.serve()
        #expect(await server.picture("pix:1000000000").status == 200)
    }

    /// Brackets or quotes in a source's name could once add further links to the field.
    @Test func theCanonicalLinkEscapesTheNameOfTheSource() async throws {
        let server = try TestServer(
            ["IMGPROXY_SET_CANONICAL_HEADER": "1"],
            fallback: try TestServer.bytes(PixelSize(width: 8, height: 8), as: .png))
        let answer = await server.get(
            "/_/w:4/plain/" + PercentEncoding.encode("http://127.0.0.1:1/é%41>, <b>; rel=\"preload\"?a=1&b={2}"))
        let link = answer.fields[.init("Link")!]
        #expect(
            link == "<http://127.0.0.1:1/%C3%A9%41%3E,%20%3Cb%3E;%20rel=%22preload%22?a=1&b=%7B2%7D>; rel=\"canonical\""
        )
    }
}
