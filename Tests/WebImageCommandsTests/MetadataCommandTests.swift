import Testing
import WebImage
import WebImageCore
import WebImageTesting

/// The handling of metadata and colours by `info` and `convert`.
struct MetadataCommandTests {
    /// A JPEG with EXIF, XMP and 300 dpi, whose orientation asks for a quarter turn.
    private static func tagged() throws -> [UInt8] {
        // A big-endian TIFF block with orientation 6.
        let exif: [UInt8] = [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
        let upright = try SamplePictures.testCard(PixelSize(width: 90, height: 60))
        return try upright.with {
            $0.orientation = .right
            $0.metadata = ImageMetadata(
                exif: exif, xmp: Array("<x tiff:Orientation=\"6\"/>".utf8), density: PixelDensity(300))
        }.encoded(as: .jpeg, EncodeOptions(quality: 95, keepsMetadata: true))
    }

    private static let formats = ["jpg", "png", "webp", "avif", "jxl"].filter { name in
        ImageFormat(fileExtension: name).map { (try? CoderRegistry.standard.encoder(for: $0)) != nil } ?? false
    }

    @Test func infoTellsDensityAndTheLengthsOfMetadata() async throws {
        let bench = try CommandBench()
        try bench.write(try Self.tagged(), to: "in.jpg")
        let info = try #require(try await bench.run("info", "in.jpg", "--json").objects.first)
        #expect(info.number("dpi") == 300 && info.number("exif_bytes") == 26 && info.number("xmp_bytes") == 25)
        let line = try await bench.run("info", "in.jpg").text
        #expect(line.contains("300 dpi") && line.contains("EXIF 26 B") && line.contains("XMP 25 B"))
        try bench.write(try Pictures.png(), to: "plain.png")
        let plain = try #require(try await bench.run("info", "plain.png", "--json").objects.first)
        #expect(plain.isNull("dpi") && plain.isNull("exif_bytes") && plain.isNull("xmp_bytes"))
    }

    /// A big-endian TIFF block with the camera "X1", a date, and a place of 33.5 degrees south and 151 degrees east.
    private static let photo: [UInt8] = {
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            [UInt8(tag >> 8), UInt8(tag & 0xFF), 0, UInt8(type), 0, 0, 0, UInt8(count)] + value
        }
        func rationals(_ numbers: UInt8...) -> [UInt8] { numbers.flatMap { [0, 0, 0, $0, 0, 0, 0, 1] } }
        let (date, place) = (Array("2024:05:06 07:08:09\0".utf8), UInt8(50 + 20))
        let main =
            [0, 3] + entry(0x0110, 2, 3, Array("X1\0\0".utf8)) + entry(0x0132, 2, 20, [0, 0, 0, 50])
            + entry(0x8825, 4, 1, [0, 0, 0, place]) + [0, 0, 0, 0]
        let rest = place + 2 + 4 * 12 + 4
        let position =
            [0, 4] + entry(1, 2, 2, Array("S\0\0\0".utf8)) + entry(2, 5, 3, [0, 0, 0, rest])
            + entry(3, 2, 2, Array("E\0\0\0".utf8)) + entry(4, 5, 3, [0, 0, 0, rest + 24]) + [0, 0, 0, 0]
        return [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8] + main + date + position + rationals(33, 30, 0, 151, 0, 0)
    }()

    /// JSON once had only the length of what the line for people tells.
    @Test func infoTellsDateCameraAndPlaceInBothForms() async throws {
        let bench = try CommandBench()
        let picture = try SamplePictures.testCard(PixelSize(width: 30, height: 20)).with {
            $0.metadata = ImageMetadata(exif: Self.photo)
        }
        try bench.write(picture.encoded(as: .jpeg, EncodeOptions(keepsMetadata: true)), to: "in.jpg")
        let line = try await bench.run("info", "in.jpg").text
        #expect(line.contains("taken 2024-05-06T07:08:09, camera X1, at -33.50000 151.00000"))
        let info = try #require(try await bench.run("info", "in.jpg", "--json").objects.first)
        #expect(info.text("taken") == "2024-05-06T07:08:09" && info.text("camera") == "X1")
        #expect(info.double("latitude") == -33.5 && info.double("longitude") == 151)
        try bench.write(try Pictures.png(), to: "plain.png")
        let plain = try #require(try await bench.run("info", "plain.png", "--json").objects.first)
        #expect(["taken", "camera", "latitude", "longitude", "iptc_bytes"].allSatisfy { plain.isNull($0) })
    }

    @Test(arguments: formats, ["apply", "keep"])
    func keptMetadataAgreesWithThePixels(format: String, orientation: String) async throws {
        let bench = try CommandBench()
        try bench.write(try Self.tagged(), to: "in.jpg")
        let options = ["--metadata", "keep", "--orientation", orientation, "--quality", "95"]
        let run = try await bench.run(["convert", "in.jpg", "out.\(format)"] + options)
        #expect(run.code == 0, "\(run.errors)")
        let bytes = try #require(bench.read("out.\(format)"))
        let image = try await Self.load(bytes, turned: false)
        #expect(image.info.orientation == (orientation == "keep" ? .right : .up))
        #expect(
            image.size == PixelSize(width: orientation == "keep" ? 90 : 60, height: orientation == "keep" ? 60 : 90))
        let metadata = image.info.metadata
        // AVIF and JPEG XL have their own place for the orientation; EXIF and XMP must not repeat it.
        let isInEXIF = orientation == "keep" && !["avif", "jxl"].contains(format)
        #expect(Self.orientation(in: metadata.exif ?? []) == (isInEXIF ? 6 : 1))
        #expect(metadata.xmp == Array("<x tiff:Orientation=\"\(isInEXIF ? 6 : 1)\"/>".utf8))
        #expect(abs((metadata.density?.horizontal ?? 0) - 300) < 0.1)
        // In each case, a reader that applies the orientation sees the same picture.
        let (turned, original) = (
            try await Self.load(bytes, turned: true), try await Self.load(try Self.tagged(), turned: true)
        )
        #expect(turned.size == original.size && Self.difference(turned, original) < 6)
    }

    @Test(arguments: formats)
    func metadataIsDroppedByDefault(format: String) async throws {
        let bench = try CommandBench()
        try bench.write(try Self.tagged(), to: "in.jpg")
        #expect(try await bench.run("convert", "in.jpg", "out.\(format)").code == 0)
        let info = try #require(try await bench.run("info", "out.\(format)", "--json").objects.first)
        #expect(info.isNull("dpi") && info.isNull("exif_bytes") && info.isNull("xmp_bytes"))
        #expect(info.number("orientation") == 1)
    }

    @Test func aBitmapThatHoldsNoMetadataIsWrittenWithoutIt() async throws {
        let bench = try CommandBench()
        try bench.write(try Self.tagged(), to: "in.jpg")
        #expect(try await bench.run("convert", "in.jpg", "out.bmp", "--metadata", "keep").code == 0)
        let info = try #require(try await bench.run("info", "out.bmp", "--json").objects.first)
        #expect(info.isNull("exif_bytes") && info.number("width") == 60)
    }

    /// A PNG in PQ with the gray of reference white, 203 cd/m².
    private static func highDynamicRange() throws -> [UInt8] {
        try Image(size: PixelSize(width: 20, height: 10), layout: .rgba16, alpha: .opaque) { bytes in
            for place in stride(from: 0, to: bytes.count, by: 2) {
                bytes.storeBytes(of: place % 8 == 6 ? 65_535 : 38_056, toByteOffset: place, as: UInt16.self)
            }
        }.with { $0.colorDescription = ColorDescription(primaries: 9, transfer: 16) }.encoded(as: .png)
    }

    @Test func highDynamicRangeIsMappedToTones() async throws {
        let bench = try CommandBench()
        try bench.write(try Self.highDynamicRange(), to: "in.png")
        #expect(try await bench.run("info", "in.png").text.contains("HDR (PQ)"))
        for name in ["out.jpg", "out.png"] {
            #expect(try await bench.run("convert", "in.png", name).code == 0)
            let image = try await Self.load(try #require(bench.read(name)), turned: true)
            let level = image.withPixels { Int($0[0]) }
            #expect((226...232).contains(level) && image.info.colorDescription == nil, "\(name): \(level)")
        }
    }

    @Test func colorKeepLeavesPixelsAndTheirColourSpace() async throws {
        let bench = try CommandBench()
        let original = try Self.highDynamicRange()
        try bench.write(original, to: "in.png")
        #expect(try await bench.run("convert", "in.png", "out.png", "--color", "keep").code == 0)
        let bytes = try #require(bench.read("out.png"))
        #expect(try await Pictures.stored(bytes).pixels == Pictures.stored(original).pixels)
        #expect(try await bench.run("info", "out.png").text.contains("HDR (PQ)"))
    }

    /// The orientation in the first directory of a big-endian EXIF block, wherever that directory is.
    private static func orientation(in exif: [UInt8]) -> Int? {
        func number(_ start: Int, _ count: Int) -> Int {
            exif.dropFirst(start).prefix(count).reduce(0) { $0 << 8 | Int($1) }
        }
        let directory = number(4, 4)
        let entries = (0..<number(directory, 2)).map { directory + 2 + $0 * 12 }
        return entries.first { number($0, 2) == 0x0112 }.map { number($0 + 8, 2) }
    }

    private static func load(_ bytes: [UInt8], turned: Bool) async throws -> Image {
        var request = ImageRequest(data: bytes, name: "written")
        request.decoding.appliesOrientation = turned
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        return try await ImageManager(configuration: configuration).image(for: request).image
    }

    private static func difference(_ first: Image, _ second: Image) -> Double {
        let (one, two) = (first.withPixels { Array($0) }, second.withPixels { Array($0) })
        return Double(zip(one, two).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(max(one.count, 1))
    }
}
