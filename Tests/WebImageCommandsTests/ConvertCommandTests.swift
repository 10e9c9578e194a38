import Foundation
import Testing
import WebImage
import WebImageCore
import WebImageTesting

@testable import WebImageCommands

/// `webimage convert`.
struct ConvertCommandTests {
    @Test(arguments: [
        ("in.png", "out.jpg", "jpeg"), ("in.jpg", "out.png", "png"), ("in.png", "out.png", "png"),
        ("in.jpg", "out.jpeg", "jpeg"),
    ])
    func theNameOfTheOutputSaysItsFormat(input: String, output: String, format: String) async throws {
        let bench = try CommandBench()
        try bench.write(input.hasSuffix("png") ? try Pictures.png(200, 120) : try Pictures.jpeg(), to: input)
        let run = try await bench.run("convert", input, output, "--json")
        #expect(run.code == 0 && run.errors == "")
        let told = try #require(try run.objects.first)
        #expect(told.text("path") == input && told.text("output") == output && told.text("output_format") == format)
        let info = try #require(try await bench.run("info", output, "--json").objects.first)
        #expect(info.text("format") == format && info.number("width") == 200 && info.number("height") == 120)
    }

    @Test(
        arguments: [
            (["out.pnm"], "P7"), (["out.ppm"], "P6"), (["out.PGM"], "P5"), (["out.pbm"], "P4"), (["out.pam"], "P7"),
            (["out", "--format", "pgm"], "P5"), (["out.pbm", "--format", "pnm"], "P4"),
        ] as [([String], String)])
    func theNameOfTheOutputSaysWhichOfNetpbmsFormatsItHas(arguments: [String], magic: String) async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.logo(), to: "in.png")
        let run = try await bench.run(["convert", "in.png"] + arguments)
        #expect(run.code == 0 && run.errors == "")
        let bytes = try #require(bench.read(arguments[0]))
        #expect(bytes.starts(with: magic.utf8))
    }

    #if SVG
        @Test func aVectorPictureIsDrawnAtTheSizeThatIsAsked() async throws {
            let bench = try CommandBench()
            let icon = """
                <svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><rect width='4' height='8' fill='red'/></svg>
                """
            try bench.write(Array(icon.utf8), to: "icon.svg")
            let run = try await bench.run("convert", "icon.svg", "out.png", "--size", "512x512", "--json")
            let told = try #require(try run.objects.first)
            #expect(told.text("format") == "svg" && told.number("width") == 8 && told.number("output_width") == 512)
            let after = try await Pictures.stored(bench.read("out.png") ?? [])
            #expect(after.size == PixelSize(width: 512, height: 512))
            let row = Array(after.pixels[..<2048])
            #expect(row == (0..<512).flatMap { $0 < 256 ? [255, 0, 0, 255] : [0, 0, 0, 0] })
        }
    #endif

    /// Trimmed frames may be smaller than the still.
    @Test func anAnimationTellsTheSizeOfItsFrames() async throws {
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let request = ImageRequest(data: try Pictures.animatedWebP(), name: "a")
        let still = try await ImageManager(configuration: configuration).image(for: request).image
        let output = PictureReport.Output(
            path: "b.gif", format: .gif, image: still, bytes: BlinkingGIF.file(width: 40, height: 30, frames: 3))
        #expect(still.size.width == 640 && output.size == PixelSize(width: 40, height: 30))
    }

    @Test func anIconTellsTheSizeThatItHas() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.jpeg(600, 400, orientation: .up), to: "in.jpg")
        let told = try #require(try await bench.run("convert", "in.jpg", "out.ico", "--json").objects.first)
        let info = try #require(try await bench.run("info", "out.ico", "--json").objects.first)
        #expect(told.number("output_width") == 256 && told.number("output_height") == info.number("height"))
    }

    @Test func theOrientationIsAppliedAndItsTagGoes() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.jpeg(120, 200, orientation: .right), to: "in.jpg")
        #expect(try await bench.run("convert", "in.jpg", "out.jpg").code == 0)
        let info = try #require(try await bench.run("info", "out.jpg", "--json").objects.first)
        #expect(info.number("width") == 120 && info.number("height") == 200 && info.number("orientation") == 1)
    }

    @Test(arguments: [Orientation.up, .right, .downMirrored])
    func withOrientationAndColourKeptTheStoredPixelsComeOutExactly(orientation: Orientation) async throws {
        let bench = try CommandBench()
        let jpeg = try Pictures.jpeg(120, 200, orientation: orientation)
        try bench.write(jpeg, to: "in.jpg")
        let run = try await bench.run("convert", "in.jpg", "out.png", "--orientation", "keep", "--color", "keep")
        #expect(run.code == 0)
        let (before, after) = (try await Pictures.stored(jpeg), try await Pictures.stored(bench.read("out.png") ?? []))
        #expect(before.size == after.size && before.layout == after.layout)
        #expect(before.pixels == after.pixels)
        let info = try #require(try await bench.run("info", "out.png", "--json").objects.first)
        #expect(info.number("orientation") == Int(orientation.rawValue))
    }

    @Test func sixteenBitsStaySixteen() async throws {
        let bench = try CommandBench()
        let deep = try Pictures.deep()
        try bench.write(deep, to: "in.png")
        #expect(try await bench.run("convert", "in.png", "out.png", "--color", "keep").code == 0)
        let after = try await Pictures.stored(bench.read("out.png") ?? [])
        #expect(after.layout == .rgba16)
        #expect(after.pixels == (try await Pictures.stored(deep)).pixels)
    }

    @Test(arguments: [("ff0000", [255, 0, 0]), ("black", [0, 0, 0]), ("", [255, 255, 255])])
    func theBackgroundShowsThroughWhereTheOutputHasNoAlpha(color: String, expected: [Int]) async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.logo(), to: "in.png")
        let options = color.isEmpty ? [] : ["--background", color]
        #expect(try await bench.run(["convert", "in.png", "out.jpg"] + options).code == 0)
        let after = try await Pictures.stored(bench.read("out.jpg") ?? [])
        let corner = after.pixels.prefix(3).map { Int($0) }
        #expect(zip(corner, expected).allSatisfy { abs($0 - $1) < 40 }, "\(corner)")
    }

    @Test func aLosslessWebPKeepsEveryPixel() async throws {
        let bench = try CommandBench()
        let picture = try Pictures.png()
        try bench.write(picture, to: "in.png")
        #expect(try await bench.run("convert", "in.png", "out.webp", "--lossless").code == 0)
        #expect(try await bench.run("convert", "in.png", "lossy.webp").code == 0)
        let before = try await Pictures.stored(picture).pixels
        #expect(try await Pictures.stored(bench.read("out.webp") ?? []).pixels == before)
        #expect(try await Pictures.stored(bench.read("lossy.webp") ?? []).pixels != before)
    }

    #if TIFF
        /// Once only the first page was written, without a word about the others.
        @Test(arguments: [["convert", "in.tif", "out.tif"], ["fetch", "in.tif", "-o", "out.tif", "--format", "tiff"]])
        func aTIFFKeepsItsPages(_ arguments: [String]) async throws {
            let bench = try CommandBench()
            let sizes = [
                PixelSize(width: 60, height: 40), PixelSize(width: 9, height: 70), PixelSize(width: 30, height: 30),
            ]
            try bench.write(try Pictures.pages(sizes), to: "in.tif")
            #expect(try await bench.run(arguments).code == 0)
            let bytes = try #require(bench.read("out.tif"))
            for (page, size) in sizes.enumerated() {
                let (found, original) = (
                    try await Pictures.stored(bytes, page: page),
                    try await Pictures.stored(bench.read("in.tif") ?? [], page: page)
                )
                #expect(found.size == size && found.pixels == original.pixels)
            }
            let info = try #require(try await bench.run("info", "out.tif", "--json").objects.first)
            #expect(info.number("frames") == 3)

            #expect(try await bench.run(arguments + ["--size", "20x20"]).code == 0)
            let small = try #require(bench.read("out.tif"))
            #expect(try await Pictures.stored(small, page: 1).size == PixelSize(width: 3, height: 20))
            #expect(try await bench.run(arguments + ["--first-frame"]).code == 0)
            let first = try #require(try await bench.run("info", "out.tif", "--json").objects.first)
            #expect(first.number("frames") == 1)
        }

        /// The pages that could not be found were left out without a word, and pages whose pixels are missing were written
        /// as if they were whole.
        @Test func aTIFFThatIsCutInALaterPageIsNotWhole() async throws {
            let bench = try CommandBench()
            let size = PixelSize(width: 60, height: 40)
            let whole = try Pictures.pages([size, size, size])
            for part in [whole.count * 2 / 3, whole.count - 60] {
                try bench.write(Array(whole.prefix(part)), to: "in.tif")
                for arguments in [["convert", "in.tif", "out.tif"], ["fetch", "in.tif", "-o", "out.tif"]] {
                    let run = try await bench.run(arguments + ["--json"])
                    #expect(run.code == 1 && bench.read("out.tif") == nil, "\(part) \(arguments)")
                }
                let partly = try await bench.run("convert", "in.tif", "partly.tif", "--allow-partial", "--json")
                #expect(try partly.code == 1 && partly.objects.first?.text("status") == "partial")
                #expect(bench.read("partly.tif") != nil)
                #expect(try await bench.run("convert", "in.tif", "first.tif", "--first-frame").code == 0)
            }
        }

        @Test func losslessRefusesToLosePages() async throws {
            let bench = try CommandBench()
            let size = PixelSize(width: 6, height: 4)
            try bench.write(try Pictures.pages([size, size]), to: "in.tif")
            let run = try await bench.run("convert", "in.tif", "out.png", "--lossless", "--json")
            let told = try #require(try run.objects.first)
            #expect(run.code == 1 && told.text("status") == "error" && bench.read("out.png") == nil)
            #expect(try await bench.run("convert", "in.tif", "out.png", "--lossless", "--first-frame").code == 0)
            #expect(try await bench.run("convert", "in.tif", "out.png").code == 0)
        }
    #endif

    @Test func losslessRefusesToMakeAnAnimationAStill() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.animatedWebP(), to: "in.webp")
        let run = try await bench.run("convert", "in.webp", "out.png", "--lossless", "--json")
        #expect(run.code == 1 && bench.read("out.png") == nil)
        #expect(try await bench.run("convert", "in.webp", "out.png", "--lossless", "--first-frame").code == 0)
        #expect(try await bench.run("convert", "in.webp", "out.apng", "--lossless", "--size", "64x48").code == 0)
        let info = try #require(try await bench.run("info", "out.apng", "--json").objects.first)
        #expect(info.number("frames") == 3)
    }

    @Test func chromaChoosesTheSubsampling() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "in.png")
        for (chroma, factors) in [("444", 0x11), ("422", 0x21), ("420", 0x22)] as [(String, UInt8)] {
            #expect(try await bench.run("convert", "in.png", "out.jpg", "--chroma", chroma).code == 0)
            let bytes = try #require(bench.read("out.jpg"))
            // The frame header (ITU-T T.81, B.2.2).
            let place = try #require(bytes.indices.dropLast(11).first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
            #expect(bytes[place + 11] == factors)
        }
    }

    @Test func theCostOfAFileCanBeChosen() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "in.png")
        for name in ["out.png", "out.apng"] {
            var lengths: [Int] = []
            for level in ["0", "1", "9"] {
                #expect(try await bench.run("convert", "in.png", name, "--compression", level).code == 0)
                lengths.append(try #require(bench.read(name)).count)
            }
            #expect(lengths[0] > lengths[1] && lengths[1] > lengths[2], "\(lengths)")
        }
        #expect(try await bench.run("convert", "in.png", "out.jpg", "--progressive").code == 0)
        let bytes = try #require(bench.read("out.jpg"))
        #expect(bytes.indices.dropLast().contains { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC2 })
    }

    /// libavif may be installed without an encoder, and JPEG XL and AVIF may not be built in.
    @Test(arguments: ["webp", "jxl", "avif"].filter(writes))
    func theTimeForAFileCanBeChosen(format: String) async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.jpeg(320, 240), to: "in.jpg")
        var lengths: [Int] = []
        for effort in ["1", "9"] {
            #expect(try await bench.run("convert", "in.jpg", "out.\(format)", "--effort", effort).code == 0)
            lengths.append(try #require(bench.read("out.\(format)")).count)
        }
        #expect(lengths[0] > lengths[1], "\(lengths)")
    }

    private static func writes(_ name: String) -> Bool {
        ImageFormat(fileExtension: name).map { (try? CoderRegistry.standard.encoder(for: $0)) != nil } ?? false
    }

    @Test(.enabled(if: writes("avif")))
    func anAVIFSequenceMayHaveItsOwnName() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.animatedWebP(), to: "in.webp")
        for (output, more) in [("out.avifs", []), ("out", ["--format", "avif-sequence"])] {
            let run = try await bench.run(["convert", "in.webp", output, "--size", "32x", "--effort", "1"] + more)
            #expect(run.code == 0)
            let info = try #require(try await bench.run("info", output, "--json").objects.first)
            #expect(info.text("format") == "avif-sequence" && info.number("frames") == 3)
        }
        // Where no name says otherwise, a picture keeps its format.
        let sequence = try #require(bench.read("out.avifs"))
        let piped = try await bench.run(["convert", "-", "-", "--effort", "1"], input: sequence)
        #expect(piped.code == 0)
        let info = try #require(try await bench.run("info", "-", "--json", input: piped.output).objects.first)
        #expect(info.text("format") == "avif-sequence" && info.number("frames") == 3)
    }

    @Test(.enabled(if: writes("heics")))
    func aHEICSequenceHoldsEveryFrameAndAHEICTheFirst() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.animatedWebP(), to: "in.webp")
        for (output, frames) in [("out.heics", 3), ("out.heic", 1)] {
            #expect(try await bench.run("convert", "in.webp", output, "--size", "32x").code == 0)
            let info = try #require(try await bench.run("info", output, "--json").objects.first)
            #expect(info.number("frames") == frames)
        }
        #expect(try await bench.run("convert", "out.heics", "back.gif").code == 0)
    }

    @Test func standardInputIsConvertedToStandardOutput() async throws {
        let bench = try CommandBench()
        let run = try await bench.run("convert", "-", "-", "--format", "png", input: try Pictures.jpeg())
        #expect(run.code == 0 && run.errors == "")
        #expect(run.output.prefix(4) == [0x89, 0x50, 0x4E, 0x47])
        #expect((try await Pictures.stored(run.output)).size == PixelSize(width: 200, height: 120))
        // Without `--format`, the output has the input's format.
        let same = try await bench.run("convert", "-", "-", "--size", "50x", input: try Pictures.jpeg())
        #expect(same.code == 0 && same.output.prefix(2) == [0xFF, 0xD8])
    }

    @Test func sizeFormatAndQualityAreThoseOfFetch() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.jpeg(), to: "in.jpg")
        let options = ["--size", "60x60", "--fit", "cover", "--format", "jpeg", "--quality"]
        let low = try await bench.run(["convert", "in.jpg", "low", "--json"] + options + ["10"])
        let high = try await bench.run(["convert", "in.jpg", "high", "--json"] + options + ["95"])
        let bytes = try [low, high].map { try #require(try $0.objects.first?.number("output_bytes")) }
        #expect(bytes[0] < bytes[1])
        #expect(try low.objects.first?.number("output_width") == 60)
        #expect(try low.objects.first?.number("output_height") == 60)
    }

    @Test func aURLIsAnInputAndAFileIsReplacedInPlace() async throws {
        let bench = try CommandBench()
        let url = bench.serve("/a.jpg", try Pictures.jpeg())
        #expect(try await bench.run("convert", url, "a.png").code == 0)
        #expect(try await bench.run("convert", "a.png", "a.png", "--size", "20x").code == 0)
        let info = try await bench.run("info", "a.png", "--json").objects.first
        #expect(info?.number("width") == 20)
        #expect(bench.names() == ["a.png"])
    }

    @Test func aFileMayHaveANameLikeAURL() async throws {
        let bench = try CommandBench()
        for name in ["IMG:01.png", "data:x.png"] {
            try bench.write(try Pictures.png(), to: name)
            #expect(try await bench.run("info", name).code == 0)
        }
    }

    @Test func aHugeConcurrencyIsAccepted() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "in.png")
        #expect(try await bench.run("fetch", "in.png", "--concurrency", "9999999999999").code == 0)
    }

    @Test func theLimitOfPixelsCanBeMoved() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "in.png")
        let refused = try await bench.run("convert", "in.png", "out.jpg", "--max-pixels", "1")
        #expect(refused.code == 1 && refused.errors.contains("--max-pixels"))
        #expect(try await bench.run("convert", "in.png", "out.jpg", "--max-pixels", "100000000").code == 0)
    }

    @Test func aCutPictureIsWrittenOnlyWhenThatIsAllowed() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.cut(), to: "in.jpg")
        let refused = try await bench.run("convert", "in.jpg", "out.png", "--json")
        #expect(refused.code == 1 && bench.read("out.png") == nil)
        #expect(try refused.objects.first?.text("status") == "partial")
        let allowed = try await bench.run("convert", "in.jpg", "out.png", "--allow-partial", "--json")
        #expect(allowed.code == 1 && bench.read("out.png") != nil)
    }

    @Test func anOutputBehindALinkIsWrittenToItsTarget() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "in.png")
        let files = FileManager.default
        try files.createSymbolicLink(atPath: bench.path("link.png"), withDestinationPath: "new.png")
        for _ in 0..<2 {
            #expect(try await bench.run("convert", "in.png", "link.png").code == 0)
            #expect(bench.names() == ["in.png", "link.png", "new.png"])
            #expect(try files.destinationOfSymbolicLink(atPath: bench.path("link.png")) == "new.png")
        }
    }

    @Test func aFailedTransformNamesItsCause() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.png(), to: "in.png")
        let run = try await bench.run("convert", "in.png", "out.png", "--transform", "pad:1048576")
        #expect(run.code == 1 && run.errors.contains("(limitExceeded: ") && run.errors.contains("pixels"))
    }

    /// The shell may have redirected standard output to a file that other programs write to, too.
    @Test(arguments: ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
    func aPathOfStandardOutputIsWrittenTo(name: String) async throws {
        let bench = try CommandBench()
        let original = try Pictures.png()
        try bench.write(original, to: "in.png")
        let expected = try await bench.run("convert", "in.png", "-", "--format", "qoi")
        let run = try await bench.run("convert", "in.png", name, "--format", "qoi")
        #expect(run.code == 0 && run.output == expected.output && run.errors == "")
        let copy = try await bench.run("fetch", "in.png", "-o", name)
        #expect(copy.code == 0 && copy.output == original)
    }

    /// The name of a device or pipe implies no format, so the picture keeps its own, as on standard output.
    @Test func aDeviceNeedsNoFormat() async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.jpeg(), to: "in.jpg")
        let run = try await bench.run("convert", "in.jpg", "/dev/null", "--json")
        #expect(run.code == 0 && run.errors == "")
        #expect(try run.objects.first?.text("output_format") == "jpeg")
    }

    @Test(arguments: [
        (["in.jpg", "out.svg"], "formatNotBuilt"), (["in.jpg", "out"], "cannotEncode"),
        (["in.jpg", "out.jpg", "--lossless"], "cannotEncode"), (["gone.jpg", "out.png"], "fileNotFound"),
        (["in.jpg", "out.webp", "--chroma", "444"], "cannotEncode"), (["in.jpg", "."], "cannotWrite"),
        (["in.jpg", "in.jpg/out.png"], "cannotWrite"),
        (["in.jpg", "folder", "--format", "png"], "cannotWrite"),
    ])
    func aFailedConversionIsExplainedOnStandardError(arguments: [String], error: String) async throws {
        let bench = try CommandBench()
        try bench.write(try Pictures.jpeg(), to: "in.jpg")
        for folder in ["folder", "folder/in.png"] { try PosixFolder.make(bench.path(folder)) }
        let run = try await bench.run(["convert"] + arguments)
        #expect(run.code == 1 && run.text == "")
        #expect(run.errors.contains(error), "\(run.errors)")
        #expect(bench.names() == ["folder", "in.jpg"])
    }
}
