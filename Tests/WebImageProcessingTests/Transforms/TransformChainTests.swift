import Testing
import WebImageCore
import WebImageProcessing
import WebImageTesting

/// Chains that are folded, fused and compiled give the same as their steps one by one.
@Suite struct TransformChainTests {
    private static let mark = try? Image(size: PixelSize(9, 5)) { bytes in
        for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index &* 37) }
    }

    private static let cube = try? ColorCube(side: 5) { SIMD3($0.y, $0.z * 0.8, 1 - $0.x) }

    /// A random transform that changes a picture of this size.
    private static func random(_ random: inout SeededGenerator, _ size: PixelSize) -> ImageTransform {
        func share(_ side: Int) -> Int { max(Int.random(in: side / 2...side, using: &random), 1) }
        let colors = [
            RGBAColor(red: 250, green: 30, blue: 90), RGBAColor(red: 9, green: 200, blue: 40, alpha: 90), .clear,
        ]
        let color = colors.randomElement(using: &random) ?? .black
        let places: [Gravity] = [.center, .top, .bottomRight, .left, .focus(x: 0.2, y: 0.7)]
        let place = places.randomElement(using: &random) ?? .center
        switch Int.random(in: 0..<24, using: &random) {
        case 0: return .crop(width: share(size.width), height: share(size.height), at: place)
        case 1: return .crop(.square, at: place)
        case 2: return .crop(.circle, at: place)
        case 3: return .resize(width: share(size.width), height: share(size.height), fit: .cover, at: place)
        case 4: return .resize(width: share(size.width) * 2, upscale: true, filter: .bicubic)
        case 5: return .turn(quarters: Int.random(in: 1...3, using: &random))
        case 6: return .flip(horizontally: true, vertically: Bool.random(using: &random))
        case 7: return .rotate(degrees: Double.random(in: -180...180, using: &random), background: color)
        case 8: return .blur(sigma: Double.random(in: 0.3...6, using: &random))
        case 9: return .sharpen(sigma: 1.5, amount: 0.8)
        case 10: return .pixelate(Int.random(in: 2...6, using: &random))
        case 11: return .gray(0.5)
        case 12: return .contrast(1.4)
        case 13: return .brightness(-0.2)
        case 14: return .gamma(1.3)
        case 15: return .tint(color, mode: BlendMode.allCases.randomElement(using: &random) ?? .normal)
        case 16: return .background(color)
        case 17: return .roundCorners(Double.random(in: 1...20, using: &random), border: 1)
        case 18: return .pad(Int.random(in: 1...4, using: &random), color: color)
        case 19: return .extend(width: size.width + 5, height: size.height + 3, at: place, color: color)
        case 20: return .vignette()
        case 21: return cube.map { .lookup($0) } ?? .invert
        case 22: return mark.map { .watermark($0, at: place, scale: 0.3, opacity: 0.6) } ?? .invert
        default: return .opacity(0.7)
        }
    }

    /// imgproxy rounds places in the stored picture. A turn by an earlier transform of the chain does not count as the
    /// file's orientation.
    @Test(arguments: ["turn:90", "turn:180", "flip:xy", "crop:90x50+3+2|turn:270"], ["ce", "ce,-5,.1", "fp,.3,.6"])
    func aCropOfImgproxysBehindATurnIsAsAlone(turns: String, place: String) throws {
        let image = Image(
            pixels: try PixelBuffer.random(PixelSize(99, 60), .rgba8, alpha: .opaque, seed: 3),
            info: .init(alpha: .opaque))
        let crop = try ImageTransform.parse("imgproxy:500x500:c=25,20:cg=\(place)")
        let turned = try image.transformed(by: try ImageTransform.parse(turns))
        let single = try turned.transformed(by: crop)
        let whole = try image.transformed(by: try ImageTransform.parse(turns) + crop)
        #expect(whole.size == PixelSize(25, 20))
        #expect(TransformReferenceTests.share(of: whole, beyond: 0, from: Blackboard(single)) == 0)
    }

    /// Sharpening leaves no colour greater than its alpha, which the next step would mix into other pixels.
    @Test func sharpenedLightnessOfTranslucentPicturesCanBeScaled() throws {
        let pixels = try PixelBuffer.random(PixelSize(61, 43), .rgba16, alpha: .straight, seed: 8)
        let image = Image(pixels: pixels, info: .init(alpha: .straight))
        let chain: [ImageTransform] = [.sharpenLightness(sigma: 1.5), .resize(width: 33, height: 29, fit: .fill)]
        let single = try image.transformed(by: [chain[0]]).transformed(by: [chain[1]])
        let whole = try image.transformed(by: chain)
        #expect(TransformReferenceTests.share(of: whole, beyond: 257, from: Blackboard(single)) == 0)
    }

    /// The pictures have 16 bits, so that the roundings between single steps add up to little. In modes with jumps,
    /// such as dodging and burning, they can add up to more, but in few pixels.
    @Test(arguments: 0..<150) func aChainIsItsStepsOneByOne(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let alpha = [AlphaMode.opaque, .straight, .premultiplied][seed % 3]
        let size = PixelSize(Int.random(in: 1...150, using: &random), Int.random(in: 1...60, using: &random))
        let pixels = try PixelBuffer.random(size, .rgba16, alpha: alpha, seed: UInt64(seed))
        if alpha == .premultiplied { pixels.premultiply() }
        let image = Image(pixels: pixels, info: Image.Info(alpha: alpha))
        var chain: [ImageTransform] = []
        var single = image
        for _ in 0..<Int.random(in: 2...5, using: &random) {
            let next = Self.random(&random, single.size)
            chain.append(next)
            single = try single.transformed(by: [next])
        }
        let whole = try image.transformed(by: chain)
        #expect(whole.size == single.size, "\(chain)")
        #expect(!(whole.alpha == .opaque) || whole.pixels.isOpaque)
        let far = TransformReferenceTests.share(of: whole, beyond: 257, from: Blackboard(single))
        let jumps = chain.contains { $0.description.hasPrefix("tint") }
        #expect(far <= (jumps ? 0.02 : 0.001), "\(ImageTransform.text(of: chain)): \(far)")
        // The program knew the size in advance, because it does not depend on pixels.
        let program = try TransformProgram(chain, size: size, isOpaque: alpha == .opaque)
        #expect(program.output == whole.size)
    }

    /// The integer resampler passes its result on without rounding it to bytes. A contrast of 5 would show such a
    /// rounding.
    @Test(arguments: [PixelSize(40, 30), PixelSize(333, 3), PixelSize(7, 200)])
    func bytesThatAreResizedAreNotRoundedOnTheWay(to output: PixelSize) throws {
        let bytes = try PixelBuffer.random(PixelSize(160, 90), alpha: .opaque, seed: 11)
        let deep = try PixelBuffer.make(bytes.size, .rgba16, bytes.channels.map { $0 * 257 })
        let chain: [ImageTransform] = [
            .resize(width: output.width, height: output.height, fit: .fill, upscale: true), .contrast(5),
        ]
        let info = Image.Info(alpha: .opaque)
        let made = try Image(pixels: bytes, info: info).transformed(by: chain).pixels.channels
        let exact = try Image(pixels: deep, info: info).transformed(by: chain).pixels.channels
        let differences = zip(made, exact).map { abs(Double($0) - Double($1) / 257) }
        #expect(differences.allSatisfy { $0 < 1 }, "\(differences.max() ?? 0)")
        #expect(differences.reduce(0, +) / Double(differences.count) < 0.3)
    }

    @Test func bytesThatAreRotatedAreNotRoundedOnTheWay() throws {
        let bytes = try PixelBuffer.random(PixelSize(60, 40), alpha: .opaque, seed: 12)
        let deep = try PixelBuffer.make(bytes.size, .rgba16, bytes.channels.map { $0 * 257 })
        let chain: [ImageTransform] = [.rotate(degrees: 20, background: .black), .contrast(5)]
        let info = Image.Info(alpha: .opaque)
        let made = try Image(pixels: bytes, info: info).transformed(by: chain).pixels.channels
        let exact = try Image(pixels: deep, info: info).transformed(by: chain).pixels.channels
        #expect(zip(made, exact).allSatisfy { abs(Double($0) - Double($1) / 257) < 1 })
        let rotated = try Image(pixels: bytes, info: info).transformed(by: [chain[0]])
        #expect(rotated.layout == .rgba8 && rotated.alpha == .opaque)
    }

    /// Fully transparent pixels become black when they are made visible. Otherwise a picture would depend on whether
    /// the result of its first steps was already in memory.
    @Test func transparentPixelsAreBlackOnceMadeVisible() throws {
        let pixels = try PixelBuffer.random(PixelSize(41, 41), .rgba16, alpha: .straight, seed: 4)
        let image = Image(pixels: pixels, info: .init(alpha: .straight))
        let rows: [Float] = [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0.5, 0.5]
        let shown = ImageTransform.colors(try #require(ColorMatrix(rows)))
        let closure = ImageTransform.customPixels(id: "opaque", keepsOpaque: true) { stretch in
            for index in 0..<stretch.count { stretch[index].w = 1 }
        }
        for hiding in [[ImageTransform.crop(.circle)], [.roundCorners(9), .brightness(0.5)], [.opacity(0), .invert]] {
            for showing in [shown, closure] {
                var single = image
                for step in hiding + [showing] { single = try single.transformed(by: [step]) }
                let whole = try image.transformed(by: hiding + [showing])
                // At the edge of the shape, alpha may be smaller than one level of the 16 bits between the single
                // steps.
                let far = TransformReferenceTests.share(of: whole, beyond: 4, from: Blackboard(single))
                #expect(far < 0.05, "\(hiding) \(showing)")
            }
        }
    }

    /// A picture that says that it is opaque has no transparent pixels.
    @Test func aClosureCannotHideAnOpaquePicture() throws {
        let pixels = try PixelBuffer.random(PixelSize(20, 10), alpha: .opaque, seed: 4)
        let image = Image(pixels: pixels, info: .init(alpha: .opaque))
        let hide = ImageTransform.customPixels(id: "hide") { stretch in
            for index in 0..<stretch.count { stretch[index].w = 0.5 }
        }
        let made = try image.transformed(by: [hide])
        #expect(made.alpha == .opaque && made.pixels.channels == pixels.channels)
    }

    /// Colours do not exceed the picture's where its outermost pixels are missing from the spline.
    @Test func rotatingDrawsNoLineAlongTheBorder() throws {
        let gray = RGBAColor(red: 128, green: 128, blue: 128)
        let nothing = Image(pixels: try PixelBuffer(size: PixelSize(40, 30)), info: .init(alpha: .straight))
        let image = try nothing.transformed(by: [.opacity(0), .background(gray)])
        let made = try image.transformed(by: [.rotate(degrees: 15, background: gray)])
        let colors = made.pixels.channels.enumerated().filter { $0.offset % 4 != 3 }.map(\.element)
        #expect(Set(image.pixels.channels) == [128, 255])
        #expect(Set(colors) == [128])
    }

    /// The geometry at the beginning of a chain, carried out by a decoder's plan, gives the same as on the decoded
    /// picture.
    @Test(arguments: Orientation.allCases) func leadingGeometryIsOnePlan(orientation: Orientation) throws {
        let chains: [[ImageTransform]] = [
            [.crop(PixelRect(x: 3, y: 5, width: 30, height: 20))],
            [.turn(quarters: 1), .crop(width: 20, height: 10, at: .topLeft), .flip(horizontally: true)],
            [.crop(.square, at: .right), .resize(width: 13), .turn(quarters: 3), .crop(width: 9, height: 7)],
            [.resize(width: 20, height: 20, fit: .cover, at: .top), .crop(width: 11, height: 5, at: .bottom)],
            [.resize(width: 17, height: 11, fit: .fill, filter: .bilinear), .flip(vertically: true)],
        ]
        for chain in chains {
            let stored = orientation.storedSize(of: PixelSize(53, 41))
            let pixels = try PixelBuffer.random(stored, alpha: .opaque, seed: 7)
            let image = Image(pixels: pixels, info: Image.Info(alpha: .opaque, orientation: orientation))
            let leading = LeadingGeometry(nil, chain)
            #expect(leading.count == chain.count)
            let plan = try leading.plan(stored: stored, orientation: orientation, isVector: false)
            let scaled = try Resampler.resample(
                pixels, alpha: .opaque, crop: plan.crop, to: plan.outputStored, filter: plan.filter, within: plan.bounds
            )
            let decoded = Image(pixels: try scaled.oriented(by: plan.orientation), info: Image.Info(alpha: .opaque))
            let made = try image.transformed(by: chain)
            #expect(Blackboard(made).worstDifference(of: decoded) <= 1, "\(chain)")
        }
    }

    @Test func onlyTheFirstScalingIsAPartOfDecoding() throws {
        let blur = ImageTransform.blur(sigma: 2)
        let small = ImageTransform.resize(width: 10)
        #expect(LeadingGeometry(nil, [small, small]).count == 1)
        // Its later steps need the size of the part, not of the file.
        let geometry = try #require(try ImageTransform.parse("imgproxy:20x20").first)
        #expect(LeadingGeometry(nil, [.crop(width: 5, height: 5), geometry]).count == 1)
        #expect(LeadingGeometry(nil, [geometry]).count == 1)
        #expect(LeadingGeometry(TargetSize(width: 5), [small]).count == 0)
        #expect(LeadingGeometry(TargetSize(width: 5), [.turn(quarters: 1), .crop(.square), small]).count == 2)
        #expect(LeadingGeometry(nil, [blur, small]).count == 0)
        #expect(LeadingGeometry(nil, [.crop(.square, at: .smart), small]).count == 0)
        #expect(LeadingGeometry(nil, [.crop(.circle), small]).count == 0)
        #expect(LeadingGeometry(nil, [.resize(width: 5, height: 5, fit: .cover, at: .smart)]).count == 0)
    }

    @Test func matricesThatStayWithinBecomeOne() throws {
        let chain: [ImageTransform] = [.gray(0.5), .sepia(0.3), .saturation(0.2), .brightness(0), .opacity(0.5)]
        let program = try TransformProgram(chain, size: PixelSize(10, 10), isOpaque: true)
        #expect(program.stageCount == 1 && program.pointCount <= 2)
    }

    @Test func passesShareRowsAndOnlyWholePicturesComeBetween() throws {
        let size = PixelSize(100, 100)
        let one = try TransformProgram(
            [.crop(.square), .resize(width: 50), .blur(sigma: 4), .gray(), .roundCorners(9), .pad(3)], size: size,
            isOpaque: true)
        #expect(one.passCount == 1)
        let two = try TransformProgram([.blur(sigma: 4), .rotate(degrees: 10), .gray()], size: size, isOpaque: true)
        #expect(two.passCount == 2)
        #expect(try TransformProgram([.crop(width: 500, height: 500)], size: size, isOpaque: true).isIdentity)
        #expect(try TransformProgram([.rotate(degrees: 360)], size: size, isOpaque: true).isIdentity)
    }

    @Test func numbersThatMakeNoSenseAreErrorsAndNothingElse() throws {
        let image = try TransformReferenceTests.Input(size: PixelSize(20, 10), layout: .rgba8, alpha: .opaque).image()
        let bad: [ImageTransform] = [
            .blur(sigma: .nan), .blur(sigma: -1), .blur(sigma: .infinity), .blur(sigma: 1e300), .blur(sigma: 2, cut: 0),
            .sharpen(sigma: 0), .sharpen(amount: .nan), .pixelate(0), .pixelate(-5), .pixelate(.max),
            .crop(width: 0, height: 5), .crop(width: -1, height: 5),
            .crop(PixelRect(x: .nan, y: 0, width: 1, height: 1)),
            .crop(PixelRect(x: 100, y: 0, width: 5, height: 5)), .rotate(degrees: .nan), .rotate(degrees: .infinity),
            .pad(-1), .pad(.max), .gray(2), .brightness(.nan), .gamma(0), .opacity(-1), .vignette(strength: 2),
            .roundCorners(.nan), .roundCorners(5, border: -1), .trim(threshold: .nan),
            .watermark(image, offset: (.min, 0)), .watermark(image, offset: (0, .max)),
            .customNeighbors(id: "x", reach: -1) { $0[0, 0] }, .customNeighbors(id: "x", reach: .max) { $0[0, 0] },
        ]
        for transform in bad {
            let error = #expect(throws: WebImageError.self, "\(transform)") { try image.transformed(by: [transform]) }
            #expect(error?.code == .transformFailed, "\(transform)")
        }
        let huge: [ImageTransform] = [
            .resize(width: 1 << 19, height: 1 << 19, fit: .fill, upscale: true), .extend(width: .max, height: .max),
            .extend(width: .max, height: 10, at: .right),
            .pad(1 << 19),
        ]
        for transform in huge {
            let error = #expect(throws: WebImageError.self) { try image.transformed(by: [transform]) }
            #expect(error?.code == .limitExceeded, "\(transform)")
        }
        // Values that are merely large are accepted.
        for transform in [
            ImageTransform.blur(sigma: 1000), .pixelate(1 << 20), .roundCorners(.infinity),
            .crop(width: .max, height: .max),
            .crop(.square, at: .focus(x: .nan, y: .infinity)), .hue(degrees: 720), .resize(width: 1, height: 1),
        ] {
            _ = try image.transformed(by: [transform])
        }
    }
}
