import HTTPTypes
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Slow origins must not delay other pictures. The clock stands still, so no answer can come from a timeout.
@Suite struct SlowOriginTests {
    enum Slowness: String, CaseIterable, Sendable {
        /// Sends half of the body, and then single bytes when a gate opens.
        case drip
        /// Sends the head and then nothing.
        case stall
        case half
        case silence
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var slowness: Slowness
        var count: Int
        var hosts: Int
        var format: ImageFormat
        var isProgressive = false

        var testDescription: String {
            "\(count) on \(hosts): \(slowness.rawValue), \(format.rawValue)\(isProgressive ? " progressive" : "")"
        }

        func url(_ number: Int) -> String { "http://slow\(number % hosts).test/\(number)" }
    }

    /// The formats that this build can encode; AVIF needs its trait.
    private static let formats = [ImageFormat.jpeg, .png, .webp, .avif].filter {
        CoderRegistry.standard.encodableFormats.contains($0)
    }

    /// Each kind of slowness with each format, and with different numbers of URLs and hosts.
    static let cases: [Case] = Slowness.allCases.flatMap { slowness in
        formats.map { format in
            Case(slowness: slowness, count: 8, hosts: format == .jpeg ? 1 : 60, format: format)
        }
            + [(8, 1), (60, 1), (60, 60), (600, 1), (600, 60)].map { count, hosts in
                Case(slowness: slowness, count: count, hosts: hosts, format: .jpeg, isProgressive: true)
            }
    }

    private let folder: TemporaryFolder
    private let quick: (url: String, body: [UInt8])
    private let onDisk = "http://kept.test/disk"
    private let inMemory = "http://kept.test/memory"

    init() throws {
        folder = try TemporaryFolder()
        quick = ("http://quick.test/", try Fixture.jpeg(40, 30, progressive: true))
    }

    private func body(_ test: Case) throws -> [UInt8] {
        try Fixture.gradient(48, 48).encoded(
            as: test.format, EncodeOptions(quality: 90, progressive: test.isProgressive))
    }

    private func answer(_ test: Case, _ body: [UInt8], _ drips: [Gate], end: Gate) -> FakeAnswer {
        let answer = FakeAnswer.bytes(body, contentType: "image/*")
        switch test.slowness {
        case .silence: return answer.held(by: end)
        case .stall: return answer.held(by: end, after: 0)
        case .half: return answer.held(by: end, after: body.count / 2)
        case .drip:
            let start = body.count / 2
            return drips.enumerated().reduce(answer.held(by: end, after: start + drips.count)) { answer, drip in
                answer.held(by: drip.element, after: start + drip.offset)
            }
        }
    }

    @Test(arguments: cases) func slowOriginsDoNotHoldUpOtherLoads(test: Case) async throws {
        let body = try body(test)
        try await fillDisk()
        // Decode memory admits only one decode at a time, so a decode that kept it while waiting for bytes would block
        // the others.
        let bench = TestBench(disk: folder.path, clock: ManualClock()) {
            $0.decodeMemory = 1
            $0.decodeThreads = 2
        }
        for url in [quick.url, onDisk, inMemory] { bench.answer(url, with: quick.body) }
        _ = try await bench.manager.image(for: ImageRequest(inMemory))
        let (drips, end) = ((0..<3).map { _ in Gate() }, Gate())
        let answer = answer(test, body, drips, end: end)
        bench.transport.answerAll { $0.url.contains("slow") ? answer : nil }
        let slow = Ledger()
        let tokens = (0..<test.count).map { number in
            bench.manager.load(ImageRequest(test.url(number))) { slow.take($0) }
        }
        // The downloader has started all slow transfers, besides the one of the picture that is in memory.
        #expect(await eventually { bench.manager.downloader.counters.started == test.count + 1 })

        func expectTheOthers(_ round: Int) async throws {
            var fresh = ImageRequest(quick.url)
            fresh.caching.policy = .reload
            #expect(try await bench.manager.image(for: fresh).source == .network)
            var kept = ImageRequest(onDisk)
            kept.caching.store = []
            #expect(try await bench.manager.image(for: kept).source == .disk)
            #expect(bench.manager.cachedImage(for: ImageRequest(inMemory)) != nil)
            #expect(slow.finishedCount == 0)
        }
        try await expectTheOthers(0)
        for (round, drip) in drips.enumerated() {
            drip.open()
            try await expectTheOthers(round + 1)
        }
        // The slow loads end, too, so decode memory that was taken from them is given back to them.
        if test.count <= 60 {
            end.open()
            _ = await slow.finished(test.count)
            #expect(slow.failures.isEmpty && slow.responses.allSatisfy { $0.image.size.width == 48 })
        } else {
            for token in tokens { token.cancel() }
            _ = await slow.finished(test.count)
            #expect(slow.failures == [.cancelled: test.count])
            end.open()
        }
        #expect(await eventually { bench.manager.loader.decoding.memory.used == 0 && bench.manager.runningLoads == 0 })
    }

    private func fillDisk() async throws {
        let bench = TestBench(disk: folder.path, clock: ManualClock())
        bench.answer(onDisk, with: quick.body)
        _ = try await bench.manager.image(for: ImageRequest(onDisk))
        await bench.manager.finishStores()
    }
}
