import WebImage
import WebImageTesting

/// The cost of playing an animation, compared with decoding its frames one after the other: CPU time of the process for
/// each frame, over a hundred frames of each file. Bar: 1.1 times.
@MainActor enum PlayBench {
    static func run() async throws {
        let manager = ImageManager(configuration: quiet)
        let gif = BlinkingGIF.file(width: 400, height: 300, frames: 100, hundredths: 2)
        let first = try await manager.image(for: ImageRequest(data: gif, name: "a.gif")).image
        let webP = try await manager.encode(first, as: .webp, EncodeOptions(quality: 80))
        for (name, file) in [("GIF", gif), ("WebP", webP)] {
            var (played, decoded, ratios) = ([Double](), [Double](), [Double]())
            for _ in 0..<7 {
                let (one, other) = (try await play(file, by: manager), try await decode(file, by: manager))
                played.append(one)
                decoded.append(other)
                ratios.append(one / other)
            }
            print(
                "\(name), 400 x 300: played \(Measure.text(Measure.median(played), 1)) us a frame, decoded "
                    + "\(Measure.text(Measure.median(decoded), 1)) us, ratio \(Measure.text(Measure.median(ratios)))")
        }
    }

    private static var quiet: ImageManager.Configuration {
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        return configuration
    }

    private static func animation(_ file: [UInt8], by manager: ImageManager) async throws -> Image {
        let image = try await manager.image(for: ImageRequest(data: file, name: "animation")).image
        // The buffer has room only for the frames that a player decodes ahead. Each frame is decoded once, and none is
        // kept from before.
        image.animation?.bufferLimit = .mebibytes(4)
        return image
    }

    private static func play(_ file: [UInt8], by manager: ImageManager) async throws -> Double {
        let image = try await animation(file, by: manager)
        let clock = StepClock()
        guard let player = AnimatedImagePlayer(image, clock: clock) else { return 0 }
        let begin = Measure.processCPU
        player.play()
        for _ in 0..<99 {
            await withCheckedContinuation { continuation in
                player.onFrame = { _, _ in continuation.resume() }
                clock.step()
            }
        }
        return (Measure.processCPU - begin) / 99
    }

    private static func decode(_ file: [UInt8], by manager: ImageManager) async throws -> Double {
        let image = try await animation(file, by: manager)
        let begin = Measure.processCPU
        for index in 1..<100 { _ = try await image.animation?.frame(at: index) }
        return (Measure.processCPU - begin) / 99
    }
}

/// A clock that jumps to the time of the next call.
@MainActor private final class StepClock: FrameClock {
    private(set) var now: Duration = .zero
    private var next: (time: Duration, body: @MainActor () -> Void)?

    func wake(at time: Duration, _ body: @escaping @MainActor () -> Void) -> FrameWake {
        next = (time, body)
        return FrameWake { [weak self] in self?.next = nil }
    }

    func step() {
        guard let next else { return }
        self.next = nil
        now = max(now, next.time)
        next.body()
    }
}
