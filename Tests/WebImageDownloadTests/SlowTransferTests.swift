import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// Slow transfers must not hold up others.
@Suite struct SlowTransferTests {
    private let transport = FakeTransport(.inline)
    private let clock = ManualClock()

    private func makeDownloader(_ change: (inout DownloadConfiguration) -> Void = { _ in }) -> ImageDownloader {
        ImageDownloader(
            configuration: .with(change), transport: transport, clock: clock,
            executor: ThreadPool(name: "test-io", width: 2), files: PosixFileSystem(), jitter: { 1 })
    }

    private func download(_ downloader: ImageDownloader, _ url: String) -> Download {
        downloader.download(DownloadRequest(url: url))
    }

    @Test func theDefaultsAreAsAgreed() {
        let configuration = DownloadConfiguration()
        #expect(configuration.maxConcurrent == 64 && configuration.maxConcurrentPerHost == 6)
        #expect(configuration.maxWaiting == 10_000)
        #expect(configuration.deadlines.minimumSpeed == .init(bytesPerSecond: 1024, window: .seconds(30)))
    }

    /// Six very slow transfers once held up every other one of their host for ever.
    @Test func aPictureOfAHostWhoseOthersCrawlIsNotHeldUp() async {
        let downloader = makeDownloader()
        let gate = Gate()
        for number in 0..<8 {
            transport.answer("http://h.test/\(number)", .bytes([1, 2, 3]).held(by: gate))
        }
        transport.answer("http://h.test/quick", .bytes([7]))
        let slow = (0..<8).map { download(downloader, "http://h.test/\($0)") }
        let quick = download(downloader, "http://h.test/quick")
        #expect(downloader.counters.running == 6 && downloader.counters.waiting == 3)
        clock.advance(by: .seconds(2))
        #expect(quick.log.end?.name == "complete")
        #expect(downloader.counters.slow == 6 && downloader.counters.running == 8)
        gate.open()
        for download in slow { #expect(download.log.end?.name == "complete") }
        #expect(downloader.counters.running == 0 && downloader.counters.slow == 0)
    }

    /// A transfer whose bytes keep coming is not slow and keeps its slot, however long it takes.
    @Test func aLongBodyThatComesWellDoesNotCrawl() async {
        let downloader = makeDownloader { $0.maxConcurrentPerHost = 1 }
        let gates = (0..<4).map { _ in Gate() }
        var answer = FakeAnswer.bytes([UInt8](repeating: 1, count: 20_000))
        for (number, gate) in gates.enumerated() { answer = answer.held(by: gate, after: 4_000 * (number + 1)) }
        transport.answer("http://h.test/long", answer)
        transport.answer("http://h.test/next", .bytes([7]))
        let long = download(downloader, "http://h.test/long")
        let next = download(downloader, "http://h.test/next")
        for gate in gates {
            clock.advance(by: .seconds(1))
            #expect(next.log.end == nil && downloader.counters.slow == 0)
            gate.open()
        }
        #expect(long.log.end?.name == "complete" && next.log.end?.name == "complete")
    }

    @Test func withoutSpareSlotsTheLimitsIncludeSlowTransfers() async {
        let downloader = makeDownloader {
            $0.maxConcurrent = 1
            $0.spareForSlowOrigins = 0
        }
        let gate = Gate()
        transport.answer("http://a.test/", .bytes([1]).held(by: gate))
        transport.answer("http://b.test/", .bytes([1]))
        let (slow, next) = (download(downloader, "http://a.test/"), download(downloader, "http://b.test/"))
        clock.advance(by: .seconds(10))
        #expect(next.log.end == nil && downloader.counters.waiting == 1)
        gate.open()
        #expect(slow.log.end?.name == "complete" && next.log.end?.name == "complete")
    }

    @Test func aBodyThatDripsEndsAfterHalfAMinute() async {
        let downloader = makeDownloader()
        let gates = (0..<40).map { _ in Gate() }
        var answer = FakeAnswer.bytes([UInt8](repeating: 1, count: 20_000))
        for (number, gate) in gates.enumerated() { answer = answer.held(by: gate, after: 10 * (number + 1)) }
        transport.answer("http://h.test/drip", answer)
        let drip = download(downloader, "http://h.test/drip")
        for gate in gates where drip.log.end == nil {
            clock.advance(by: .seconds(1))
            gate.open()
        }
        #expect(drip.log.end?.name == "tooSlow")
        #expect(clock.now >= .seconds(30) && clock.now < .seconds(32))
    }

    @Test func tooManyThatWaitAreRefused() async {
        let downloader = makeDownloader { $0.maxWaiting = 3 }
        let gate = Gate()
        transport.answerAll { _ in FakeAnswer.bytes([1]).held(by: gate) }
        let downloads = (0..<10).map { download(downloader, "http://h.test/\($0)") }
        #expect(downloads.map { $0.log.end?.name } == Array(repeating: nil, count: 9) + ["queueFull"])
        // A request needs no place in the queue if it has a slot at once, or joins another.
        let idle = download(downloader, "http://idle.test/")
        #expect(idle.log.end == nil)
        #expect(download(downloader, "http://h.test/8").log.end == nil)
        gate.open()
        #expect(downloads[..<9].allSatisfy { $0.log.end?.name == "complete" })
    }

    /// Each refusal once started the next transfer recursively. Some ten thousand of them overflowed the stack.
    @Test func anyNumberOfRefusalsInARowIsNotTooDeep() async {
        let downloader = makeDownloader {
            $0.maxConcurrent = 1
            $0.spareForSlowOrigins = 0
            $0.maxWaiting = 100_000
        }
        let gate = Gate()
        transport.answer("http://first.test/", .bytes([1]).held(by: gate))
        let first = download(downloader, "http://first.test/")
        var policy = AddressPolicy()
        policy.deniedHosts = ["refused.test"]
        let refused = (0..<20_000).map { [policy] number -> Download in
            var request = DownloadRequest(url: "http://refused.test/\(number)")
            request.addressPolicy = policy
            return downloader.download(request)
        }
        #expect(downloader.counters.waiting == 20_000)
        gate.open()
        #expect(first.log.end?.name == "complete")
        #expect(refused.allSatisfy { $0.log.end?.name == "addressRefused" })
        #expect(downloader.counters.running == 0 && downloader.counters.waiting == 0)
    }
}
