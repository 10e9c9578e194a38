import Synchronization
import Testing
import WebImage
import WebImageCore
import WebImageSystem
import WebImageTesting

/// The help of idle decode threads with the transforms of one large picture.
@Suite struct SharedTransformTests {
    /// Records the threads that work, and lets the first one wait for a second.
    private final class Meeting: Sendable {
        private let threads = Guarded<Set<UInt>>([])
        private let second = Gate()

        var count: Int { threads.withLock { $0.count } }

        func come(waits: Bool) {
            let count = threads.withLock { threads in
                threads.insert(CurrentThread.id)
                return threads.count
            }
            if count > 1 { second.open() } else if waits { second.wait() }
        }
    }

    private func request(_ width: Int, _ meeting: Meeting, waits: Bool) throws -> ImageRequest {
        var request = ImageRequest(data: try Fixture.png(width, 800), name: "picture")
        request.transformers = [
            ImageTransform.customPixels(id: "meeting") { _ in meeting.come(waits: waits) }, ImageTransform.invert,
        ]
        return request
    }

    @Test func anIdleThreadTakesAPartOfALargePicture() async throws {
        var configuration = ImageManager.Configuration()
        (configuration.disk, configuration.decodeThreads) = (nil, 2)
        let meeting = Meeting()
        let manager = ImageManager(configuration: configuration)
        let image = try await manager.image(for: try request(1000, meeting, waits: true)).image
        #expect(meeting.count == 2 && image.size == PixelSize(width: 1000, height: 800))
    }

    @Test func aSmallPictureIsMadeByOneThread() async throws {
        var configuration = ImageManager.Configuration()
        (configuration.disk, configuration.decodeThreads) = (nil, 2)
        let meeting = Meeting()
        let manager = ImageManager(configuration: configuration)
        _ = try await manager.image(for: try request(300, meeting, waits: false)).image
        #expect(meeting.count == 1)
    }
}
