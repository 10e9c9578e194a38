import Synchronization
import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageProcessing

/// A chain that several threads share by bands of rows gives the same pixels as on one thread.
@Suite struct TransformBandTests {
    /// Runs the parts from the last to the first, so that no part can depend on an earlier one.
    private final class Backwards: IdleThreads {
        let shared = Atomic(0)
        let parts = Atomic(0)
        let idleCount: Int

        init(_ idleCount: Int) { self.idleCount = idleCount }

        func share(_ count: Int, _ part: @escaping @Sendable (Int) -> Void) {
            shared.add(1, ordering: .relaxed)
            parts.add(count, ordering: .relaxed)
            for number in (0..<count).reversed() { part(number) }
        }

        func share(_ work: () -> Void, with help: @escaping @Sendable (_ goesOn: @escaping () -> Bool) -> Void) {
            work()
        }
    }

    private static let mark = try? Image(size: PixelSize(9, 5)) { bytes in
        for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index &* 37) }
    }

    private static let stages: [[ImageTransform]] = [
        [.contrast(1.4), .gamma(1.3), .saturation(1.2)],
        [.blur(sigma: 0.8)],
        [.blur(sigma: 6)],
        [.sharpen(sigma: 1.5, amount: 0.8)],
        [.sharpen(sigma: 4, amount: 1.8)],
        [.resize(width: 23)],
        [.resize(width: 31, filter: .box)],
        [.resize(width: 300, upscale: true, filter: .bicubic)],
        [.crop(PixelRect(x: 3, y: 5, width: 90, height: 100)), .gray(0.5), .resize(width: 41)],
        [.pixelate(7)],
        [.roundCorners(20, border: 1), .gray()],
        [.vignette(), .crop(.circle)],
        mark.map { [.watermark($0, at: .bottomRight, scale: 0.3, opacity: 0.6), .opacity(0.7)] } ?? [],
        [.blur(sigma: 3), .resize(width: 50), .sharpen(sigma: 1), .tint(.white, mode: .screen), .turn(quarters: 1)],
        [.customNeighbors(id: "mean", reach: 2) { ($0[-2, 1] + $0[2, -2] + $0[0, 0]) / 3 }, .invert],
        [.rotate(degrees: 10), .blur(sigma: 2)],
    ]

    @Test(arguments: 0..<stages.count, [PixelLayout.rgba8, .rgba16])
    func bandsOfSeveralThreadsGiveTheWholePicture(_ number: Int, _ layout: PixelLayout) throws {
        let chain = Self.stages[number]
        for alpha in [AlphaMode.opaque, .straight, .premultiplied] {
            let pixels = try PixelBuffer.random(PixelSize(130, 203), layout, alpha: alpha, seed: UInt64(number))
            if alpha == .premultiplied { pixels.premultiply() }
            let image = Image(pixels: pixels, info: Image.Info(alpha: alpha))
            let program = try TransformProgram(chain, size: image.size, isOpaque: alpha == .opaque)
            let whole = try program.run(image)
            for idle in [1, 2, 7] {
                let threads = Backwards(idle)
                let helpers = TransformProgram.Helpers(threads, minPixels: 0, maxRepeated: .infinity)
                let made = try program.run(image, with: helpers)
                #expect(made.size == whole.size && made.pixels.channels == whole.pixels.channels, "\(idle) \(alpha)")
                #expect(threads.shared.load(ordering: .relaxed) >= 1)
                #expect(threads.parts.load(ordering: .relaxed) >= 2 * (1 + idle))
            }
        }
    }

    /// The work is not shared if that would not pay, or if each band would need too many rows of the picture.
    @Test func aSmallPictureAndAWideFilterAreNotParted() throws {
        let image = Image(
            pixels: try PixelBuffer.random(PixelSize(130, 203), alpha: .opaque, seed: 1),
            info: Image.Info(alpha: .opaque))
        func parts(_ chain: [ImageTransform], _ idle: Int, _ make: (Backwards) -> TransformProgram.Helpers) throws
            -> Int
        {
            let threads = Backwards(idle)
            let program = try TransformProgram(chain, size: image.size, isOpaque: true)
            _ = try program.run(image, with: make(threads))
            return threads.parts.load(ordering: .relaxed)
        }
        #expect(try parts([.blur(sigma: 2)], 1) { TransformProgram.Helpers($0) } == 0)
        #expect(try parts([.blur(sigma: 60)], 1) { TransformProgram.Helpers($0, minPixels: 0) } == 0)
        #expect(try parts([.gray()], 1) { TransformProgram.Helpers($0, minPixels: 0) } == 0)
        let two: [ImageTransform] = [.gamma(2), .saturation(2)]
        #expect(try parts(two, 0) { TransformProgram.Helpers($0, minPixels: 0) } == 0)
        #expect(try parts(two, 1) { TransformProgram.Helpers($0, minPixels: 0) } == 4)
        // A chain with a canvas runs on one thread.
        #expect(try parts([.blur(sigma: 1), .pad(3)], 1) { TransformProgram.Helpers($0, minPixels: 0) } == 0)
    }

    /// The error of one band is the error of the whole chain.
    @Test func aBandThatFailsFailsAll() throws {
        let image = Image(
            pixels: try PixelBuffer.random(PixelSize(130, 203), alpha: .opaque, seed: 1),
            info: Image.Info(alpha: .opaque))
        let pass = TransformPass(view: PixelRect(image.size))
        let bands = [PassBand(rows: [0..<5], source: 0..<5), PassBand(rows: [5..<9], source: 5..<9)]
        #expect(throws: WebImageError.self) {
            try pass.share(bands, with: TransformProgram.Helpers(Backwards(1))) { (band) throws(WebImageError) in
                if band.source.lowerBound == 5 { throw WebImageError(.limitExceeded, "no memory") }
            }
        }
    }
}
