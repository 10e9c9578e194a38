import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// When the storing of bodies is behind, transfers of low priority are paused, and no others.
@Suite struct TransferBrakeTests {
    private let transport = FakeTransport(.inline)
    private let clock = ManualClock()
    private let body = pattern(2 << 20)
    private let downloader: ImageDownloader

    init() {
        transport.answer("http://h/a", .bytes(body))
        downloader = ImageDownloader(
            configuration: .with { $0.deadlines = DownloadDeadlines(idle: .seconds(3)) }, transport: transport,
            clock: clock, executor: HeldExecutor(), files: PosixFileSystem())
    }

    private func download(_ priority: LoadPriority) -> Download {
        downloader.download(DownloadRequest(url: "http://h/a"), priority: priority)
    }

    // The transport delivers inline: every byte that can arrive has arrived when a call returns.

    @Test(arguments: [LoadPriority.veryLow, .low])
    func lowPriorityTransfersPauseUntilTheBrakeIsReleased(priority: LoadPriority) throws {
        downloader.brake.pull()
        let download = download(priority)
        #expect(download.log.receivedCount < 256 << 10 && download.log.end == nil)
        // The transfer is paused, which does not count as slow.
        clock.advance(by: .seconds(60))
        #expect(download.log.end == nil)
        downloader.brake.release()
        #expect(download.log.end?.name == "complete")
        #expect(try download.log.collect() == body)
    }

    @Test(arguments: [LoadPriority.normal, .high])
    func transfersOfNormalOrHighPriorityAreNotBraked(priority: LoadPriority) {
        downloader.brake.pull()
        #expect(download(priority).log.end?.name == "complete")
    }

    @Test func aRaisedPriorityEndsThePause() {
        downloader.brake.pull()
        let download = download(.veryLow)
        download.setPriority(.low)
        #expect(download.log.end == nil)
        download.setPriority(.normal)
        #expect(download.log.end?.name == "complete")
    }

    @Test func joiningWithAHigherPriorityEndsThePause() {
        downloader.brake.pull()
        let early = download(.veryLow)
        #expect(early.log.end == nil)
        let late = download(.normal)
        #expect(late.wasJoined && early.log.end?.name == "complete")
    }

    @Test func twoPullsOfTheBrakeNeedTwoReleases() {
        downloader.brake.pull()
        downloader.brake.pull()
        let download = download(.low)
        downloader.brake.release()
        #expect(download.log.end == nil)
        downloader.brake.release()
        #expect(download.log.end?.name == "complete")
    }

    @Test func aPausedTransferCanBeCancelled() {
        downloader.brake.pull()
        let download = download(.low)
        download.cancel()
        #expect(download.log.end?.name == "cancelled" && transport.cancels("http://h/a") == 1)
        downloader.brake.release()
        #expect(downloader.counters.running == 0)
    }

    private struct Bringer: ImageLoader {
        let name = "bringer"

        func canLoad(_ url: String) -> Bool { true }

        func load(_ url: String, to receiver: ImageReceiver) async throws {
            for _ in 0..<3 { try await receiver.receive([1, 2, 3]) }
        }
    }

    @Test func aLoaderPausesUntilItsPriorityIsRaised() async throws {
        downloader.brake.pull()
        var request = DownloadRequest(url: "s:a")
        request.loader = Bringer()
        let (low, raised) = (
            downloader.download(request, priority: .low), downloader.download(request, priority: .veryLow)
        )
        await withCheckedContinuation { continuation in
            low.log.whenReadable(after: 0) { continuation.resume() }
        }
        #expect(low.log.end == nil && low.log.receivedCount == 3)
        raised.setPriority(.high)
        #expect(await low.log.ended().name == "complete")
        #expect(try low.log.collect() == [1, 2, 3, 1, 2, 3, 1, 2, 3])
    }

    @Test func aLoaderGoesOnWhenTheBrakeIsReleased() async throws {
        downloader.brake.pull()
        var request = DownloadRequest(url: "s:b")
        request.loader = Bringer()
        let download = downloader.download(request, priority: .low)
        await withCheckedContinuation { continuation in
            download.log.whenReadable(after: 0) { continuation.resume() }
        }
        #expect(download.log.receivedCount == 3)
        downloader.brake.release()
        #expect(await download.log.ended().name == "complete")
    }
}
