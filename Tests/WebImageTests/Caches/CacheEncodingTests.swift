import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

@testable import WebImage

/// The bytes and the format that the cache writes to disk for a picture.
@Suite struct CacheEncodingTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let source: ImageFormat?
        var alpha = AlphaMode.opaque
        var layout = PixelLayout.rgba8
        let format: ImageFormat
    }

    static let cases = [
        Case(testDescription: "a drawn one", source: nil, format: .jpeg),
        Case(testDescription: "a drawn one with alpha", source: nil, alpha: .straight, format: .png),
        Case(testDescription: "a drawn one of 16 bits", source: nil, layout: .rgba16, format: .png),
        Case(testDescription: "of a JPEG", source: .jpeg, format: .jpeg),
        Case(testDescription: "of a JPEG whose corners were cut off", source: .jpeg, alpha: .straight, format: .png),
        Case(testDescription: "of a PNG", source: .png, format: .png),
        Case(testDescription: "of a WebP with alpha", source: .webp, alpha: .straight, format: .webp),
        Case(testDescription: "of a GIF, of its colours", source: .gif, format: .jpeg),
        Case(testDescription: "of what cannot be written", source: .svg, alpha: .straight, format: .png),
    ]

    @Test(arguments: cases) func aPictureIsWrittenInTheFormatThatHoldsIt(_ wanted: Case) async throws {
        let folder = try TemporaryFolder()
        let cache = CacheBench(folder.path).cache
        let size = PixelSize(width: 16, height: 8)
        let drawn = try Image(size: size, layout: wanted.layout, alpha: wanted.alpha) { bytes in
            for at in bytes.indices { bytes[at] = wanted.alpha == .opaque && at % 4 == 3 ? 255 : UInt8(at % 251) }
        }
        let image = drawn.with { info in
            info.header = wanted.source.map { ImageHeader(format: $0, size: size, hasAlpha: false, bitDepth: 8) }
        }
        #expect(try await cache.store(image, for: "a"))
        let data = try #require(try await cache.data(for: "a"))
        #expect(data.withUnsafeBytes { ImageFormat(sniffing: $0) } == wanted.format)
        cache.memoryCache.removeAll()
        #expect(try await cache.image(for: "a")?.image.size == size)
    }

    /// The expected formats, in a build with all encoders, of an opaque picture, one with alpha, and one with 16 bits.
    @Test(arguments: [
        (ImageFormat.jpeg, [ImageFormat.jpeg, .png, .png]), (.png, [.png, .png, .png]), (.apng, [.jpeg, .png, .png]),
        (.gif, [.jpeg, .png, .png]), (.webp, [.webp, .webp, .png]), (.avif, [.avif, .avif, .avif]),
        (.heic, [.heic, .heic, .png]), (.heif, [.jpeg, .png, .png]),
        (.heicSequence, [.jpeg, .png, .png]), (.jxl, [.jxl, .jxl, .jxl]),
        (.tiff, [.tiff, .tiff, .tiff]), (.bigTIFF, [.jpeg, .png, .png]), (.bmp, [.jpeg, .png, .png]),
        (.ico, [.jpeg, .png, .png]), (.qoi, [.qoi, .qoi, .png]), (.pnm, [.jpeg, .png, .png]),
    ])
    func aPictureKeepsAFormatThatHoldsIt(_ source: ImageFormat, _ wanted: [ImageFormat]) throws {
        let size = PixelSize(width: 4, height: 4)
        let coders = CoderRegistry([WritingCoder()])
        let kinds: [(PixelLayout, AlphaMode)] = [(.rgba8, .opaque), (.rgba8, .straight), (.rgba16, .opaque)]
        let chosen = try kinds.map { layout, alpha in
            let image = try Image(size: size, layout: layout, alpha: alpha) { bytes in
                for at in bytes.indices { bytes[at] = 255 }
            }
            .with { $0.header = ImageHeader(format: source, size: size, hasAlpha: false, bitDepth: 8) }
            return CacheEncoding.automatic.choice(for: image, coders).format
        }
        #expect(chosen == wanted)
    }

    /// The expected formats of an animation with 8 bits a channel and of one with 16. APNG frames always have 8 bits.
    @Test(arguments: [
        (ImageFormat.gif, [ImageFormat.webp, .webp]), (.webp, [.webp, .webp]), (.apng, [.apng, .apng]),
        (.avifSequence, [.webp, .avif]), (.heicSequence, [.webp, .avif]), (.jxl, [.jxl, .jxl]),
    ])
    func anAnimationGetsAFormatThatHoldsItsBits(_ source: ImageFormat, _ wanted: [ImageFormat]) throws {
        let chosen = try [PixelLayout.rgba8, .rgba16].map { layout in
            let frames = try (0..<2).map { _ in
                try Image(size: PixelSize(width: 4, height: 4), layout: layout, alpha: .straight) { bytes in
                    for at in bytes.indices { bytes[at] = 100 }
                }
                .with { $0.header = ImageHeader(format: source, size: PixelSize(width: 4, height: 4)) }
            }
            let image = DrawnAnimation.image(frames, delay: .milliseconds(100))
            return CacheEncoding.automatic.choice(for: image, CoderRegistry([WritingCoder()])).format
        }
        #expect(chosen == wanted)
    }

    private struct WritingCoder: ImageCoder {
        let decodableFormats: Set<ImageFormat> = []
        let encodableFormats = Set(ImageFormat.written)

        func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder { throw WebImageError(.unsupportedFeature, "it only writes") }
    }

    @Test func aStoredAnimationKeepsItsFrames() async throws {
        let folder = try TemporaryFolder()
        let url = "http://pictures.test/a.gif"
        let bench = TestBench()
        bench.answer(url, with: BlinkingGIF.file(width: 8, height: 8, frames: 3), type: "image/gif")
        let image = try await bench.manager.image(for: ImageRequest(url)).image
        let bitmaps = image.with { $0.header = nil }
        let cache = CacheBench(folder.path).cache
        try await cache.store(image, for: "gif")
        try await cache.store(bitmaps, for: "drawn")
        cache.memoryCache.removeAll()
        for (key, format) in [("gif", ImageFormat.gif), ("drawn", .webp)] {
            let found = try #require(try await cache.image(for: key))
            #expect(found.metadata?.format == format && found.image.animation?.frameCount == 3)
        }
    }

    /// Stored as a GIF, such an animation once lost its soft corners and the colours that scaling makes.
    @Test(arguments: [false, true]) func aChangedAnimationIsNoGIFAnyMore(isScaled: Bool) async throws {
        let folder = try TemporaryFolder()
        let url = "http://pictures.test/a.gif"
        let bench = TestBench()
        bench.answer(url, with: BlinkingGIF.file(width: 32, height: 32, frames: 3), type: "image/gif")
        var request = ImageRequest(url)
        request.transformers = [isScaled ? .resize(TargetSize(width: 20)) : .roundCorners(9)]
        let image = try await bench.manager.image(for: request).image
        let cache = CacheBench(folder.path).cache
        try await cache.store(image, for: "changed")
        cache.memoryCache.removeAll()
        let found = try #require(try await cache.image(for: "changed"))
        #expect(found.metadata?.format == .webp && found.image.animation?.frameCount == 3)
    }

    @Test func theConfigurationSaysHowPicturesAreWritten() async throws {
        let folder = try TemporaryFolder()
        let cache = CacheBench(folder.path) { $0.encoding = .always(.qoi) }.cache
        try await cache.store(Fixture.gradient(8, 8), for: "a")
        #expect(try await cache.data(for: "a")?.starts(with: Array("qoif".utf8)) == true)
        let impossible = CacheBench(folder.path) { $0.encoding = .always(.svg) }.cache
        let error = await #expect(throws: WebImageError.self) {
            try await impossible.store(Fixture.gradient(8, 8), for: "b")
        }
        #expect(error?.code == .formatNotBuilt)
        #expect(try await impossible.contains("b") == .memory)
    }

    @Test func aSerializerDecidesWhichBytesGoToDisk() async throws {
        let folder = try TemporaryFolder()
        let cache = CacheBench(folder.path) { configuration in
            configuration.serializer = CacheSerializer { _, data, request in (data ?? []) + Array(request.url.utf8) }
        }.cache
        try await cache.store(Fixture.gradient(8, 8), data: [1, 2], for: ImageRequest("http://a.test/"))
        #expect(try await cache.data(for: ImageRequest("http://a.test/")) == [1, 2] + Array("http://a.test/".utf8))

        let own = CacheStoreOptions(serializer: CacheSerializer { image, _, _ in [UInt8(image.size.width)] })
        try await cache.store(Fixture.gradient(8, 8), data: [1, 2], for: "b", own)
        #expect(try await cache.data(for: "b") == [8])

        let none = CacheStoreOptions(serializer: CacheSerializer { _, _, _ in nil })
        #expect(try await !cache.store(Fixture.gradient(8, 8), data: [1, 2], for: "c", none))
        #expect(try await cache.contains("c") == .memory)
    }
}
