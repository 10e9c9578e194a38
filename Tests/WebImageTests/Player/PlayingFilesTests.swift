import Testing
import WebImageCore
import WebImageTesting

@testable import WebImage

/// Plays three files of a hundred frames at a time, and checks for the right frame at the right time within the memory
/// limit.
@MainActor @Suite struct PlayingFilesTests {
    private static let frames = 100
    private static let (width, height) = (48, 36)

    private func gif(hundredths: Int) -> [UInt8] {
        BlinkingGIF.file(
            width: Self.width, height: Self.height, frames: Self.frames, hundredths: hundredths, loops: 0)
    }

    private func image(_ bytes: [UInt8], _ name: String, by manager: ImageManager) async throws -> Image {
        let image = try await manager.image(for: ImageRequest(data: bytes, name: name)).image
        let animation = try #require(image.animation)
        try #require(animation.frameCount == Self.frames)
        // The buffer has room for ten frames.
        animation.bufferLimit = ByteCount(10 * Self.width * Self.height * 4)
        return image
    }

    @Test func threeAnimationsKeepTheirTimeWithinTheirMemory() async throws {
        let bench = TestBench()
        let first = try await image(gif(hundredths: 5), "a.gif", by: bench.manager)
        let second = try await image(gif(hundredths: 7), "b.gif", by: bench.manager)
        let webP = try await bench.manager.encode(first, as: .webp, EncodeOptions(isLossless: true))
        let third = try await image(webP, "c.webp", by: bench.manager)
        let clock = ManualFrameClock()
        let watched = try [first, second, third].map { try Watched($0, clock) }
        for one in watched { one.player.play() }
        // Plays until each animation has completed a round and begun the next.
        for _ in 0..<(107 * 7) {
            clock.advance(by: .milliseconds(10))
            // The clock advances only when every due frame is decoded, however long that takes.
            guard await eventually({ watched.allSatisfy { $0.isUpToDate(at: clock.now) } }) else {
                Issue.record("a frame that is due is not there")
                return
            }
        }
        for one in watched {
            #expect(one.wrong == 0 && one.late == 0)
            #expect(one.shown.count >= Self.frames && one.player.currentLoop >= 1)
            #expect(one.maxKept <= one.player.animation.bufferLimit.bytes + 3 * Self.width * Self.height * 4)
        }
    }

    /// A player whose frames are checked as they are shown.
    @MainActor private final class Watched {
        let player: AnimatedImagePlayer
        private(set) var shown: [Int] = []
        private(set) var wrong = 0
        private(set) var late = 0
        private(set) var maxKept = 0
        private let delay: Duration

        init(_ image: Image, _ clock: ManualFrameClock) throws {
            player = try #require(AnimatedImagePlayer(image, clock: clock))
            delay = try #require(image.animation?.delays.first)
            player.onFrame = { [unowned self, unowned clock] frame, index in
                shown.append(index)
                let color = frame.withPixels { Array($0.prefix(3)) }
                if color != BlinkingGIF.colors[index % 4] { wrong += 1 }
                // The test's clock advances in steps of ten milliseconds, so the check is no more exact than that.
                if index != expected(at: clock.now) { late += 1 }
                maxKept = max(maxKept, player.animation.keptByteCount.bytes)
            }
        }

        private func expected(at time: Duration) -> Int { Int(time / delay + 0.001) % PlayingFilesTests.frames }

        func isUpToDate(at time: Duration) -> Bool { player.currentIndex == expected(at: time) && player.isSettled }
    }
}
