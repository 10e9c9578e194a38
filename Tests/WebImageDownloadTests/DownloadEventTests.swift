import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// Events, metrics and shutdown of a downloader.
@Suite struct DownloadEventTests {
    private let body = pattern(30_000)

    private func name(_ kind: DownloadEvent.Kind) -> String {
        switch kind {
        case .started: "started"
        case .redirected(let place): "redirected to \(place.split(separator: "/").last ?? "")"
        case .response(let status, let length): "response \(status) \(length ?? -1)"
        case .bytes(let received, let expected): "bytes \(received) of \(expected ?? -1)"
        case .retrying(_, let error): "retrying after \(error.code.name)"
        case .finished: "finished"
        case .failed(let error): "failed \(error.code.name)"
        case .cancelled: "cancelled"
        }
    }

    /// The names of all events until this many transfers have ended.
    private func events(_ events: DownloadEvents, of count: Int = 1) async -> [String] {
        var names: [String] = []
        var ends = 0
        for await event in events {
            names.append(name(event.kind))
            switch event.kind {
            case .finished, .failed, .cancelled: ends += 1
            default: break
            }
            if ends == count { break }
        }
        return names
    }

    @Test func aTransferSendsEventsFromStartToFinish() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .redirect(to: "/b"))
        rig.server.serve("/b", .bytes(body, contentType: "image/png"))
        let heard = rig.downloader.events
        let download = rig.download("/a?token=secret")
        _ = await rig.fetch(download)
        let names = await events(heard)
        #expect(names.first == "started" && names.last == "finished")
        #expect(names[1...2] == ["redirected to b", "response 200 30000"])
        #expect(names[names.count - 2] == "bytes 30000 of 30000")
        #expect(names.count < 50)
    }

    @Test func failuresRetriesAndCancelsAreToldToo() async throws {
        let rig = try Rig(.with { $0.retry = RetryPolicy(retries: 1, firstDelay: .zero) })
        rig.server.serve("/a", .status(503))
        rig.server.serve("/b", .bytes(body).with(.stall(at: .beforeHead)))
        let heard = rig.downloader.events
        let failing = rig.download("/a?token=secret")
        while rig.downloader.counters.resting == 0 { await Task.yield() }
        rig.clock.advance(by: .zero)
        _ = await rig.fetch(failing)
        let stalled = rig.download("/b")
        await rig.server.waitForHeld("/b", 1)
        stalled.cancel()
        let names = await events(heard, of: 2)
        #expect(names == ["started", "retrying after badStatus", "failed badStatus", "started", "cancelled"])
    }

    @Test func eventsNameNoSecrets() async throws {
        let rig = try Rig()
        let heard = rig.downloader.events
        _ = await rig.fetch(rig.server.url("/missing?token=secret").replacing("http://", with: "http://me:secret@"))
        rig.downloader.shutDown()
        for await event in heard { #expect(!"\(event)".contains("secret")) }
    }

    @Test func aSlowListenerGetsTheNewestProgressAndEveryEnd() async throws {
        let hub = DownloadEventHub()
        let heard = hub.listen()
        for received in 1...10_000 { hub.emit(1, "u", .bytes(received: received, expected: nil)) }
        hub.emit(1, "u", .cancelled)
        hub.close()
        var names: [String] = []
        for await event in heard { names.append(name(event.kind)) }
        #expect(names == ["bytes 10000 of -1", "cancelled"])
    }

    @Test func aListenerThatNeverReadsCostsNoMoreThanItsBox() async throws {
        let hub = DownloadEventHub()
        let heard = hub.listen()
        for transfer in 0..<20_000 { hub.emit(transfer, "u", .started) }
        hub.close()
        var transfers: [Int] = []
        for await event in heard { transfers.append(event.transfer) }
        #expect(transfers == Array(20_000 - DownloadMailbox.limit..<20_000))
    }

    @Test func progressGrowsByAnInterval() {
        func told(_ interval: Double, _ amounts: [Int], of expected: Int?) -> [Int] {
            var gate = ProgressGate(minimumInterval: interval)
            return amounts.filter { gate.admits(received: $0, expected: expected) }
        }
        #expect(told(0.51, [10, 30, 60, 62, 99, 100], of: 100) == [10, 62, 100])
        #expect(told(0, [1, 2, 3], of: 100) == [1, 2, 3])
        #expect(told(0.5, [1, 2, 3], of: nil) == [1, 2, 3])
        #expect(told(7, [1, 50, 100], of: 100) == [1, 100])
    }

    /// The progress that is reported for a body that arrives in steps. Each step is sent only when the one before has
    /// been read and, if `wanted` contains it, reported.
    private func told(_ interval: Double, _ framing: OriginResponse.Framing, wanted: [Int]) async throws -> [Int] {
        let rig = try Rig(.with { $0.minimumProgressInterval = interval })
        var steps = [100, 300, 600, 620, 990][...]
        let gates = Dictionary(uniqueKeysWithValues: steps.map { ($0, Gate()) })
        var answer = OriginResponse.bytes(pattern(1000), contentType: "image/png").with(framing: framing)
        for step in steps { answer = answer.with(.hold(gates[step] ?? Gate(), at: .byte(step))) }
        rig.server.serve("/a", answer)
        let events = rig.downloader.events
        let download = rig.download("/a")
        var told: [Int] = []
        for step in wanted {
            // Waits for the very next progress event before another step is sent, so that a later event cannot replace
            // it.
            let next = Task {
                for await event in events {
                    if case .bytes(let received, _) = event.kind { return received }
                }
                return 0
            }
            while let first = steps.first, first < step {
                await download.log.readable(after: first - 1)
                gates[first]?.open()
                steps.removeFirst()
            }
            told.append(await next.value)
            if steps.first == step { gates[steps.removeFirst()]?.open() }
        }
        #expect(await rig.fetch(download).end == "complete")
        return told
    }

    @Test func progressHasFirstAndLastBytesAndStepsOfAnInterval() async throws {
        let few = [100, 620, 1000]
        #expect(try await told(0.51, .contentLength, wanted: few) == few)
        // With the default interval, or without a known length, every step is reported.
        let all = [100, 300, 600, 620, 990, 1000]
        #expect(try await told(0, .contentLength, wanted: all) == all)
        #expect(try await told(0.51, .untilClose, wanted: all) == all)
    }

    @Test func metricsHoldStatusBytesAndTimings() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .bytes(body, contentType: "image/png"))
        let first = rig.download("/a")
        _ = await rig.fetch(first)
        let second = rig.download("/a")
        _ = await rig.fetch(second)
        let (cold, warm) = (try #require(first.metrics), try #require(second.metrics))
        #expect(cold.status == 200 && cold.version == .http11 && cold.remoteAddress == "127.0.0.1")
        #expect(cold.receivedBytes == 30_000 && cold.retries == 0 && cold.resumedBytes == 0)
        #expect(cold.timings?.isReused == false && warm.timings?.isReused == true)
        #expect((cold.timings?.total ?? .zero) >= (cold.timings?.firstByte ?? .seconds(1)))
    }

    @Test func activityIsTheNumberOfRunningTransfers() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .bytes(body).with(.stall(at: .beforeHead)))
        var gauge = rig.downloader.activity.makeAsyncIterator()
        #expect(await gauge.next() == 0)
        let download = rig.download("/a")
        #expect(await gauge.next() == 1)
        download.cancel()
        #expect(await gauge.next() == 0)
        rig.downloader.shutDown()
        #expect(await gauge.next() == nil)
    }

    // MARK: Shutdown

    private func marked(_ rig: Rig, _ path: String) -> Download {
        var request = DownloadRequest(url: rig.server.url(path))
        request.finishesWhenDrained = true
        return rig.downloader.download(request)
    }

    @Test func drainFinishesMarkedTransfersAndEndsTheOthers() async throws {
        let rig = try Rig(.with { $0.maxConcurrent = 2 })
        let gate = Gate()
        rig.server.serve("/marked", .bytes(body).with(.hold(gate, at: .byte(100))))
        rig.server.serve("/plain", .bytes(body).with(.stall(at: .byte(100))))
        rig.server.serve("/queued", .bytes([7]))
        let (kept, plain) = (marked(rig, "/marked"), rig.download("/plain"))
        await rig.server.waitForHeld("/marked", 1)
        await rig.server.waitForHeld("/plain", 1)
        let (queued, waiting) = (marked(rig, "/queued"), rig.download("/x"))
        async let drained: Void = rig.downloader.drain(within: .seconds(100))
        #expect(await rig.fetch(plain).end == "shutDown")
        #expect(await rig.fetch(waiting).end == "shutDown")
        #expect(await rig.fetch("/late").end == "shutDown")
        #expect(await rig.fetch(queued) == ([7], "complete"))
        gate.open()
        await drained
        #expect(await rig.fetch(kept) == (body, "complete"))
    }

    @Test func drainEndsMarkedTransfersAfterItsTime() async throws {
        let rig = try Rig()
        rig.server.serve("/marked", .bytes(body).with(.stall(at: .byte(100))))
        let kept = marked(rig, "/marked")
        await rig.server.waitForHeld("/marked", 1)
        async let drained: Void = rig.downloader.drain(within: .seconds(5))
        while rig.clock.waitingCount < 2 { await Task.yield() }
        #expect(kept.log.end == nil)
        rig.clock.advance(by: .seconds(5))
        await drained
        #expect(await rig.fetch(kept).end == "shutDown")
    }

    @Test func aServiceRunsUntilItIsStoppedAndDrains() async throws {
        let rig = try Rig()
        let (stop, gate) = (Gate(), Gate())
        rig.server.serve("/marked", .bytes(body).with(.hold(gate, at: .byte(100))))
        let service = DrainService(downloader: rig.downloader) { await stop.opened() }
        let running = Task { try await service.run() }
        let kept = marked(rig, "/marked")
        await rig.server.waitForHeld("/marked", 1)
        stop.open()
        gate.open()
        try await running.value
        #expect(await rig.fetch(kept) == (body, "complete"))
        #expect(await rig.fetch("/x").end == "shutDown")
        let cancelled = Task { try await DrainService(downloader: rig.downloader).run() }
        cancelled.cancel()
        try await cancelled.value
    }
}
