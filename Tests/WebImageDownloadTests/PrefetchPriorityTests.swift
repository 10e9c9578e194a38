import HTTPTypes
import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// A transport on which every transfer takes one second of the manual clock.
private final class SecondLongTransport: HTTPTransport {
    private final class Running: TransportTransfer {
        let receiver: Guarded<(any TransportReceiver)?>
        init(_ receiver: any TransportReceiver) { self.receiver = Guarded(receiver) }

        private func take() -> (any TransportReceiver)? {
            receiver.withLock { receiver in
                defer { receiver = nil }
                return receiver
            }
        }

        func cancel() { take()?.didFinish(.failure(.cancelled)) }
        func pause() {}
        func resume() {}

        func answer() {
            guard let receiver = take() else { return }
            receiver.didConnect()
            receiver.didReceive(head: ResponseHead(status: 200))
            _ = [1].withUnsafeBytes { receiver.didReceive($0) }
            receiver.didFinish(.success(TransportTimings()))
        }
    }

    let clock: ManualClock
    init(clock: ManualClock) { self.clock = clock }

    func start(_ request: TransportRequest, receiver: any TransportReceiver) -> any TransportTransfer {
        let running = Running(receiver)
        _ = clock.schedule(at: clock.now + .seconds(1)) { running.answer() }
        return running
    }

    func shutDown() {}
}

@Suite struct PrefetchPriorityTests {
    private func downloader(_ clock: ManualClock, reserved: Int) -> ImageDownloader {
        ImageDownloader(
            configuration: .with { $0.reservedForUrgent = reserved }, transport: SecondLongTransport(clock: clock),
            clock: clock, executor: HeldExecutor(), files: PosixFileSystem())
    }

    /// 200 pictures of low priority, and at random moments one picture that somebody looks at.
    @Test(arguments: [0, 1, 2], [UInt64(1), 2, 3])
    func prefetchingDoesNotDelayVisiblePictures(_ reserved: Int, _ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let clock = ManualClock()
        let downloader = downloader(clock, reserved: reserved)
        let prefetched = (0..<200).map {
            downloader.download(DownloadRequest(url: "http://h/\($0)"), priority: .low)
        }
        var worst = Duration.zero
        var seen = 0
        while prefetched.contains(where: { $0.log.end == nil }) {
            clock.advance(by: .milliseconds(Int.random(in: 1...1700, using: &random)))
            let visible = downloader.download(DownloadRequest(url: "http://h/visible/\(seen)"), priority: .high)
            clock.advance(by: .seconds(2))
            guard let metrics = visible.metrics else { return #expect(Bool(false), "not there after two seconds") }
            worst = max(worst, metrics.queued)
            seen += 1
        }
        #expect(seen > 10)
        // Without reserved slots the picture waits for at most one transfer; with reserved slots it does not wait.
        #expect(worst <= (reserved == 0 ? .seconds(1) : .zero))
    }

    /// 2000 pictures are prefetched, and 50 are looked at, all at once or one after another. The 50 wait exactly as
    /// long as they would without the prefetched ones.
    @Test(arguments: [UInt64(1), 2, 3, 4]) func prefetchingAtVeryLowPriorityTakesNoSlotAway(_ seed: UInt64) {
        func waits(prefetched count: Int) -> (waits: [Duration], prefetched: Int) {
            var random = SeededGenerator(seed: seed)
            let clock = ManualClock()
            let downloader = downloader(clock, reserved: 1)
            let prefetched = (0..<count).map {
                downloader.download(DownloadRequest(url: "http://h\($0 % 3)/\($0)"), priority: .veryLow)
            }
            clock.advance(by: .milliseconds(300))
            var seen: [Download] = []
            for number in 0..<50 {
                if seed > 1 { clock.advance(by: .milliseconds(Int.random(in: 0..<400, using: &random))) }
                let priority: LoadPriority = number % 2 == 0 ? .normal : .low
                seen.append(
                    downloader.download(
                        DownloadRequest(url: "http://h\(number % 3)/visible/\(number)"), priority: priority))
            }
            clock.advance(by: .seconds(20))
            return (seen.compactMap { $0.metrics?.queued }, prefetched.count { $0.log.end != nil })
        }
        let (alone, beside) = (waits(prefetched: 0), waits(prefetched: 2000))
        #expect(alone.waits.count == 50 && beside.waits == alone.waits)
        // Prefetching continued meanwhile.
        #expect(beside.prefetched > 60)
    }

    /// A picture that waits to be prefetched runs next when somebody looks at it.
    @Test func aPrefetchedPictureGoesFirstOnceItIsVisible() {
        let clock = ManualClock()
        let downloader = downloader(clock, reserved: 1)
        let prefetched = (0..<200).map {
            downloader.download(DownloadRequest(url: "http://h/\($0)"), priority: .low)
        }
        clock.advance(by: .milliseconds(500))
        let visible = downloader.download(DownloadRequest(url: "http://h/199"), priority: .high)
        #expect(visible.wasJoined && visible.log === prefetched[199].log)
        clock.advance(by: .seconds(1))
        #expect(visible.log.end?.name == "complete")
        #expect(prefetched.filter { $0.log.end != nil }.count == 6)
    }

    /// The `Priority` field of RFC 9218 matters on connections that many requests share. It states the priority at the
    /// moment when the request is sent.
    @Test func prioritiesAreSentInThePriorityField() throws {
        let transport = FakeTransport(.inline)
        let downloader = ImageDownloader(
            configuration: .with { $0.maxConcurrent = 1 }, transport: transport, clock: ManualClock(),
            executor: HeldExecutor(), files: PosixFileSystem())
        func field(_ url: String) -> String? { transport.requests.first { $0.url == url }?.headers[.priority] }
        var downloads: [Download] = []
        downloader.isSuspended = true
        downloads.append(downloader.download(DownloadRequest(url: "https://h/low"), priority: .low))
        downloads.append(downloader.download(DownloadRequest(url: "https://h/later"), priority: .veryLow))
        downloads.append(downloader.download(DownloadRequest(url: "https://h/normal")))
        downloads.append(downloader.download(DownloadRequest(url: "https://h/high"), priority: .high))
        downloads.append(downloader.download(DownloadRequest(url: "http://h/alone"), priority: .high))
        let raised = downloader.download(DownloadRequest(url: "https://h/raised"), priority: .low)
        raised.setPriority(.high)
        var own = DownloadRequest(url: "https://h/own")
        own.headers[.priority] = "u=0, i"
        downloads.append(downloader.download(own, priority: .low))
        downloader.isSuspended = false
        #expect(transport.requests.count == 7)
        #expect(field("https://h/later") == "u=7")
        #expect(field("https://h/low") == "u=5" && field("https://h/normal") == nil)
        #expect(field("https://h/high") == "u=1" && field("https://h/raised") == "u=1")
        #expect(field("http://h/alone") == nil && field("https://h/own") == "u=0, i")
        withExtendedLifetime((downloads, raised)) {}
    }
}
