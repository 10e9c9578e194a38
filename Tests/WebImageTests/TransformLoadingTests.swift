import Synchronization
import Testing
import WebImageCodecs
import WebImageCore
import WebImageProcessing
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Chains of transforms in whole loads: which steps are part of decoding, which are shared, and how they appear in
/// keys.
@Suite struct TransformLoadingTests {
    /// Wraps a coder and records the scale denominators of its decodes.
    private final class RecordingCoder: ImageCoder {
        private let coder: any ImageCoder
        private let scales = Guarded<[Int]>([])

        init(_ coder: any ImageCoder) { self.coder = coder }

        var denominators: [Int] { scales.withLock { $0 } }
        var key: String { "recording " + coder.key }
        var decodableFormats: Set<ImageFormat> { coder.decodableFormats }
        func scaleDenominators(for header: ImageHeader) -> [Int] { coder.scaleDenominators(for: header) }
        func scalingMargin(for header: ImageHeader, denominator: Int) -> Double {
            coder.scalingMargin(for: header, denominator: denominator)
        }

        func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder {
            try coder.makeDecoder(options) { [self] header throws(WebImageError) in
                let plan = try plan(header)
                scales.withLock { $0.append(plan.scaleDenominator) }
                return plan
            }
        }

        func makeAnimationDecoder(
            _ format: ImageFormat, _ options: DecodeOptions
        ) throws(WebImageError) -> (any AnimationDecoder)? { try coder.makeAnimationDecoder(format, options) }
    }

    private let url = "http://pictures.test/a.jpg"

    private func jpegCoder() throws -> any ImageCoder {
        try [UInt8]([0xFF, 0xD8, 0xFF]).withUnsafeBytes { try CoderRegistry.standard.coder(for: .jpeg, prefix: $0) }
    }

    private func load(_ chain: [any ImageTransformer], _ bytes: [UInt8], size: TargetSize? = nil) async throws -> Image
    {
        let bench = TestBench()
        bench.answer(url, with: bytes)
        var request = ImageRequest(url, size: size)
        request.transformers = chain
        return try await bench.manager.image(for: request).image
    }

    private func difference(_ one: Image, _ other: Image) -> Int {
        guard one.size == other.size else { return .max }
        return one.withPixels { one in
            other.withPixels { other in zip(one, other).map { abs(Int($0) - Int($1)) }.max() ?? 0 }
        }
    }

    /// A bench whose origin serves `bytes`, and a request for them that decodes with a recording coder.
    private func recorded(_ bytes: [UInt8]) throws -> (TestBench, RecordingCoder, ImageRequest) {
        let coder = RecordingCoder(
            try bytes.withUnsafeBytes { buffer in
                try CoderRegistry.standard.coder(for: ImageFormat(sniffing: buffer), prefix: buffer)
            })
        let bench = TestBench()
        bench.answer(url, with: bytes)
        var request = ImageRequest(url)
        request.decoding.coder = coder
        return (bench, coder, request)
    }

    @Test func aSmartThumbnailIsDecodedSmall() async throws {
        let jpeg = try Fixture.jpeg(1600, 1200)
        let (bench, coder, plain) = try recorded(jpeg)
        var request = plain
        request.transformers = [.resize(width: 40, height: 40, fit: .cover, at: .smart), .invert]
        let image = try await bench.manager.image(for: request).image
        #expect(image.size == PixelSize(width: 40, height: 40))
        #expect(coder.denominators == [8])
        // The result is the same as from the whole picture, and as the beginning of a longer chain.
        let whole = try await load([], jpeg)
        #expect(
            difference(image, try whole.transformed(by: request.transformers.compactMap { $0 as? ImageTransform })) <= 3
        )
        request.transformers.append(.flip(horizontally: true))
        let flipped = try await bench.manager.image(for: request).image
        #expect(difference(flipped, try image.transformed(by: [.flip(horizontally: true)])) == 0)
        #expect(coder.denominators == [8])
    }

    /// An animation that is composed of several frames is not decoded small.
    @Test(arguments: [true, false]) func theFirstFrameOfAnAnimationAloneIsDecodedSmall(isAlone: Bool) async throws {
        let gif = try await Image(data: BlinkingGIF.file(width: 800, height: 600, frames: 3))
        let webp = try gif.encoded(as: .webp, EncodeOptions(isLossless: true))
        let registry = CoderRegistry.standard
        let coder = RecordingCoder(try webp.withUnsafeBytes { try registry.coder(for: .webp, prefix: $0) })
        let bench = TestBench()
        bench.answer(url, with: webp)
        var request = ImageRequest(url, size: TargetSize(width: 80))
        (request.decoding.coder, request.decoding.firstFrameOnly) = (coder, isAlone)
        let image = try await bench.manager.image(for: request).image
        #expect(image.size == PixelSize(width: 80, height: 60) && (image.animation == nil) == isAlone)
        #expect(image.withPixels { Array($0.prefix(4)) } == BlinkingGIF.colors[0] + [255])
        #expect((coder.denominators.first ?? 1) == (isAlone ? 3 : 1))
    }

    /// A gray picture with a red square at the lower right. Its size makes the last blocks of a JPEG partial.
    private func marked() throws -> Image {
        try Image(size: PixelSize(width: 1205, height: 803), alpha: .opaque) { bytes in
            for index in 0..<bytes.count / 4 {
                let isMarked = (900..<1100).contains(index % 1205) && (500..<700).contains(index / 1205)
                bytes[4 * index] = isMarked ? 220 : 128
                (bytes[4 * index + 1], bytes[4 * index + 2]) = isMarked ? (20, 20) : (128, 128)
                bytes[4 * index + 3] = 255
            }
        }
    }

    @Test(
        arguments: [
            "imgproxy:40x40:fill:g=sm", "imgproxy:40x40:fill:g=sm:rot=90", "imgproxy:30x40:fill:g=sm:rot=180:fl=x",
            "imgproxy:20x30:fill:g=sm:dpr=2|imgproxy-canvas:20x30:dpr=2:extend",
        ], [Orientation.up, .right, .down, .leftMirrored])
    func imgproxysSmartCropsAreDecodedSmall(_ chain: String, _ orientation: Orientation) async throws {
        let picture = try marked().with { $0.orientation = orientation }
        let jpeg = try picture.encoded(as: .jpeg, EncodeOptions(keepsMetadata: true))
        let (coder, bench) = (RecordingCoder(try jpegCoder()), TestBench())
        bench.answer(url, with: jpeg)
        var request = ImageRequest(url)
        request.decoding.coder = coder
        let transforms = try ImageTransform.parse(chain)
        request.transformers = transforms
        let image = try await bench.manager.image(for: request).image
        #expect(coder.denominators.count == 1 && coder.denominators[0] >= 4)
        let wanted = try await load([], jpeg).transformed(by: transforms)
        #expect(image.size == wanted.size)
        let differences = image.withPixels { one in
            wanted.withPixels { other in zip(one, other).map { abs(Int($0) - Int($1)) } }
        }
        #expect(differences.reduce(0, +) < 3 * differences.count)
        let reds = image.withPixels { pixels in
            stride(from: 0, to: pixels.count, by: 4).count { pixels[$0] > 190 && pixels[$0 + 1] < 60 }
        }
        // The crop shows nearly all of the square, whose side is a sixth of the picture's longer side.
        let side = max(image.size.width, image.size.height) / 6
        #expect(reds * 4 > side * side * 3)
    }

    @Test func geometryAtTheBeginningIsAPartOfDecoding() async throws {
        let jpeg = try Fixture.jpeg(1600, 1200)
        let (bench, coder, plain) = try recorded(jpeg)
        var request = plain
        request.transformers = [
            .turn(quarters: 1), .crop(.square), .resize(width: 40), .blur(sigma: 2), .roundCorners(9),
        ]
        let image = try await bench.manager.image(for: request).image
        #expect(image.size == PixelSize(width: 40, height: 40) && image.alpha == .straight)
        #expect(coder.denominators == [8])
        // For a gradient, the result is nearly the same as that of the transforms on the whole picture.
        let whole = try await load([], jpeg)
        let values = request.transformers.compactMap { $0 as? ImageTransform }
        #expect(difference(try whole.transformed(by: values), image) <= 4)
    }

    @Test(arguments: Orientation.allCases)
    func chainsApplyToThePictureAsItIsShown(_ orientation: Orientation) async throws {
        var picture = Fixture.gradient(60, 40)
        picture = picture.with { $0.orientation = orientation }
        let bytes = try picture.encoded(as: .png, EncodeOptions(keepsMetadata: true))
        let chains: [[any ImageTransformer]] = [
            [.crop(PixelRect(x: 2, y: 3, width: 20, height: 10))],
            [.turn(quarters: 1), .crop(width: 10, height: 12, at: .bottomLeft)],
            [.flip(horizontally: true), .resize(width: 15), .blur(sigma: 1)],
        ]
        for chain in chains {
            let loaded = try await load(chain, bytes)
            let plain = try await load([], bytes)
            let values = chain.compactMap { $0 as? ImageTransform }
            #expect(difference(try plain.transformed(by: values), loaded) <= 1)
            #expect(loaded.info.orientation == .up)
            var request = ImageRequest(data: bytes, name: "turned.png")
            request.decoding.appliesOrientation = false
            request.transformers = chain
            // Even if the request keeps the stored orientation, the chain applies to the picture as it is shown.
            let stored = try await TestBench().manager.image(for: request).image
            #expect(difference(stored, loaded) <= 1 && stored.info.orientation == .up)
        }
    }

    /// A picture with gray in the middle, a corner of another colour, and margins of different widths.
    private func framed() throws -> Image {
        try Image(size: PixelSize(width: 140, height: 85), alpha: .opaque) { bytes in
            for y in 0..<85 {
                for x in 0..<140 {
                    let isInside = (10..<110).contains(x) && (20..<80).contains(y)
                    let isOdd = x >= 130 && y >= 75
                    let value: UInt8 = isInside ? 100 : isOdd ? 200 : 255
                    for channel in 0..<4 { bytes[(y * 140 + x) * 4 + channel] = channel == 3 ? 255 : value }
                }
            }
        }
    }

    /// The result is as if the stored picture were trimmed first and turned upright afterwards.
    @Test(arguments: Orientation.allCases)
    func anImgproxyTrimAppliesToThePictureAsStored(_ orientation: Orientation) async throws {
        let stored = try framed()
        let bytes = try stored.with { $0.orientation = orientation }.encoded(
            as: .png, EncodeOptions(keepsMetadata: true))
        for (isHorizontal, isVertical) in [(false, false), (true, false), (false, true), (true, true)] {
            let trim = ImageTransform.trim(
                equalHorizontally: isHorizontal, equalVertically: isVertical, asImgproxy: true)
            let image = try await load([trim], bytes)
            let plain = try stored.transformed(by: [
                .trim(equalHorizontally: isHorizontal, equalVertically: isVertical)
            ])
            let wanted = try plain.with { $0.orientation = orientation }.upright()
            #expect(image.size == wanted.size && difference(image, wanted) == 0, "\(isHorizontal) \(isVertical)")
        }
    }

    #if JXL
        /// In a JPEG XL the orientation is no metadata tag: decoders give imgproxy the picture as it is shown.
        @Test func anImgproxyTrimAppliesToAJPEGXLAsItIsShown() async throws {
            let turned = try framed().treated(as: .down)
            let bytes = try turned.encoded(as: .jxl, EncodeOptions(isLossless: true))
            let image = try await load([.trim(asImgproxy: true)], bytes)
            let wanted = try turned.upright().transformed(by: [.trim()])
            #expect(image.size == wanted.size && difference(image, wanted) == 0)
        }
    #endif

    #if AVIF
        /// In an AVIF the orientation is part of the picture.
        @Test(arguments: [true, false]) func theOrientationOfAnAVIFCannotBeIgnored(applies: Bool) async throws {
            let upright = try SamplePictures.sunset(PixelSize(width: 80, height: 60))
            var request = ImageRequest(data: try upright.treated(as: .right).encoded(as: .avif), name: "turned")
            request.decoding.appliesOrientation = applies
            request.decoding.ignoresOrientation = true
            request.transformers = [.crop(width: 40, height: 50, at: .topLeft)]
            let picture = try await TestBench().manager.image(for: request).image
            #expect(picture.size == PixelSize(width: 40, height: 50) && picture.info.orientation == .up)
            #expect(picture.info.header?.ignoredOrientation == nil)
        }
    #endif

    @Test func aSizeOfTheRequestComesBeforeTheChain() async throws {
        let jpeg = try Fixture.jpeg(800, 600)
        let size = TargetSize(width: 400)
        let image = try await load([.crop(width: 100, height: 100), .resize(width: 50)], jpeg, size: size)
        #expect(image.size == PixelSize(width: 50, height: 50))
        let plain = try await load([], jpeg, size: size)
        let made = try plain.transformed(by: [.crop(width: 100, height: 100), .resize(width: 50)])
        #expect(difference(made, image) <= 2)
    }

    @Test func aCropOutsideThePictureFailsOnlyItsLoad() async throws {
        let bench = TestBench()
        let network = Gate()
        bench.transport.answer(
            url, .bytes(try Fixture.jpeg(64, 48), contentType: "image/jpeg").held(by: network, after: 20))
        let (good, bad) = (Ledger(), Ledger())
        bench.manager.load(ImageRequest(url)) { good.take($0) }
        var request = ImageRequest(url)
        request.transformers = [.crop(PixelRect(x: 500, y: 0, width: 5, height: 5))]
        bench.manager.load(request) { bad.take($0) }
        await bench.transport.waitForHits(url)
        network.open()
        #expect(try await good.finished().get().image.size.width == 64)
        let end = await bad.finished()
        if case .failure(let error) = end {
            #expect(error.code == .transformFailed, "\(error)")
        } else {
            Issue.record("it came")
        }
        #expect(bench.transport.hits(url) == 1)
    }

    @Test func framesGoThroughTheChainAndTellTheirSize() async throws {
        let gif = BlinkingGIF.file(width: 80, height: 60, frames: 3)
        let bench = TestBench()
        bench.answer(url, with: gif, type: "image/gif")
        var request = ImageRequest(url)
        request.transformers = [.crop(.square), .resize(width: 20), .roundCorners(5), .pad(2)]
        let image = try await bench.manager.image(for: request).image
        let animation = try #require(image.animation)
        #expect(image.size == PixelSize(width: 24, height: 24) && animation.size == image.size)
        for index in [-1, 3] {
            let error = await #expect(throws: WebImageError.self) { try await animation.frame(at: index) }
            #expect(error?.code == .unsupportedFeature)
        }
        for index in 0..<3 {
            let frame = try await animation.frame(at: index)
            #expect(frame.size == image.size)
            let color = BlinkingGIF.colors[index]
            let middle = frame.withPixels { bytes in Array(bytes[(12 * 24 + 12) * 4..<(12 * 24 + 12) * 4 + 3]) }
            #expect(middle == Array(color.prefix(3)))
            #expect(frame.withPixels { $0[3] } == 0)
        }
    }

    /// 200 loads of one URL, in three sizes with four chains.
    @Test func twoHundredLoadsShareFetchDecodesAndBeginnings() async throws {
        let calls = Guarded<[String: Int]>([:])
        func step(_ name: String) -> ImageTransform {
            .custom(id: name) { image in
                calls.withLock { $0[name, default: 0] += 1 }
                return image
            }
        }
        let coder = RecordingCoder(try jpegCoder())
        let bench = TestBench()
        let network = Gate()
        bench.transport.answer(
            url, .bytes(try Fixture.jpeg(1600, 1200), contentType: "image/jpeg").held(by: network, after: 20))
        var requests: [ImageRequest] = []
        for index in 0..<200 {
            let width = [400, 200, 100][index % 3]
            let chains: [[ImageTransform]] = [
                [], [.blur(sigma: 1), step("a\(width)")], [.blur(sigma: 1), step("a\(width)"), step("b\(width)")],
                [.blur(sigma: 1), step("a\(width)"), step("c\(width)")],
            ]
            var request = ImageRequest(url)
            request.decoding.coder = coder
            request.transformers = [ImageTransform.resize(width: width)] + chains[index % 4]
            requests.append(request)
        }
        let ledgers = requests.map { request in
            let ledger = Ledger()
            bench.manager.load(request) { ledger.take($0) }
            return ledger
        }
        await bench.transport.waitForHits(url)
        network.open()
        for (ledger, request) in zip(ledgers, requests) {
            let image = try await ledger.finished().get().image
            #expect(bench.manager.cachedImage(for: request)?.storage === image.storage)
        }
        #expect(bench.transport.hits(url) == 1)
        // 400 of 1600 is decoded at a whole scale, 200 at a half, 100 at a quarter: one decode each.
        #expect(coder.denominators.count == Set(coder.denominators).count && coder.denominators.count <= 3)
        let counts = calls.withLock { $0 }
        #expect(counts.count == 9 && counts.values.allSatisfy { $0 == 1 }, "\(counts)")
    }

    @Test func pictureKeysSeparateTheDecodeFromTheSteps() throws {
        func key(_ chain: [any ImageTransformer], size: TargetSize? = nil) -> PictureKey {
            var recipe = PictureRecipe()
            recipe.size = size
            recipe.transformers = chain
            return PictureKey(recipe)
        }
        let resized = key([.resize(width: 20)])
        #expect(resized.steps.isEmpty && resized.decode != key([]).decode)
        let blurred = key([.resize(width: 20), .blur(sigma: 2)])
        #expect(blurred.steps == ["blur:2"])
        #expect(key([.blur(sigma: 2)], size: TargetSize(width: 20)) != blurred)
        #expect(key([.crop(.square), .turn(quarters: 1)]) != key([.turn(quarters: 1), .crop(.square)]))
    }

    @Test func keysTellWhichPictureIsMadeOfWhich() {
        let resized: [any ImageTransformer] = [ImageTransform.resize(width: 20)]
        let (blur, gray) = (ImageTransform.blur(sigma: 2), ImageTransform.gray())
        let wide = TargetSize(width: 30)
        typealias Chain = (steps: [any ImageTransformer], size: TargetSize?)
        let cases: [(Chain, Chain, Bool)] = [
            ((resized, nil), (resized + [blur], nil), true),
            ((resized, nil), (resized + [blur, gray], nil), true),
            ((resized + [blur], nil), (resized + [blur, gray], nil), true),
            (([], nil), ([blur], nil), true),
            (([], wide), ([blur], wide), true),
            (([blur], nil), ([blur], nil), false),
            (([blur, gray], nil), ([blur], nil), false),
            (([blur], nil), ([ImageTransform.blur(sigma: 20), gray], nil), false),
            (([gray], nil), ([blur, gray], nil), false),
            // Resizing is a part of the decode.
            (([], nil), (resized, nil), false),
            (([], nil), (resized + [blur], nil), false),
            (([], nil), ([blur], wide), false),
            (([], wide), ([blur], nil), false),
        ]
        func key(_ chain: Chain) -> CacheKey {
            ImageRequest("http://pictures.test/a.png") { ($0.transformers, $0.size) = (chain.steps, chain.size) }
                .variantKey
        }
        for (first, second, isBeginning) in cases {
            let (first, second) = (key(first), key(second))
            #expect(first.isBeginning(of: second) == isBeginning, "\(first) of \(second)")
        }
    }
}
