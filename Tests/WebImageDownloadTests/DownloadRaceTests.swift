import HTTPTypes
import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// Many threads use one downloader at once, and each answer is counted. These tests are meant to be run under
/// ThreadSanitizer, too.
@Suite struct DownloadRaceTests {
    private let url = "http://fake.test/a"
    private let body = pattern(2000)

    private func make(
        _ change: (inout DownloadConfiguration) -> Void = { _ in }
    ) -> (downloader: ImageDownloader, transport: FakeTransport) {
        let transport = FakeTransport()
        transport.answerAll { [body] _ in .bytes(body).inPieces(of: 300) }
        let downloader = ImageDownloader(
            configuration: .with(change), transport: transport, clock: ManualClock(),
            executor: ThreadPool(name: "test-io", width: 2), files: PosixFileSystem())
        return (downloader, transport)
    }

    /// Counts how often the end of a download is reported.
    private func count(_ download: Download, into counter: Counter) {
        _ = download.log.whenEnded { counter.increment() }
    }

    @Test func joiningRacesWithTheEnd() async throws {
        let (downloader, transport) = make()
        let answers = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<200 {
                        let download = downloader.download(DownloadRequest(url: url))
                        count(download, into: answers)
                        guard case .complete = await download.log.ended() else {
                            Issue.record("a download failed")
                            return
                        }
                        #expect((try? download.log.collect()) == body)
                    }
                }
            }
        }
        #expect(answers.value == 1600)
        let counters = downloader.counters
        #expect(counters.started + counters.joined == 1600 && counters.started == transport.requests.count)
        #expect(await eventually { downloader.counters.running == 0 && transport.running == 0 })
    }

    @Test func cancellingRacesWithTheEnd() async throws {
        let (downloader, transport) = make()
        let answers = Counter()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(worker))
                    for turn in 0..<200 {
                        let request = DownloadRequest(url: "\(url)/\(turn % 5)")
                        let download = downloader.download(request)
                        count(download, into: answers)
                        for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
                        download.cancel()
                        if Bool.random(using: &random) { download.cancel() }
                    }
                }
            }
        }
        #expect(await eventually { answers.value == 1600 })
        #expect(await eventually { downloader.counters.running == 0 && transport.running == 0 })
        #expect(downloader.counters.waiting == 0)
        // The downloader still works.
        let download = downloader.download(DownloadRequest(url: url))
        #expect(await download.log.ended().name == "complete")
        withExtendedLifetime(download) {}
        #expect(answers.value == 1600)
    }

    /// A failed transfer once published its last bytes to its readers after it had begun to wait for its retry. A
    /// cancel at that moment wrote the end of the log at the same time.
    @Test(arguments: [true, false])
    func bytesArePublishedBeforeATransferAwaitsItsRetry(_ isLost: Bool) async throws {
        let short = FakeAnswer.status(200, body: Array(body[..<700]), headers: [.contentLength: "2000"])
        let failing = isLost ? FakeAnswer.bytes(body).failing(after: 700) : short
        let transport = FakeTransport(.inline)
        let gate = Gate()
        transport.answer(url, failing.held(by: gate, after: 0))
        let downloader = ImageDownloader(
            configuration: .with { $0.retry = RetryPolicy(retries: 3, firstDelay: .seconds(1)) }, transport: transport,
            clock: ManualClock(), executor: ThreadPool(name: "test-io", width: 1), files: PosixFileSystem())
        let heard = downloader.events
        let download = downloader.download(DownloadRequest(url: url))
        _ = download.log.whenReadable(after: 699) { download.cancel() }
        gate.open()
        #expect(download.log.end?.name == "cancelled" && download.log.receivedCount == 700)
        #expect(downloader.counters.running == 0 && downloader.counters.resting == 0)
        downloader.shutDown()
        for await event in heard {
            if case .retrying = event.kind { Issue.record("it was cancelled when it rested already") }
        }
    }

    @Test func cancellingRacesWithFailingAndResting() async throws {
        let clock = ManualClock()
        let transport = FakeTransport()
        transport.answerAll { [body] _ in .bytes(body).failing(after: 1500).inPieces(of: 100) }
        let downloader = ImageDownloader(
            configuration: .with { $0.retry = RetryPolicy(retries: 2, firstDelay: .zero) }, transport: transport,
            clock: clock, executor: ThreadPool(name: "test-io", width: 2), files: PosixFileSystem(), jitter: { 1 })
        let (answers, ended) = (Counter(), Counter())
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for turn in 0..<150 {
                        let download = downloader.download(DownloadRequest(url: "\(url)/\(worker)/\(turn)"))
                        count(download, into: answers)
                        guard case .failed = await download.log.ended() else { continue }
                        if ((try? download.log.collect()) ?? []).elementsEqual(body.prefix(download.log.receivedCount))
                        {
                            ended.increment()
                        }
                    }
                }
            }
            group.addTask {
                while answers.value < 600 {
                    clock.advance(by: .zero)
                    downloader.cancelAll()
                    await Task.yield()
                }
            }
        }
        #expect(answers.value == 600 && ended.value == 600)
        #expect(await eventually { downloader.counters.running == 0 && transport.running == 0 })
        #expect(downloader.counters.resting == 0 && downloader.counters.waiting == 0)
    }

    @Test func prioritiesSuspensionAndLimitsChangeMeanwhile() async throws {
        let (downloader, transport) = make { $0.maxConcurrent = 3 }
        let answers = Counter()
        let done = Counter()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<6 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(worker))
                    for turn in 0..<100 {
                        let priority = LoadPriority.allCases.randomElement(using: &random) ?? .normal
                        let request = DownloadRequest(url: "\(url)/\(turn % 7)")
                        let download = downloader.download(request, priority: priority)
                        count(download, into: answers)
                        download.setPriority(LoadPriority.allCases.randomElement(using: &random) ?? .normal)
                        #expect(await download.log.ended().name == "complete")
                        download.setPriority(.high)
                    }
                }
            }
            group.addTask {
                while done.value == 0 {
                    downloader.isSuspended.toggle()
                    downloader.setLimits(maxConcurrent: 2, maxConcurrentPerHost: 1)
                    await Task.yield()
                    downloader.isSuspended = false
                    downloader.setLimits(maxConcurrent: 5, maxConcurrentPerHost: 5)
                    await Task.yield()
                }
            }
            for _ in 0..<6 { await group.next() }
            done.increment()
        }
        #expect(answers.value == 600)
        #expect(await eventually { downloader.counters.running == 0 && transport.running == 0 })
    }

    @Test func aThousandWaitersGetOneAnswerEach() async throws {
        let (downloader, transport) = make()
        let gate = Gate()
        transport.answer(url, .bytes(body).held(by: gate, after: 1000))
        let answers = Counter()
        let ends = await withTaskGroup(of: String.self) { group in
            for index in 0..<1000 {
                group.addTask {
                    let download = downloader.download(DownloadRequest(url: url))
                    count(download, into: answers)
                    if index % 3 == 0 {
                        download.cancel()
                        return "left"
                    }
                    return await download.log.ended().name
                }
            }
            for _ in 0..<334 { _ = await group.next() }
            gate.open()
            var ends: [String] = []
            for await end in group { ends.append(end) }
            return ends
        }
        #expect(ends.allSatisfy { $0 == "complete" || $0 == "left" })
        #expect(await eventually { answers.value == 1000 })
        #expect(await eventually { downloader.counters.running == 0 })
    }

    @Test func shuttingDownRacesWithEverything() async throws {
        for seed in 0..<20 {
            let (downloader, _) = make { $0.retry = RetryPolicy(firstDelay: .zero) }
            let answers = Counter()
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<4 {
                    group.addTask {
                        for turn in 0..<20 {
                            let download = downloader.download(DownloadRequest(url: "\(url)/\(worker)/\(turn % 3)"))
                            count(download, into: answers)
                            _ = await download.log.ended()
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<seed * 5 { await Task.yield() }
                    if seed % 2 == 0 { downloader.shutDown() } else { await downloader.drain(within: .seconds(1)) }
                }
            }
            // The thread that ended a log may still be calling the log's waiters.
            #expect(await eventually { answers.value == 80 })
        }
    }
}
