import Foundation
import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageCodecs

/// A worker uses as many threads of its own as its host has idle ones, and gives the same result with them.
@Suite(.enabled(if: Workers.areAvailable)) struct IsolatedThreadsTests {
    /// A host that states a number of idle threads. It records an issue if their help is asked for in the host itself.
    private final class IdleHost: IdleThreads {
        let idleCount: Int

        init(_ idleCount: Int) { self.idleCount = idleCount }

        func share(_ count: Int, _ part: @escaping @Sendable (Int) -> Void) {
            Issue.record("a picture that is decoded elsewhere was shared here")
        }

        func share(_ work: () -> Void, with help: @escaping @Sendable (_ goesOn: @escaping () -> Bool) -> Void) {
            Issue.record("a picture that is decoded elsewhere was shared here")
        }
    }

    /// Files that are large enough for other threads to help.
    private static func files() throws -> [(ImageFormat, [UInt8])] {
        let image = try SamplePictures.grainySunset(PixelSize(width: 1100, height: 800))
        let large = try Image(size: PixelSize(width: 4000, height: 2100), alpha: .opaque) { bytes in
            for place in bytes.indices { bytes[place] = place % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: place >> 9) }
        }
        var options = EncodeOptions()
        (options.avifSpeed, options.webpEffort, options.jxlEffort) = (10, 0, 1)
        let formats: [ImageFormat] = [.png, .webp, .avif, .jxl]
        let registry = CoderRegistry.standard
        return try formats.filter { registry.encodableFormats.contains($0) }.map { format in
            (format, try registry.encoder(for: format).encode(format == .png ? large : image, as: format, options))
        }
    }

    @Test func helpingThreadsDecodeTheSamePixels() throws {
        for (format, bytes) in try Self.files() {
            let coder = try bytes.withUnsafeBytes { try CoderRegistry.standard.coder(for: format, prefix: $0) }
            let near = DecodeOutcome(coder, bytes)
            #expect(near.error == nil, "\(format)")
            for idle in [0, 1, 3, 100] {
                let pool = DecoderPool(.all)
                defer { pool.shutDown() }
                var options = DecodeOptions()
                options.idleThreads = IdleHost(idle)
                let far = DecodeOutcome(IsolatedCoder(coder: coder, pool: pool), bytes, options, keepsWhole: false)
                #expect(far.error == nil && far.rows == near.rows && far.hasSamePixels(as: near), "\(format), \(idle)")
                // The worker's helping threads stay alive for seconds.
                guard format == .png, let worker = pool.processNumbers.first else { continue }
                let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(worker)/task").count
                #expect((threads > 1) == (idle > 0), "\(threads) threads with \(idle)")
            }
        }
    }
}
