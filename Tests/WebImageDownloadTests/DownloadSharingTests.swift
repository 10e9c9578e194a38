import HTTPTypes
import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageDownload

/// Joining and leaving shared transfers, slots and their order, over real sockets.
@Suite struct DownloadSharingTests {
    private let body = pattern(30_000)

    @Test func twoHundredEqualRequestsShareOneTransfer() async throws {
        let rig = try Rig()
        let gate = Gate()
        rig.server.serve("/a", .bytes(body, contentType: "image/png").with(.hold(gate, at: .byte(10_000))))
        let downloads = (0..<200).map { _ in rig.download("/a") }
        #expect(downloads.filter(\.wasJoined).count == 199)
        await rig.server.waitForHeld("/a", 1)
        let late = rig.download("/a")
        #expect(late.log === downloads[0].log)
        gate.open()
        for download in downloads { #expect(await rig.fetch(download) == (body, "complete")) }
        #expect(rig.server.hits("/a") == 1)
        #expect(rig.downloader.counters == DownloadCounters(started: 1, joined: 200, running: 0, waiting: 0))
    }

    @Test func requestsWithDifferentSettingsAreNotJoined() async throws {
        let rig = try Rig()
        let gate = Gate()
        rig.server.serve("/a", .bytes(body, contentType: "image/png").with(.hold(gate, at: .byte(10_000))))
        let request = try ResolvedRequest(DownloadRequest(url: rig.server.url("/a")))
        let before = rig.downloader.snapshot
        rig.downloader[header: .userAgent] = "other"
        let late = rig.downloader.download(request)
        let early = [0, 1].map { _ in rig.downloader.download(request, by: before) }
        let another = rig.downloader.download(request)
        #expect(another.wasJoined && early.allSatisfy { !$0.wasJoined })
        await rig.server.waitForHeld("/a", 3)
        gate.open()
        for download in early + [late, another] { #expect(await rig.fetch(download) == (body, "complete")) }
        #expect(rig.server.requests("/a").filter { $0.header("user-agent") == "other" }.count == 1)
        #expect(rig.downloader.counters.running == 0)
    }

    @Test func changedLimitsDoNotPreventJoining() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .bytes(body, contentType: "image/png").with(.stall(at: .byte(10_000))))
        let request = try ResolvedRequest(DownloadRequest(url: rig.server.url("/a")))
        let (before, first) = (rig.downloader.snapshot, rig.downloader.download(request))
        rig.downloader.setLimits(maxConcurrent: 7, maxConcurrentPerHost: 3)
        #expect(rig.downloader.snapshot == before && rig.downloader.configuration.maxConcurrent == 7)
        let joined = [rig.downloader.download(request), rig.downloader.download(request, by: before)]
        #expect(joined.allSatisfy { $0.wasJoined && $0.log === first.log })
    }

    @Test func cancelledRequestsLeaveTheTransferToTheOthers() async throws {
        let rig = try Rig()
        let gate = Gate()
        rig.server.serve("/a", .bytes(body, contentType: "image/png").with(.hold(gate, at: .byte(10_000))))
        let downloads = (0..<200).map { _ in rig.download("/a") }
        await rig.server.waitForHeld("/a", 1)
        for (index, download) in downloads.enumerated() where index != 117 {
            download.cancel()
            download.cancel()
        }
        gate.open()
        #expect(await rig.fetch(downloads[117]) == (body, "complete"))
        #expect(rig.server.hits("/a") == 1)
    }

    @Test func theLastOneToLeaveEndsTheTransfer() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .bytes(body, contentType: "image/png").with(.stall(at: .byte(10_000))))
        let downloads = (0..<5).map { _ in rig.download("/a") }
        await rig.server.waitForHeld("/a", 1)
        for download in downloads { download.cancel() }
        #expect(await rig.server.waitForClosed("/a", 1))
        #expect(await downloads[0].log.ended().name == "cancelled")
        // The ended transfer is no longer in the table: the next request starts a new one.
        rig.server.serve("/a", .bytes([1, 2, 3], contentType: "image/png"))
        #expect(await rig.fetch("/a") == ([1, 2, 3], "complete"))
    }

    @Test func aReleasedDownloadIsCancelled() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .bytes(body, contentType: "image/png").with(.stall(at: .beforeHead)))
        var download: Download? = rig.download("/a")
        let log = download?.log
        await rig.server.waitForHeld("/a", 1)
        download = nil
        #expect(await rig.server.waitForClosed("/a", 1))
        #expect(log?.end?.name == "cancelled")
    }

    @Test func aFinishedTransferIsNotJoined() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .bytes([1], contentType: "image/png"), .bytes([2], contentType: "image/png"))
        let first = rig.download("/a")
        #expect(await rig.fetch(first) == ([1], "complete"))
        let second = rig.download("/a")
        #expect(second.wasJoined == false)
        #expect(await rig.fetch(second) == ([2], "complete"))
    }

    @Test func onlyTheSameRequestIsShared() throws {
        let rig = try Rig()
        rig.downloader.isSuspended = true
        var request = DownloadRequest(url: rig.server.url("/a"))
        let original = rig.downloader.download(request)
        request.url += "#fragment"
        #expect(rig.downloader.download(request).log === original.log)
        var others: [DownloadRequest] = []
        for change in [
            { $0.headers[.accept] = "image/webp" }, { $0.credentialScope = "anna" },
            { $0.credentials = BasicCredentials(user: "bert", password: "x") }, { $0.method = .head },
            { $0.url = $0.url.replacing("/a", with: "/A") }, { $0.bodyLimit = 10 }, { $0.trust = .anyone },
            { $0.addressPolicy = AddressPolicy(name: "none") { _ in false } },
        ] as [(inout DownloadRequest) -> Void] {
            var other = request
            change(&other)
            others.append(other)
        }
        let downloads = others.map { rig.downloader.download($0) }
        #expect(downloads.allSatisfy { !$0.wasJoined })
        #expect(rig.downloader.counters.waiting == others.count + 1)
        // User and password in the URL tell who asks, not which picture is asked for.
        var asUser = others[2]
        asUser.credentials = nil
        asUser.url = asUser.url.replacing("http://", with: "http://bert:y@")
        let (first, second) = (try ResolvedRequest(asUser), try ResolvedRequest(others[2]))
        #expect(first.key.fingerprint == second.key.fingerprint)
        #expect(first.originalURL == rig.server.url("/a"))
        // But a request with other credentials does not share the answer.
        #expect(first != second)
    }

    @Test func sixTransfersPerHostRunAtATime() async throws {
        let rig = try Rig()
        let gate = Gate()
        rig.server.serve(under: "/img/") { [body] _ in
            .bytes(body, contentType: "image/png").with(.hold(gate, at: .beforeHead))
        }
        let downloads = (0..<20).map { rig.download("/img/\($0)") }
        for index in 0..<6 { await rig.server.waitForHeld("/img/\(index)", 1) }
        #expect(rig.downloader.counters.running == 6 && rig.downloader.counters.waiting == 14)
        #expect(rig.server.requests(nil).count == 6)
        gate.open()
        for download in downloads { #expect(await rig.fetch(download) == (body, "complete")) }
        #expect(rig.server.connectionCount <= 6)
    }

    @Test func aHostThatIsBusyLeavesSlotsToOthers() async throws {
        let rig = try Rig(
            .with {
                $0.maxConcurrent = 3; $0.maxConcurrentPerHost = 2
            })
        let other = try OriginServer()
        other.serve("/b", .bytes([7], contentType: "image/png"))
        let gate = Gate()
        rig.server.serve(under: "/img/") { _ in
            .bytes([1], contentType: "image/png").with(.hold(gate, at: .beforeHead))
        }
        let busy = (0..<4).map { rig.download("/img/\($0)") }
        #expect(await rig.fetch(other.url("/b")) == ([7], "complete"))
        #expect(rig.downloader.counters.running == 2)
        gate.open()
        for download in busy { #expect(await rig.fetch(download).end == "complete") }
    }

    @Test(arguments: [
        (DownloadConfiguration.Order.firstInFirstOut, ["/first", "/high", "/raised", "/one", "/two", "/low"]),
        (.lastInFirstOut, ["/first", "/raised", "/high", "/two", "/one", "/low"]),
    ])
    func theOrderIsByUrgencyThenByTurn(_ order: DownloadConfiguration.Order, _ expected: [String]) async throws {
        let rig = try Rig(
            .with {
                $0.maxConcurrent = 1; $0.order = order
            })
        let gate = Gate()
        rig.server.serve(under: "/") { _ in .bytes([1], contentType: "image/png") }
        rig.server.serve("/first", .bytes([1], contentType: "image/png").with(.hold(gate, at: .beforeHead)))
        var downloads = [rig.download("/first")]
        await rig.server.waitForHeld("/first", 1)
        downloads.append(rig.download("/low", priority: .low))
        downloads.append(rig.download("/one"))
        downloads.append(rig.download("/high", priority: .high))
        let raised = rig.download("/raised", priority: .low)
        downloads.append(rig.download("/two"))
        // A second, more urgent request joins the same transfer. That the first one then leaves changes nothing.
        let urgent = rig.download("/raised", priority: .normal)
        urgent.setPriority(.high)
        raised.cancel()
        downloads.append(urgent)
        gate.open()
        for download in downloads { #expect(await rig.fetch(download).end == "complete") }
        #expect(rig.server.requests(nil).map(\.path) == expected)
    }

    @Test func aPriorityFallsBackWhenTheUrgentOneLeaves() async throws {
        let rig = try Rig(.with { $0.maxConcurrent = 1 })
        rig.server.serve(under: "/") { _ in .bytes([1], contentType: "image/png") }
        rig.downloader.isSuspended = true
        let low = rig.download("/a", priority: .low)
        let urgent = rig.download("/a", priority: .high)
        let normal = rig.download("/b")
        urgent.cancel()
        rig.downloader.isSuspended = false
        #expect(await rig.fetch(low).end == "complete")
        #expect(await rig.fetch(normal).end == "complete")
        #expect(rig.server.requests(nil).map(\.path) == ["/b", "/a"])
    }

    @Test func aWaitingTransferCanBeCancelled() async throws {
        let rig = try Rig()
        rig.downloader.isSuspended = true
        let download = rig.download("/a")
        download.cancel()
        #expect(download.log.end?.name == "cancelled")
        #expect(rig.downloader.counters.waiting == 0)
        rig.downloader.isSuspended = false
        #expect(rig.server.connectionCount == 0)
    }

    @Test func limitsCanBeRaisedWhileTransfersWait() async throws {
        let rig = try Rig(.with { $0.maxConcurrent = 1 })
        let gate = Gate()
        rig.server.serve(under: "/") { _ in .bytes([1], contentType: "image/png").with(.hold(gate, at: .beforeHead)) }
        let downloads = (0..<3).map { rig.download("/\($0)") }
        #expect(rig.downloader.counters.running == 1)
        rig.downloader.setLimits(maxConcurrent: 3, maxConcurrentPerHost: 2)
        #expect(rig.downloader.counters.running == 2)
        gate.open()
        for download in downloads { #expect(await rig.fetch(download).end == "complete") }
    }

    @Test func connectionsAreUsedAgainAlsoAfterErrorsAndRedirects() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .bytes(body, contentType: "image/png"))
        rig.server.serve("/to-a", .redirect(to: "/a"))
        for path in ["/a", "/missing", "/to-a", "/a"] {
            _ = await rig.fetch(path)
            // The error of a 404 is known before its body has arrived, for which the connection still waits.
            #expect(await eventually { rig.downloader.counters.running == 0 })
        }
        #expect(rig.server.requests(nil).count == 5)
        #expect(rig.server.connectionCount == 1)
    }

    @Test func shutDownEndsEverythingNowAndLater() async throws {
        let rig = try Rig(.with { $0.maxConcurrent = 2 })
        rig.server.serve(under: "/") { _ in .bytes([1], contentType: "image/png").with(.stall(at: .beforeHead)) }
        let downloads = (0..<4).map { rig.download("/\($0)") }
        await rig.server.waitForHeld("/0", 1)
        rig.downloader.shutDown()
        for download in downloads { #expect(await rig.fetch(download).end == "shutDown") }
        #expect(await rig.fetch("/x").end == "shutDown")
        #expect(await rig.server.waitForOpenConnections(atMost: 0))
    }

    @Test func cancelAllLeavesAWorkingDownloader() async throws {
        let rig = try Rig(.with { $0.maxConcurrent = 1 })
        rig.server.serve("/a", .bytes([1], contentType: "image/png").with(.stall(at: .beforeHead)))
        rig.server.serve("/b", .bytes([2], contentType: "image/png"))
        let downloads = [rig.download("/a"), rig.download("/b")]
        await rig.server.waitForHeld("/a", 1)
        rig.downloader.cancelAll()
        for download in downloads { #expect(await rig.fetch(download).end == "cancelled") }
        #expect(await rig.fetch("/b") == ([2], "complete"))
    }

    /// A transfer and its transport retain each other while it runs. They once did so for ever, and retained the log,
    /// too.
    @Test func aFinishedDownloadLeavesNothingBehind() async throws {
        let rig = try Rig()
        rig.server.serve("/a", .bytes(body, contentType: "image/png"))
        var download: Download? = rig.download("/a")
        weak let log = download?.log
        #expect(await download?.log.ended().name == "complete")
        download = nil
        // The transport has one thread. When it has completed another transfer, it has released the first.
        _ = await rig.fetch("/missing")
        #expect(log == nil)
    }
}
