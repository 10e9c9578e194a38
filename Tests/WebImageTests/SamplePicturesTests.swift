import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

struct SamplePicturesTests {
    /// Drawings with the average channels of each quarter: top left, top right, bottom left, bottom right.
    static let drawings: [(name: String, quarters: [[Int]], draw: SamplePicture.Drawing)] = [
        (
            "sunset", [[149, 89, 115, 255], [173, 109, 124, 255], [107, 72, 87, 255], [104, 75, 84, 255]],
            SamplePictures.sunset
        ),
        (
            "dawn", [[164, 198, 214, 255], [152, 194, 216, 255], [111, 140, 146, 255], [97, 128, 135, 255]],
            SamplePictures.dawn
        ),
        (
            "night", [[23, 45, 73, 255], [54, 76, 96, 255], [17, 38, 58, 255], [24, 43, 61, 255]], SamplePictures.night
        ),
        (
            "grey sunset", [[103, 103, 103, 255], [123, 123, 123, 255], [80, 80, 80, 255], [81, 81, 81, 255]],
            SamplePictures.graySunset
        ),
        (
            "grainy sunset", [[149, 90, 115, 255], [173, 109, 124, 255], [107, 72, 88, 255], [104, 75, 84, 255]],
            SamplePictures.grainySunset
        ),
        (
            "wheel", [[51, 73, 133, 132], [126, 44, 103, 132], [51, 133, 73, 132], [126, 103, 44, 132]],
            SamplePictures.colorWheel
        ),
        (
            "julia", [[70, 103, 157, 255], [70, 101, 150, 255], [70, 101, 150, 255], [70, 103, 157, 255]],
            SamplePictures.julia
        ),
        (
            "nebula", [[134, 72, 120, 255], [106, 74, 104, 255], [97, 50, 101, 255], [67, 46, 89, 255]],
            SamplePictures.nebula
        ),
        (
            "rosette", [[61, 69, 75, 255], [65, 68, 75, 255], [61, 67, 78, 255], [64, 65, 78, 255]],
            SamplePictures.rosette
        ),
        (
            "card", [[73, 59, 64, 255], [63, 75, 71, 255], [55, 63, 84, 255], [91, 93, 80, 255]],
            SamplePictures.testCard
        ),
        (
            "checkerboard", [[92, 103, 44, 99], [52, 79, 114, 98], [92, 103, 44, 41], [52, 79, 114, 40]],
            SamplePictures.checkerboard
        ),
        (
            "ramp", [[63, 63, 63, 255], [191, 191, 191, 255], [59, 59, 59, 255], [195, 195, 195, 255]],
            SamplePictures.grayRamp
        ),
        (
            "logo", [[51, 65, 100, 102], [51, 65, 100, 102], [40, 45, 84, 96], [40, 45, 84, 96]], SamplePictures.logo
        ),
    ]

    /// An index out of range once ended the process.
    @Test func aDrawnAnimationRefusesFramesThatItDoesNotHave() async throws {
        let frames = [Fixture.gradient(4, 4), Fixture.gradient(4, 4)]
        let animation = try #require(DrawnAnimation.image(frames, delay: .milliseconds(10)).animation)
        for index in [-1, 2] {
            #expect(animation.keptFrame(at: index) == nil)
            let error = await #expect(throws: WebImageError.self) { try await animation.frame(at: index) }
            #expect(error?.code == .unsupportedFeature)
        }
        #expect(try await animation.frame(at: 1).size.width == 4 && animation.keptFrame(at: 0) != nil)
    }

    @Test(arguments: drawings.indices)
    func aPictureIsTheSameEveryTime(index: Int) throws {
        let drawing = Self.drawings[index]
        let size = PixelSize(width: 96, height: 72)
        let (first, second) = (try drawing.draw(size), try drawing.draw(size))
        #expect(first.size == size)
        #expect(bytes(first) == bytes(second), "\(drawing.name)")
        #expect(Set(bytes(first)).count > 8, "\(drawing.name) is a plain area")
        let found = quarters(first)
        // One unit of difference is allowed, because sines differ in the last digit between C libraries.
        let isNear = zip(found.joined(), drawing.quarters.joined()).allSatisfy { abs($0 - $1) <= 1 }
        #expect(isNear && drawing.quarters.count == 4, "\(drawing.name): \(found)")
        if first.alpha == .opaque {
            #expect(stride(from: 3, to: bytes(first).count, by: 4).allSatisfy { bytes(first)[$0] == 255 })
        }
    }

    @Test func aDeepPictureUsesAll16Bits() throws {
        let image = try SamplePictures.deepGradient(PixelSize(width: 200, height: 10))
        #expect(image.layout == .rgba16)
        let reds = image.withPixels { pixels in
            (0..<200).map { pixels.load(fromByteOffset: $0 * 8, as: UInt16.self) }
        }
        #expect(Set(reds).count == 200)
        #expect(reds.contains { $0 >> 8 != $0 & 255 })
    }

    @Test func anEmptySizeIsRefused() {
        #expect(throws: WebImageError.self) { try SamplePictures.sunset(PixelSize(width: 0, height: 5)) }
    }

    @Test func theCatalogueHasEveryKindOnceUnderItsOwnName() {
        let demo = SamplePictures.demo
        #expect(demo.count >= 12)
        #expect(Set(demo.map(\.name)).count == demo.count)
        #expect(demo.allSatisfy { $0.description.utf8.count <= 20 })
        #expect(demo.contains { $0.options.progressive && $0.format == .jpeg })
        #expect(demo.contains { $0.orientation == .right })
        #expect(demo.contains { $0.displaySize.pixelCount ?? 0 >= 12_000_000 })
        #expect(demo.first { $0.name == "sunset" }?.fileName == "sunset.jpg")
    }

    @Test func theGalleryHasEveryFormatThatCanBeWrittenAndRead() throws {
        let gallery = SamplePictures.gallery()
        let formats = Set((SamplePictures.demo + gallery).map(\.format))
        let coders = CoderRegistry.standard
        #expect(formats == Set(coders.encodableFormats).intersection(coders.decodableFormats))
        #expect(formats.isSuperset(of: [.jpeg, .png, .webp, .bmp, .qoi, .pnm]))
        let names = (SamplePictures.demo + gallery).map(\.name)
        #expect(Set(names).count == names.count && gallery.allSatisfy { $0.description.utf8.count <= 20 })
        for picture in gallery {
            let image = try picture.encoded().withUnsafeBytes { try coders.decode($0).image }
            #expect(image.info.format == picture.format && image.displaySize == picture.displaySize)
        }
    }

    @Test func aNewEncodersPictureIsInTheGalleryByItself() {
        let coders = CoderRegistry([JPEGCoder(), IconWriter()])
        #expect(coders.encodableFormats == [.ico, .jpeg])
        let gallery = SamplePictures.gallery(of: coders)
        #expect(gallery.map(\.fileName) == ["sunset-ico.ico"])
        #expect(gallery.first?.displaySize == PixelSize(width: 256, height: 256))
    }

    /// A coder that claims to write icons.
    private struct IconWriter: ImageCoder {
        var decodableFormats: Set<ImageFormat> { [.ico, .cur] }
        var encodableFormats: Set<ImageFormat> { [.ico] }

        func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder {
            throw WebImageError(.unsupportedFeature, "only writes")
        }
    }

    @Test(arguments: Orientation.allCases)
    func applyingTheTagMakesThePictureUpright(orientation: Orientation) throws {
        let picture = SamplePicture(
            "card", "", width: 60, height: 40, as: .png, orientation: orientation, drawing: SamplePictures.testCard)
        let stored = try picture.drawStored()
        #expect(stored.info.orientation == orientation)
        #expect(stored.displaySize == picture.displaySize)
        // Where the corners red, green, blue, yellow of the upright picture lie in the stored one, clockwise from the
        // top left (TIFF 6.0, "Orientation").
        let corners: [Orientation: String] = [
            .up: "rgyb", .upMirrored: "grby", .down: "ybrg", .downMirrored: "bygr", .leftMirrored: "rbyg",
            .right: "gybr", .rightMirrored: "ygrb", .left: "brgy",
        ]
        let (right, bottom) = (stored.size.width - 1, stored.size.height - 1)
        let found = [(0, 0), (right, 0), (right, bottom), (0, bottom)].map { name(pixel(stored, $0, $1)) }.joined()
        #expect(found == corners[orientation])
    }

    @Test func theTagIsInTheFile() throws {
        let picture = SamplePicture(
            "card", "", width: 60, height: 40, as: .jpeg, orientation: .right, drawing: SamplePictures.testCard)
        let decoder = try JPEGCoder().makeDecoder(DecodeOptions()) { _ in DecodePlan(sink: nil) }
        _ = try picture.encoded().withUnsafeBytes { try decoder.push($0) }
        #expect(decoder.header?.orientation == .right)
        #expect(decoder.header?.size == PixelSize(width: 40, height: 60))
    }

    @Test func aContactSheetShowsEachPictureInItsPlace() throws {
        let red = try solid([255, 0, 0, 255], PixelSize(width: 500, height: 100))
        let clear = try solid([0, 0, 255, 0], PixelSize(width: 20, height: 20))
        let sheet = ContactSheet(title: "T", columns: 2, place: PixelSize(width: 100, height: 80))
        let items = [
            ContactSheet.Item(image: red, caption: ["a", "a line that is too long"]),
            ContactSheet.Item(image: clear, caption: []), ContactSheet.Item(image: nil, caption: ["gone"]),
        ]
        let image = try sheet.draw(items)
        // Margin 36, header 104, padding 14: the first place begins at (50, 154); the next is 148 to the right.
        #expect(pixel(image, 100, 194) == [255, 0, 0, 255])
        #expect(pixel(image, 100, 160) != [255, 0, 0, 255])
        let pattern = pixel(image, 248, 194)
        #expect(pattern == [0x34, 0x3A, 0x46, 255] || pattern == [0x2A, 0x2F, 0x39, 255])
        #expect(image.size.width == 2 * 36 + 2 * 128 + 20)
        #expect(try sheet.draw([]).size.height > 0)
    }

    private func quarters(_ image: Image) -> [[Int]] {
        let (halfWidth, halfHeight) = (image.size.width / 2, image.size.height / 2)
        return [(0, 0), (halfWidth, 0), (0, halfHeight), (halfWidth, halfHeight)].map { left, top in
            var sums = [0, 0, 0, 0]
            for y in top..<top + halfHeight {
                for x in left..<left + halfWidth {
                    for (channel, value) in pixel(image, x, y).enumerated() { sums[channel] += Int(value) }
                }
            }
            return sums.map { $0 / (halfWidth * halfHeight) }
        }
    }

    private func solid(_ color: [UInt8], _ size: PixelSize) throws -> Image {
        try Image(size: size) { bytes in
            for index in bytes.indices { bytes[index] = color[index % 4] }
        }
    }

    private func bytes(_ image: Image) -> [UInt8] { image.withPixels { Array($0) } }

    private func pixel(_ image: Image, _ x: Int, _ y: Int) -> [UInt8] {
        let start = (y * image.size.width + x) * 4
        return image.withPixels { Array($0[start..<start + 4]) }
    }

    private func name(_ pixel: [UInt8]) -> String {
        let colors: [[UInt8]: String] = [
            [229, 72, 77, 255]: "r", [70, 167, 88, 255]: "g", [62, 99, 221, 255]: "b", [245, 217, 10, 255]: "y",
        ]
        return colors[pixel] ?? "?"
    }
}
