import Testing
import WebImage
import WebImageCodecs
import WebImageTesting

/// Files whose orientation and other metadata come after the frames or pixels.
@Suite struct LateMetadataTests {
    private let url = "http://pictures.test/a.webp"

    /// An animated WebP of 12x6 pixels with EXIF after its frames, which asks for a quarter turn.
    private static func file() async throws -> [UInt8] {
        let gif = try await Image(data: BlinkingGIF.file(width: 12, height: 6, frames: 3))
        var bytes = try gif.encoded(as: .webp, EncodeOptions(isLossless: true))
        let exif: [UInt8] =
            [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]
        try #require(bytes[12..<16].elementsEqual("VP8X".utf8))
        bytes[20] |= 0x08
        bytes += Array("EXIF".utf8) + [UInt8(exif.count), 0, 0, 0] + exif
        let length = bytes.count - 8
        for index in 0..<4 { bytes[4 + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
        return bytes
    }

    private func image(_ change: (inout ImageRequest) -> Void) async throws -> Image {
        let bench = TestBench()
        bench.answer(url, with: try await Self.file(), type: "image/webp")
        var request = ImageRequest(url)
        change(&request)
        return try await bench.manager.image(for: request).image
    }

    @Test func framesAreTurnedByAnOrientationBehindThem() async throws {
        let whole = PixelSize(width: 6, height: 12)
        for (target, size) in [(nil, whole), (TargetSize(width: 3), PixelSize(width: 3, height: 6))] {
            let image = try await image { $0.size = target }
            let animation = try #require(image.animation)
            #expect(image.size == size && animation.size == size && animation.frameCount == 3)
            for index in 0..<3 {
                let frame = try await animation.frame(at: index)
                #expect(frame.size == size && frame.info.orientation == .up)
            }
            // The written file has the displayed size and no orientation to apply.
            let again = try await Image(data: image.encoded(as: .webp))
            #expect(again.size == size && again.animation?.size == size)
        }
    }

    @Test func framesCarryTheMetadataThatComesBehindThem() async throws {
        let image = try await image { _ in }
        let frame = try await #require(image.animation).frame(at: 1)
        #expect(frame.info.metadata.exif != nil)
        let written = try image.encoded(as: .webp, EncodeOptions(keepsMetadata: true))
        #expect(written.indices.contains { written[$0...].starts(with: "EXIF".utf8) })
        #expect(try await Image(data: written).info.metadata.exif != nil)
    }

    /// A PNG with its orientation after its pixels, far from the beginning of the file.
    private static func turnedPNG() throws -> [UInt8] {
        let early = try SamplePicture(
            "card", "", width: 1200, height: 800, as: .png, orientation: .right,
            drawing: { size throws(WebImageError) in try SamplePictures.testCard(size) }
        ).encoded()
        return try #require(LoadStormTests.movingOrientationToTheEnd(of: early))
    }

    @Test(arguments: [DecoderIsolation.none, .all])
    func detailsOfDataTellMetadataAtItsEnd(_ isolation: DecoderIsolation) async throws {
        let bench = TestBench { $0.isolation = isolation }
        defer { bench.manager.shutDown() }
        let bytes = try Self.turnedPNG()
        let header = try await bench.manager.details(for: ImageRequest(data: bytes, name: "card")).header
        #expect(header.orientation == .right && header.displaySize == PixelSize(width: 1200, height: 800))
        #expect(header.metadata.exif != nil)
        let image = try await bench.manager.image(for: ImageRequest(data: bytes, name: "card")).image
        #expect(image.size == header.displaySize)
        // A file that is cut after its header still has a valid header.
        let cut = try await bench.manager.details(
            for: ImageRequest(data: Array(bytes.prefix(bytes.count / 2)), name: "half"))
        #expect(cut.header.orientation == .up && cut.header.size == header.size)
    }

    /// The file is read in pieces. How many had been read when the header was known, and so the answer, was once left
    /// to chance.
    @Test func detailsOfAFileTellMetadataAtItsEnd() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/card.png"
        let bytes = try Self.turnedPNG()
        let last = bytes.count - 12
        let space = PNGChunks.chunk("teSt", [UInt8](repeating: 0, count: 1 << 20))
        let late = try #require(PNGChunks.all(in: bytes).first { $0.name == "eXIf" })
        let start = last - late.data.count - 12
        try FileTree.write(Array(bytes[..<start] + space + space + bytes[start...]), to: path)
        let bench = TestBench()
        for _ in 0..<20 {
            let header = try await bench.manager.details(for: ImageRequest(path: path)).header
            #expect(header.orientation == .right && header.metadata.exif != nil)
        }
    }

    @Test func detailsDoNotWaitForMetadataAtTheEnd() async throws {
        let bench = TestBench()
        let bytes = try Self.turnedPNG()
        bench.transport.answer(url, .bytes(bytes, contentType: "image/png").held(by: Gate(), after: bytes.count / 2))
        let details = try await bench.manager.details(for: ImageRequest(url))
        #expect(details.header.size == PixelSize(width: 800, height: 1200))
        await bench.transport.waitForCancels(url, 1)
    }

    /// The image server once asked the origin twice, because the first details lacked the late metadata.
    @Test func detailsWaitForMetadataAtTheEndWhereAsked() async throws {
        let bench = TestBench()
        let bytes = try Self.turnedPNG()
        let answer = FakeAnswer.bytes(bytes, contentType: "image/png").inPieces(of: 1000)
        bench.transport.answer(url, answer)
        let header = try await bench.manager.details(for: ImageRequest(url), waitsForEXIF: true).header
        #expect(header.orientation == .right && header.metadata.exif != nil)
        #expect(bench.transport.requests.count == 1)
        // A transfer that breaks off before the metadata is an error.
        let other = "http://pictures.test/b.png"
        bench.transport.answer(other, answer.failing(after: bytes.count - 100))
        let error = await #expect(throws: WebImageError.self) {
            try await bench.manager.details(for: ImageRequest(other), waitsForEXIF: true)
        }
        #expect(error?.code == .connectionLost)
    }

    @Test func anOrientationThatIsKeptIsWritten() async throws {
        let image = try await image { $0.decoding.appliesOrientation = false }
        #expect(image.size == PixelSize(width: 12, height: 6) && image.info.orientation == .right)
        #expect(try await #require(image.animation).frame(at: 2).info.orientation == .right)
        for format in [ImageFormat.webp, .gif, .apng] {
            let again = try await Image(data: image.encoded(as: format))
            #expect(again.size == PixelSize(width: 6, height: 12) && again.animation?.frameCount == 3)
        }
    }
}
