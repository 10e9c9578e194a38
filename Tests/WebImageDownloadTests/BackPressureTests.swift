import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// The network is paused only when all logs together hold too much memory and their files are not written fast enough.
@Suite struct BackPressureTests {
    private let configuration = DownloadConfiguration.with {
        $0.memoryPerTransfer = .kibibytes(256)
        $0.memoryForAll = .mebibytes(1)
        $0.deadlines = DownloadDeadlines(idle: .seconds(3))
    }

    private func downloader(
        _ transport: any HTTPTransport, _ executor: any WorkExecutor, clock: ManualClock = ManualClock()
    ) -> ImageDownloader {
        ImageDownloader(
            configuration: configuration, transport: transport, clock: clock, executor: executor,
            files: PosixFileSystem())
    }

    @Test func aDiskThatDoesNotFollowStopsTheNetworkAndNothingIsLost() async throws {
        let transport = FakeTransport(.inline)
        let body = pattern(4 << 20)
        transport.answer("http://h/a", .bytes(body))
        let executor = HeldExecutor()
        let clock = ManualClock()
        let downloader = downloader(transport, executor, clock: clock)
        let download = downloader.download(DownloadRequest(url: "http://h/a"))
        // The transport delivers inline: every byte that can arrive has arrived when the call returns.
        let standing = download.log.receivedCount
        #expect(standing >= 1 << 20 && standing < (1 << 20) + (128 << 10))
        #expect(download.log.end == nil)
        // Deadlines do not run while the transfer is paused.
        clock.advance(by: .seconds(60))
        #expect(download.log.end == nil)
        executor.runAll()
        #expect(download.log.end?.name == "complete")
        #expect(try download.log.collect() == body)
    }

    @Test func aReaderThatDoesNotReadStopsNothing() async throws {
        let transport = FakeTransport(.inline)
        let body = pattern(4 << 20)
        transport.answer("http://h/a", .bytes(body))
        let pool = ThreadPool(name: "test", width: 1)
        let downloader = downloader(transport, pool)
        let download = downloader.download(DownloadRequest(url: "http://h/a"))
        #expect(await download.log.ended().name == "complete")
        #expect(download.log.receivedCount == body.count)
        #expect(downloader.counters.running == 0)
    }

    @Test func aPausedTransferCanBeCancelled() async throws {
        let transport = FakeTransport(.inline)
        transport.answer("http://h/a", .bytes(pattern(4 << 20)))
        let executor = HeldExecutor()
        let downloader = downloader(transport, executor)
        let download = downloader.download(DownloadRequest(url: "http://h/a"))
        download.cancel()
        #expect(download.log.end?.name == "cancelled")
        #expect(transport.cancels("http://h/a") == 1)
        executor.runAll()
        #expect(downloader.counters.running == 0)
    }

    @Test func everyByteArrivesOverARealSocket() async throws {
        let server = try OriginServer()
        let body = pattern(6 << 20)
        for index in 0..<4 { server.serve("/\(index)", .bytes(body, contentType: "image/png")) }
        let downloader = ImageDownloader(
            configuration: configuration, transport: nil, clock: ManualClock(),
            executor: ThreadPool(name: "test", width: 1), files: PosixFileSystem())
        let downloads = (0..<4).map { downloader.download(DownloadRequest(url: server.url("/\($0)"))) }
        for download in downloads { #expect(try await download.log.allBytes().array == body) }
        #expect(downloader.counters.running == 0)
    }
}
