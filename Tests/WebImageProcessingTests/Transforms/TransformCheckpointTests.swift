import Synchronization
import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageProcessing

/// A program calls its checkpoint between rows, and its error ends the work.
@Suite struct TransformCheckpointTests {
    private static let chains: [[ImageTransform]] = [
        [.contrast(1.4)],
        [.roundCorners(20)],
        [.blur(sigma: 0.8)],
        [.blur(sigma: 30)],
        [.sharpen(sigma: 1.5, amount: 0.8)],
        [.sharpenLightness(sigma: 2)],
        [.resize(width: 300, upscale: true)],
        [.resize(width: 1, height: 1, fit: .fill)],
        [.blur(sigma: 3), .gray(), .resize(width: 1, height: 1, fit: .fill)],
        [.gray(), .resize(width: 1, height: 1, fit: .fill)],
        [.pixelate(7)],
        [.pad(40)],
        [.vignette(), .crop(PixelRect(x: 3, y: 5, width: 90, height: 100))],
        [.customNeighbors(id: "mean", reach: 2) { ($0[-2, 1] + $0[2, -2] + $0[0, 0]) / 3 }],
        [.rotate(degrees: 10)],
        [.trim()],
        [.trim(), .gray(), .turn(quarters: 1), .blur(sigma: 2)],
    ]

    /// A checkpoint that counts its calls and throws after a number of them.
    private final class Counter: Sendable {
        let calls = Atomic(0)
        private let last: Int

        init(throwsAfter last: Int = .max) { self.last = last }

        func check() throws(WebImageError) {
            if calls.add(1, ordering: .relaxed).newValue > last { throw .cancelled }
        }
    }

    @Test(arguments: 0..<chains.count) func theErrorEndsTheProgramAtTheNextRow(_ number: Int) throws {
        let image = Image(
            pixels: try PixelBuffer.random(PixelSize(130, 203), alpha: .opaque, seed: UInt64(number)),
            info: Image.Info(alpha: .opaque))
        let program = try TransformProgram(Self.chains[number], size: image.size, isOpaque: true)
        let counter = Counter()
        let whole = try program.run(image, checkpoint: { () throws(WebImageError) in try counter.check() })
        #expect(whole.pixels.channels == (try program.run(image)).pixels.channels)
        let calls = counter.calls.load(ordering: .relaxed)
        #expect(calls > 10)
        for last in [0, 1, calls / 2, calls - 1] {
            let ending = Counter(throwsAfter: last)
            let error = #expect(throws: WebImageError.self) {
                try program.run(image, checkpoint: { () throws(WebImageError) in try ending.check() })
            }
            #expect(error?.code == .cancelled && ending.calls.load(ordering: .relaxed) == last + 1)
        }
    }
}
