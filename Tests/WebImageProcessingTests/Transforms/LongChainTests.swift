import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageProcessing

/// Chains may come from strangers and may have any length.
@Suite struct LongChainTests {
    private static let identity = ImageTransform.customNeighbors(id: "same", reach: 1) { $0[0, 0] }

    private func picture(_ size: PixelSize, alpha: AlphaMode = .opaque) throws -> Image {
        Image(pixels: try PixelBuffer.random(size, alpha: alpha, seed: 5), info: Image.Info(alpha: alpha))
    }

    /// An operation whose output size is not known in advance was once called by the operation before it. A thousand of
    /// them overflowed the stack.
    @Test func operationsOfUnknownSizeMayFollowEachOther() throws {
        let image = try picture(PixelSize(3, 2))
        let count = 10_000
        #expect(try image.transformed(by: Array(repeating: .trim(), count: count)).size == image.size)
        let chain = (0..<count).map { _ in
            ImageTransform.custom(id: "same") { (image) throws(WebImageError) in image }
        }
        #expect(try image.transformed(by: chain).pixels.channels == image.pixels.channels)
    }

    /// Within a pass, each stage calls the next one and keeps some rows for it, and each step has weights of its own. A
    /// long chain is therefore split into several passes, each of which is compiled when the one before has run.
    @Test func aLongChainIsSplitIntoSeveralPasses() throws {
        let size = PixelSize(5, 4)
        let program = try TransformProgram(
            Array(repeating: Self.identity, count: 150), size: size, isOpaque: true)
        #expect(program.stageCount == 64 && program.passCount == 1)
        for alpha in [AlphaMode.opaque, .straight] {
            // Fully transparent pixels lose their colour in the first transform, so the comparison starts after one.
            let image = try picture(size, alpha: alpha).transformed(by: [Self.identity])
            let many = try image.transformed(by: Array(repeating: Self.identity, count: 10_000))
            #expect(many.pixels.channels == image.pixels.channels)
        }
    }

    /// The stages around the end of a pass change the size, the alpha and the orientation.
    @Test func anyTransformMayStandAtTheEndOfAPass() throws {
        let image = try picture(PixelSize(40, 30))
        let steps: [[ImageTransform]] = [
            [.pad(3)], [.resize(width: 20, height: 31, fit: .fill)], [.turn(quarters: 1)],
            [.crop(PixelRect(x: 2, y: 3, width: 30, height: 20))], [.blur(sigma: 1)], [.gray(), .roundCorners(4)],
        ]
        for step in steps {
            for before in 62...65 {
                let first = Array(repeating: Self.identity, count: before)
                let made = try image.transformed(by: first + step + [Self.identity])
                let wanted = try image.transformed(by: step + [Self.identity])
                #expect(made.size == wanted.size && made.alpha == wanted.alpha)
                let differences = zip(made.pixels.channels, wanted.pixels.channels).map { abs($0 - $1) }
                // Pixels are rounded to 16 bits between passes.
                #expect(differences.allSatisfy { $0 <= 1 }, "\(step) after \(before)")
            }
        }
    }

    /// A step that makes a picture opaque and stands behind the last stage of a pass once made that pass opaque, too.
    @Test func aBackgroundMayStandBehindTheEndOfAPass() throws {
        let image = try picture(PixelSize(8, 6), alpha: .straight)
        let step: [ImageTransform] = [.background(RGBAColor(red: 200, green: 100, blue: 50))]
        let wanted = try image.transformed(by: [Self.identity] + step)
        for before in 62...66 {
            let made = try image.transformed(by: Array(repeating: Self.identity, count: before) + step)
            #expect(made.alpha == .opaque)
            let differences = zip(made.pixels.channels, wanted.pixels.channels).map { abs($0 - $1) }
            #expect(differences.allSatisfy { $0 <= 1 }, "\(before) \(differences.max() ?? 0)")
        }
    }

    /// Filters take some hundred bytes for each pixel of a side, and the limits for pictures restrict only the area.
    @Test(arguments: [
        [ImageTransform.blur(sigma: 1)], [.sharpen()], [.pixelate(9)],
        [.gray(), .resize(width: 50, height: 50, fit: .fill, upscale: true)],
        [.resize(width: 50, height: 50, fit: .fill, upscale: true)],
    ]) func picturesWithVeryLongSidesAreNotFiltered(chain: [ImageTransform]) {
        for size in [PixelSize(100_000_000, 1), PixelSize(1, 2_000_000)] {
            let error = #expect(throws: WebImageError.self) {
                try TransformProgram(chain, size: size, isOpaque: true)
            }
            #expect(error?.code == .limitExceeded, "\(chain) \(size)")
        }
    }

    /// Transforms after an operation of unknown size once received 16-bit pixels, whatever the picture had.
    @Test func aClosureGetsThePicturesOwnDepth() throws {
        let seen: ImageTransform = .custom(id: "depth") { (image) throws(WebImageError) in
            #expect(image.layout == .rgba8)
            return image
        }
        let image = try picture(PixelSize(20, 10))
        #expect(
            try image.transformed(by: [seen, .blur(sigma: 1), .trim(), seen, .blur(sigma: 1), seen]).layout == .rgba8)
    }
}
