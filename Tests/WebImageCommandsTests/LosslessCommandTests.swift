import Testing
import WebImage
import WebImageCore
import WebImageTesting

/// The losses that `webimage convert --lossless` avoids or refuses.
struct LosslessCommandTests {
    private static func wideColors() throws -> [UInt8] {
        let profile = try #require(ICCProfile.bytes(for: .described(ColorDescription(primaries: 12, transfer: 13))))
        return try SamplePictures.testCard(PixelSize(width: 64, height: 40)).with { $0.iccProfile = profile }
            .encoded(as: .png)
    }

    @Test(arguments: [
        ("out.png", true), ("out.apng", true), ("out.bmp", false), ("out.qoi", false), ("out.ico", false),
    ])
    func sixteenBitsStayOrAreRefused(output: String, stay: Bool) async throws {
        let bench = try CommandBench()
        let deep = try Pictures.deep()
        try bench.write(deep, to: "in.png")
        let run = try await bench.run("convert", "in.png", output, "--lossless")
        #expect(run.code == (stay ? 0 : 1))
        guard stay else {
            #expect(run.errors.contains("cannotEncode") && bench.read(output) == nil)
            return
        }
        #expect(try await Pictures.stored(bench.read(output) ?? []).pixels == Pictures.stored(deep).pixels)
    }

    @Test func theErrorNamesTheFormatsThatCanBeLossless() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "in.png")
        let run = try await bench.run("convert", "in.png", "out.jpg", "--lossless")
        #expect(run.code == 1 && run.errors.contains("jpeg cannot be lossless in this build; these can: apng, "))
        #expect(run.errors.contains("png") && run.errors.contains("webp"))
    }

    /// Pixels were once converted to sRGB, by up to 115 levels.
    @Test(arguments: ["out.png", "out.apng", "out.webp", "out.ico"])
    func coloursStayWithTheirProfile(output: String) async throws {
        let bench = try CommandBench()
        let original = try Self.wideColors()
        try bench.write(original, to: "in.png")
        #expect(try await bench.run("convert", "in.png", output, "--lossless").code == 0)
        let wanted = try await Pictures.stored(original).pixels
        #expect(try await Pictures.stored(bench.read(output) ?? []).pixels == wanted)
        #expect(try await bench.run("info", output).text.contains("ICC"))
        // An explicit `--color srgb` is obeyed.
        #expect(try await bench.run("convert", "in.png", output, "--lossless", "--color", "srgb").code == 0)
        #expect(try await Pictures.stored(bench.read(output) ?? []).pixels != wanted)
    }

    @Test func coloursBecomeSRGBWhereNoProfileCanBeWritten() async throws {
        let bench = try CommandBench()
        try bench.write(try Self.wideColors(), to: "in.png")
        #expect(try await bench.run("convert", "in.png", "srgb.png").code == 0)
        let wanted = try await Pictures.stored(bench.read("srgb.png") ?? []).pixels
        for output in ["out.bmp", "out.qoi", "out.ppm"] {
            #expect(try await bench.run("convert", "in.png", output, "--lossless").code == 0)
            #expect(try await Pictures.stored(bench.read(output) ?? []).pixels == wanted, "\(output)")
        }
    }

    /// The frames that a still does not need were once counted against the limit of frames.
    @Test func aLongAnimationBecomesAStill() async throws {
        let bench = try CommandBench()
        try bench.write(BlinkingGIF.file(width: 8, height: 6, frames: 10_001), to: "in.gif")
        for output in ["out.png", "out.jpg", "out.qoi"] {
            #expect(try await bench.run("convert", "in.gif", output).code == 0, "\(output)")
        }
        #expect(try await bench.run("fetch", "in.gif", "-o", "small.png", "--size", "4x").code == 0)
        let refused = try await bench.run("convert", "in.gif", "out.webp")
        #expect(refused.code == 1 && refused.errors.contains("limitExceeded"))
        // With `--lossless`, a still of an animation is refused.
        #expect(try await bench.run("convert", "in.gif", "out.png", "--lossless").code == 1)
    }
}
