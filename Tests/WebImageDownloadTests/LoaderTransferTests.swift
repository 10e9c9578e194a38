import HTTPTypes
import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// Custom loaders as transfers: slots, order, deadlines and events.
@Suite struct LoaderTransferTests {
    /// A loader that records the order of its loads. Each load waits for the gate.
    private final class Shelf: ImageLoader {
        let name = "shelf"
        let gate = Gate()
        private let asked = Guarded<[String]>([])

        var order: [String] { asked.withLock { $0 } }

        func canLoad(_ url: String) -> Bool { true }

        func load(_ url: String, to receiver: ImageReceiver) async throws {
            asked.withLock { $0.append(String(url.split(separator: ":")[1])) }
            await gate.opened()
            receiver.expect(3)
            try await receiver.receive([1, 2, 3])
        }
    }

    private let shelf = Shelf()

    private func download(_ rig: Rig, _ url: String, priority: LoadPriority = .normal) -> Download {
        var request = DownloadRequest(url: url)
        request.loader = shelf
        return rig.downloader.download(request, priority: priority)
    }

    @Test func fieldsFromALoaderBecomeTheResponseHead() async throws {
        struct Teller: ImageLoader {
            let name = "teller"
            func canLoad(_ url: String) -> Bool { true }
            func load(_ url: String, to receiver: ImageReceiver) async throws {
                receiver.answer([.eTag: "\"1\"", .cacheControl: "max-age=5"], length: 2)
                try await receiver.receive([1, 2])
            }
        }
        let rig = try Rig()
        var request = DownloadRequest(url: "s:a")
        request.loader = Teller()
        let download = rig.downloader.download(request)
        #expect(await rig.fetch(download) == ([1, 2], "complete"))
        #expect(download.log.head?[.eTag] == "\"1\"" && download.log.expectedLength == 2)
        #expect(download.exchange?.head[.cacheControl] == "max-age=5")
    }

    /// Bytes that a loader brought after its end, which nobody reads, once filled the shared memory, and every other
    /// transfer waited for ever.
    @Test func bytesOfALoaderAfterItsEndTakeNoMemory() async throws {
        final class Bridge: ImageLoader {
            let name = "bridge"
            let gate = Gate()

            func canLoad(_ url: String) -> Bool { true }

            func load(_ url: String, to receiver: ImageReceiver) async throws {
                let feeder = Task.detached { [gate] in
                    await gate.opened()
                    while true { try await receiver.receive([UInt8](repeating: 1, count: 1 << 20)) }
                }
                _ = await feeder.result
            }
        }
        let rig = try Rig(.with { $0.memoryForAll = .mebibytes(1) })
        let bridge = Bridge()
        var request = DownloadRequest(url: "s:a")
        request.loader = bridge
        let download = rig.downloader.download(request)
        #expect(await eventually { rig.downloader.counters.running == 1 })
        download.cancel()
        bridge.gate.open()
        #expect(await eventually { rig.downloader.counters.running == 0 })
    }

    @Test func bytesThatAreAnnouncedAndDoNotComeAreMissing() async throws {
        struct Promiser: ImageLoader {
            let name = "promiser"
            func canLoad(_ url: String) -> Bool { true }
            func load(_ url: String, to receiver: ImageReceiver) async throws { receiver.expect(100) }
        }
        let rig = try Rig()
        var request = DownloadRequest(url: "s:a")
        request.loader = Promiser()
        #expect(await rig.fetch(rig.downloader.download(request)).end == "truncatedBody")
    }

    @Test func aSuspendedDownloaderStartsNoLoader() async throws {
        let rig = try Rig()
        rig.downloader.isSuspended = true
        let (kept, left) = (download(rig, "s:kept"), download(rig, "s:left"))
        #expect(rig.downloader.counters.waiting == 2 && rig.downloader.counters.running == 0)
        left.cancel()
        #expect(left.log.end?.name == "cancelled" && rig.downloader.counters.waiting == 1)
        shelf.gate.open()
        rig.downloader.isSuspended = false
        #expect(await rig.fetch(kept) == ([1, 2, 3], "complete"))
        #expect(shelf.order == ["kept"] && rig.downloader.counters.running == 0)
    }

    @Test func theMostUrgentLoaderGoesFirst() async throws {
        let rig = try Rig(
            .with {
                $0.maxConcurrent = 1; $0.spareForSlowOrigins = 0
            })
        var downloads = [download(rig, "s:first")]
        downloads.append(download(rig, "s:low", priority: .low))
        downloads.append(download(rig, "s:normal"))
        downloads.append(download(rig, "other:high", priority: .high))
        #expect(await eventually { shelf.order.count == 1 })
        #expect(rig.downloader.counters.running == 1 && rig.downloader.counters.waiting == 3)
        shelf.gate.open()
        for download in downloads { #expect(await rig.fetch(download).end == "complete") }
        #expect(shelf.order == ["first", "high", "normal", "low"])
    }

    /// Two concurrent calls of `receive` once wrote to the same memory.
    @Test func aLoaderThatBringsBytesFromManyTasksAtOnceMixesNone() async throws {
        struct Crowd: ImageLoader {
            let name = "crowd"

            func canLoad(_ url: String) -> Bool { true }

            func load(_ url: String, to receiver: ImageReceiver) async throws {
                await withTaskGroup(of: Void.self) { group in
                    for task in 1...8 as ClosedRange<UInt8> {
                        group.addTask {
                            for _ in 0..<200 { try? await receiver.receive([UInt8](repeating: task, count: 100)) }
                        }
                    }
                }
            }
        }
        let rig = try Rig()
        var request = DownloadRequest(url: "s:crowd")
        request.loader = Crowd()
        let (body, end) = await rig.fetch(rig.downloader.download(request))
        #expect(end == "complete" && !body.isEmpty && body.count.isMultiple(of: 100))
        for start in stride(from: 0, to: body.count, by: 100) {
            #expect(body[start..<start + 100].allSatisfy { $0 == body[start] && $0 > 0 })
        }
    }

    /// A loader may itself use the downloader. It must not wait for the slot that it would hold.
    @Test func aLoaderMayWaitForADownload() async throws {
        struct Archive: ImageLoader {
            let name = "archive"
            let rig: Rig

            func canLoad(_ url: String) -> Bool { true }

            func load(_ url: String, to receiver: ImageReceiver) async throws {
                try await receiver.receive(await rig.fetch("/archive").body)
            }
        }
        let rig = try Rig(.with { $0.maxConcurrent = 1 })
        rig.server.serve("/archive", .bytes([7], contentType: "image/png"))
        var request = DownloadRequest(url: "zip:member")
        request.loader = Archive(rig: rig)
        #expect(await rig.fetch(rig.downloader.download(request)) == ([7], "complete"))
    }

    @Test func theTotalDeadlineHoldsForLoaders() async throws {
        let rig = try Rig(.with { $0.deadlines = DownloadDeadlines(total: .seconds(5)) })
        let running = download(rig, "s:running")
        rig.downloader.isSuspended = true
        let waiting = download(rig, "s:waiting")
        #expect(await eventually { shelf.order.count == 1 })
        rig.clock.advance(by: .seconds(4))
        #expect(running.log.end == nil && waiting.log.end == nil)
        rig.clock.advance(by: .seconds(1))
        #expect(running.log.end?.name == "deadlineExceeded" && waiting.log.end?.name == "deadlineExceeded")
        #expect(rig.downloader.counters.waiting == 0)
        // The loader's slot is free once the loader has returned.
        #expect(await eventually { rig.downloader.counters.running == 0 })
        #expect(running.metrics?.total == .seconds(5))
        shelf.gate.open()
    }

    /// A loader that ignores cancellation.
    private final class Stubborn: ImageLoader {
        let name = "stubborn"
        let gate = Gate()
        let running = Guarded((now: 0, most: 0))

        func canLoad(_ url: String) -> Bool { true }

        func load(_ url: String, to receiver: ImageReceiver) async throws {
            running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            await withCheckedContinuation { continuation in gate.whenOpen { continuation.resume() } }
            running.withLock { $0.now -= 1 }
            try await receiver.receive([4])
        }
    }

    /// The caller is answered at once. The limits count every loader that is still running.
    @Test(arguments: ["cancel", "cancelAll", "deadline"])
    func aLoaderKeepsItsSlotUntilItReturns(_ way: String) async throws {
        let rig = try Rig(
            .with {
                $0.maxConcurrent = 1
                $0.deadlines = DownloadDeadlines(total: .seconds(5))
            })
        let stubborn = Stubborn()
        func load(_ url: String) -> Download {
            var request = DownloadRequest(url: url)
            request.loader = stubborn
            return rig.downloader.download(request)
        }
        let first = load("s:a")
        #expect(await eventually { stubborn.running.withLock { $0.now } == 1 })
        switch way {
        case "cancel": first.cancel()
        case "cancelAll": rig.downloader.cancelAll()
        default: rig.clock.advance(by: .seconds(5))
        }
        #expect(first.log.end?.name == (way == "deadline" ? "deadlineExceeded" : "cancelled"))
        #expect(rig.downloader.counters.running == 1)
        // A second request for the same URL does not join the ended load, and waits for its turn.
        let second = load("s:a")
        #expect(!second.wasJoined && rig.downloader.counters.waiting == 1)
        stubborn.gate.open()
        #expect(await rig.fetch(second) == ([4], "complete"))
        #expect(await eventually { rig.downloader.counters.running == 0 })
        #expect(stubborn.running.withLock { $0.most } == 1)
        #expect((try? first.log.collect()) == [])
    }

    // MARK: Events

    private func name(_ kind: DownloadEvent.Kind) -> String {
        switch kind {
        case .started: "started"
        case .bytes(let received, let expected): "bytes \(received) of \(expected ?? -1)"
        case .finished(let metrics): "finished \(metrics.finalURL)"
        case .failed(let error): "failed \(error.code.name)"
        case .cancelled: "cancelled"
        case .redirected, .response, .retrying: "what only HTTP does"
        }
    }

    private func story(_ rig: Rig, _ heard: DownloadEvents) async -> [String] {
        rig.downloader.shutDown()
        var names: [String] = []
        for await event in heard { names.append(name(event.kind)) }
        return names
    }

    @Test func aLoaderSendsEventsFromStartToFinish() async throws {
        let rig = try Rig()
        let heard = rig.downloader.events
        let left = download(rig, "s:left")
        #expect(await eventually { shelf.order.count == 1 })
        left.cancel()
        shelf.gate.open()
        _ = await rig.fetch(download(rig, "s:a"))
        #expect(
            await story(rig, heard) == [
                "started", "cancelled", "started", "bytes 3 of 3", "finished s:a",
            ])
    }

    @Test func filesAndDataURLsSendEventsFromStartToEnd() async throws {
        let rig = try Rig()
        let heard = rig.downloader.events
        _ = await rig.fetch("data:,abc")
        _ = await rig.fetch("file:///nowhere/at-all.png")
        #expect(
            await story(rig, heard) == [
                "started", "bytes 3 of 3", "finished data:,abc", "started", "failed fileNotFound",
            ])
    }

    /// A loader that ignored the receiver's error once delivered a truncated body as complete.
    @Test func bytesThatWereRefusedMakeNoWholeBody() async throws {
        struct Careless: ImageLoader {
            let name = "careless"
            func canLoad(_ url: String) -> Bool { true }
            func load(_ url: String, to receiver: ImageReceiver) async throws {
                for _ in 0..<3 { try? await receiver.receive([1, 2, 3, 4]) }
            }
        }
        let rig = try Rig()
        var request = DownloadRequest(url: "s:a")
        request.loader = Careless()
        request.bodyLimit = ByteCount(10)
        #expect(await rig.fetch(rig.downloader.download(request)).end == "bodyTooLarge")
        request.bodyLimit = ByteCount(12)
        #expect(await rig.fetch(rig.downloader.download(request)).end == "complete")
    }
}
