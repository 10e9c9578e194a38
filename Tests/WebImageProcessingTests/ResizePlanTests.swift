import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageProcessing

@Suite struct ResizePlanTests {
    /// A plan that is adapted to a smaller size of the same picture stays within that size, whatever remainders its
    /// sides leave.
    @Test func aPlanForASmallerSizeStaysWithinIt() {
        for side in 2...200 {
            let whole = PixelSize(width: side, height: side)
            let kept = PixelSize(width: max(side * 4 / 5, 1), height: max(side * 4 / 5, 1))
            var fold = GeometryFold(source: whole)
            fold.crop(x: side - kept.width, y: side - kept.height, to: kept)
            fold.scale(nil, to: PixelSize(width: max(side / 5, 1), height: max(side / 5, 1)), filter: .lanczos3)
            let plan = ResizePlan(stored: whole, orientation: .up, fold: fold)
            for smaller in 1...side {
                let other = ResizePlan(plan, from: PixelSize(width: smaller, height: smaller))
                for part in [other.crop, other.bounds ?? other.crop] {
                    #expect(part.x + part.width <= Double(smaller) && part.y + part.height <= Double(smaller))
                }
            }
        }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        var stored: PixelSize
        var target: TargetSize
        var output: PixelSize
        /// The expected crop; nil for the whole picture.
        var crop: PixelRect?
        var testDescription: String { "\(stored) \(target) -> \(output)" }

        init(
            _ stored: (Int, Int), _ width: Int?, _ height: Int?, _ fit: ImageFit = .contain, up: Bool = false,
            gives output: (Int, Int), crop: (Double, Double, Double, Double)? = nil
        ) {
            self.stored = PixelSize(stored.0, stored.1)
            target = TargetSize(width: width, height: height, fit: fit, upscale: up)
            self.output = PixelSize(output.0, output.1)
            self.crop = crop.map { PixelRect(x: $0.0, y: $0.1, width: $0.2, height: $0.3) }
        }
    }

    static let table: [Row] = [
        // SDWebImage's own values.
        Row((100, 200), 150, 150, gives: (75, 150)),
        Row((100, 200), 300, 300, gives: (100, 200)),
        Row((100, 200), 300, 300, up: true, gives: (150, 300)),
        Row((100, 200), 150, 150, .fill, gives: (100, 150)),
        Row((100, 200), 150, 150, .fill, up: true, gives: (150, 150)),
        Row((5250, 3450), 400, 300, gives: (400, 263)),
        Row((5250, 3450), 4000, 4000, gives: (4000, 2629)),
        // Only one side is given: the other follows from the aspect ratio, whatever the fit.
        Row((400, 300), 200, nil, gives: (200, 150)),
        Row((400, 300), nil, 100, .cover, gives: (133, 100)),
        Row((400, 300), 100, nil, .fill, gives: (100, 75)),
        Row((400, 300), 800, nil, gives: (400, 300)),
        Row((400, 300), 800, nil, up: true, gives: (800, 600)),
        Row((400, 300), nil, nil, .cover, up: true, gives: (400, 300)),
        Row((400, 300), 0, -5, gives: (400, 300)),
        // No side becomes 0, and halves are rounded away from zero.
        Row((10_000, 1), 10, 10, gives: (10, 1)),
        Row((1, 10_000), 5, nil, .contain, gives: (1, 10_000)),
        Row((200, 101), 100, nil, gives: (100, 51)),
        // Cover: the crop is centred, at fractions of pixels if it is scaled.
        Row((400, 300), 100, 100, .cover, gives: (100, 100), crop: (50, 0, 300, 300)),
        Row((300, 401), 100, 100, .cover, gives: (100, 100), crop: (0, 50.5, 300, 300)),
        Row((400, 300), 200, 150, .cover, gives: (200, 150)),
        Row((100, 200), 300, 300, .cover, up: true, gives: (300, 300), crop: (0, 50, 100, 100)),
        // Cover that may not enlarge: the target's aspect ratio at the size of the picture, in whole pixels.
        Row((100, 200), 300, 300, .cover, gives: (100, 100), crop: (0, 50, 100, 100)),
        Row((101, 200), 100, 50, .cover, gives: (100, 50), crop: (0.5, 74.75, 100, 50)),
        Row((200, 101), 100, 101, .cover, gives: (100, 101), crop: (50, 0, 100, 101)),
        Row((101, 201), 160, 90, .cover, gives: (101, 57), crop: (0, 72, 101, 57)),
        Row((10, 10), 1000, 1, .cover, gives: (10, 1), crop: (0, 4, 10, 1)),
    ]

    @Test(arguments: table) func theSizeIsAsTheTableSays(_ row: Row) {
        let plan = ResizePlan(stored: row.stored, target: row.target)
        #expect(plan.outputDisplay == row.output)
        if row.target.fit == .cover, let crop = row.crop, crop.x == 0.5 {
            // This row reduces by one hundredth: its crop has fractional sides.
            #expect(abs(plan.crop.width - 101) < 1e-9 && abs(plan.crop.height - 50.5) < 1e-9)
        } else {
            #expect(plan.crop == row.crop ?? PixelRect(row.stored))
        }
        #expect(plan.isIdentity == (plan.outputStored == row.stored))
    }

    @Test(arguments: Orientation.allCases) func aSizeIsMeantForTheUprightPicture(_ orientation: Orientation) {
        let stored = PixelSize(400, 300)
        let display = orientation.displaySize(of: stored)
        let plan = ResizePlan(
            stored: stored, orientation: orientation, target: TargetSize(width: 60, height: 90))
        let upright = ResizePlan(stored: display, target: TargetSize(width: 60, height: 90))
        #expect(plan.outputDisplay == upright.outputDisplay)
        #expect(plan.outputStored == orientation.storedSize(of: upright.outputDisplay))
    }

    @Test(arguments: Orientation.allCases) func turningBeforeOrAfterTheCropIsTheSame(_ orientation: Orientation) throws
    {
        let pixels = try PixelBuffer.random(PixelSize(23, 14), alpha: .opaque, seed: 1)
        let target = TargetSize(width: 50, height: 40, fit: .cover)
        let plan = ResizePlan(stored: pixels.size, orientation: orientation, target: target)
        let after = try Resampler.resample(pixels, alpha: .opaque, crop: plan.crop, to: plan.outputStored)
            .oriented(by: orientation)
        let upright = try pixels.oriented(by: orientation)
        let turned = ResizePlan(stored: upright.size, target: target)
        let before = try Resampler.resample(upright, alpha: .opaque, crop: turned.crop, to: turned.outputStored)
        #expect(after.size == plan.outputDisplay)
        let worst = zip(after.channels, before.channels).map { abs($0 - $1) }.max() ?? 0
        #expect(worst <= 1)
    }

    @Test func randomTargetsKeepEveryRule() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            let stored = PixelSize(Int.random(in: 1...3000, using: &random), Int.random(in: 1...3000, using: &random))
            let target = TargetSize(
                width: Int.random(in: 1...4000, using: &random), height: Int.random(in: 1...4000, using: &random),
                fit: ImageFit.allCases.randomElement(using: &random) ?? .contain,
                upscale: Bool.random(using: &random))
            let plan = ResizePlan(stored: stored, target: target)
            let (output, crop) = (plan.outputStored, plan.crop)
            #expect(output.width >= 1 && output.height >= 1)
            #expect(output.width <= target.width ?? 0 && output.height <= target.height ?? 0, "\(stored) \(target)")
            if !target.upscale { #expect(stored.covers(output), "\(stored) \(target)") }
            #expect(crop.x >= 0 && crop.y >= 0 && crop.width > 0 && crop.height > 0)
            #expect(crop.x + crop.width <= Double(stored.width) + 1e-9)
            #expect(crop.y + crop.height <= Double(stored.height) + 1e-9)
            let margins = (
                Double(stored.width) - crop.width - 2 * crop.x, Double(stored.height) - crop.height - 2 * crop.y
            )
            #expect(abs(margins.0) <= 1 && abs(margins.1) <= 1, "not in the centre")
        }
    }

    @Test func absurdTargetsDoNotTrap() {
        for (stored, target) in [
            (PixelSize(1, 1_000_000), TargetSize(width: .max, upscale: true)),
            (PixelSize(.max, .max), TargetSize(width: .max, height: 1, fit: .cover, upscale: true)),
            (PixelSize(0, 5), TargetSize(width: 5, height: 5)),
            (PixelSize(-3, 5), TargetSize(width: 5, height: 5, fit: .fill)),
        ] {
            _ = ResizePlan(stored: stored, target: target).outputDisplay
            _ = ResizePlan(stored: stored, byteLimit: ByteCount(.max), frames: 1).outputDisplay
        }
    }

    @Test func aByteLimitKeepsTheAspectAndHolds() {
        let size = PixelSize(5250, 3450)
        #expect(ResizePlan(stored: size, byteLimit: ByteCount(5250 * 3450 * 4)).isIdentity)
        let plan = ResizePlan(stored: size, byteLimit: ByteCount(4_000_000))
        #expect(plan.outputDisplay == PixelSize(1233, 810))
        let frames = ResizePlan(stored: size, byteLimit: ByteCount(4_000_000), frames: 10)
        #expect(frames.outputDisplay == PixelSize(390, 256))
        for (limit, frames) in [(3, 1), (0, 1), (-9, 1), (100, 600)] {
            let least = ResizePlan(stored: size, byteLimit: ByteCount(limit), frames: frames)
            #expect(least.outputDisplay == PixelSize(1, 1))
        }
        let deep = ResizePlan(stored: size, byteLimit: ByteCount(4_000_000), bytesPerPixel: 8)
        #expect((deep.outputStored.pixelCount ?? 0) * 8 <= 4_000_000)
        let strip = ResizePlan(stored: PixelSize(10_000, 1), byteLimit: ByteCount(200))
        #expect(strip.outputDisplay == PixelSize(50, 1))
        let turned = ResizePlan(stored: size, orientation: .right, byteLimit: ByteCount(4_000_000))
        #expect(turned.outputStored == PixelSize(1233, 810) && turned.outputDisplay == PixelSize(810, 1233))
    }

    @Test func theDecoderDividesAsFarAsTheMarginAllows() {
        let plan = ResizePlan(stored: PixelSize(4000, 3000), target: TargetSize(width: 256))
        #expect(plan.scaleDenominator(from: [1, 2, 4, 8], margin: { _ in 1 }) == 8)
        #expect(plan.scaleDenominator(from: [8, 4, 1], margin: { _ in 2 }) == 4)
        #expect(plan.scaleDenominator(from: [1, 2, 4, 8], margin: { _ in 4 }) == 2)
        #expect(plan.scaleDenominator(from: [1, 2, 4, 8], margin: { _ in 8 }) == 1)
        #expect(plan.scaleDenominator(from: []) == 1)
        #expect(plan.scaleDenominator(from: [0, -2]) == 1)
        let stretched = ResizePlan(
            stored: PixelSize(4000, 3000), target: TargetSize(width: 100, height: 3000, fit: .fill))
        #expect(stretched.scaleDenominator(from: [1, 2, 4, 8]) == 1)
        let cropped = ResizePlan(
            stored: PixelSize(4000, 1000), target: TargetSize(width: 250, height: 250, fit: .cover))
        #expect(cropped.scaleDenominator(from: [1, 2, 4, 8], margin: { _ in 2 }) == 2)
        #expect(cropped.crop(dividedBy: 2) == PixelRect(x: 750, y: 0, width: 500, height: 500))
        let odd = ResizePlan(stored: PixelSize(4001, 3001), target: TargetSize(width: 100))
        #expect(odd.crop(dividedBy: 8) == PixelRect(x: 0, y: 0, width: 500.125, height: 375.125))
    }

    @Test func theSmallestSourceThatIsLargeEnoughIsTaken() {
        let sizes = [16, 32, 48, 256].map { PixelSize($0, $0) }
        let stored = PixelSize(256, 256)
        for (side, expected) in [(8, 16), (16, 16), (17, 32), (48, 48), (49, 256), (256, 256)] {
            let plan = ResizePlan(stored: stored, target: TargetSize(width: side, height: side))
            #expect(plan.source(among: sizes) == PixelSize(expected, expected))
        }
        let cropped = ResizePlan(stored: stored, target: TargetSize(width: 32, height: 16, fit: .cover))
        let moved = ResizePlan(cropped, from: PixelSize(48, 48))
        #expect(moved.outputStored == PixelSize(32, 16) && moved.crop == PixelRect(x: 0, y: 12, width: 48, height: 24))
        let same = ResizePlan(ResizePlan(stored: stored, target: TargetSize(width: 32)), from: PixelSize(32, 32))
        #expect(same.isIdentity)
        let larger = ResizePlan(stored: stored, target: TargetSize(width: 300, upscale: true))
        #expect(larger.source(among: sizes) == nil)
    }
}
