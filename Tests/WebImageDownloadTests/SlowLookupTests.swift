import CHeldLookup
import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageDownload

/// ThreadSanitizer intercepts the resolver of the C library itself, so that the tests cannot replace it.
#if TSAN
    private let canHoldLookups = false
#else
    private let canHoldLookups = true
#endif

@Suite(.enabled(if: canHoldLookups, "look-ups cannot be held here")) struct SlowLookupTests {
    /// When a transfer is removed during its look-up, libcurl would by default join the resolver's thread, and all
    /// other transfers would wait.
    @Test func endingALookupHoldsUpNobodyElse() async throws {
        let rig = try Rig(.with { $0.deadlines = DownloadDeadlines(connect: .seconds(5)) })
        rig.server.serve("/ok", .bytes([1, 2, 3], contentType: "image/png"))
        defer { wi_release_lookups() }
        let late = rig.download("http://late.held.test/")
        let cancelled = rig.download("http://cancelled.held.test/")
        while wi_held_lookups() < 2, late.log.end == nil { await Task.yield() }
        #expect(await rig.fetch("/ok").end == "complete")
        cancelled.cancel()
        #expect(await rig.fetch(cancelled).end == "cancelled")
        #expect(await rig.fetch("/ok").end == "complete")
        rig.clock.advance(by: .seconds(5))
        #expect(await rig.fetch(late).end == "connectTimeout")
        #expect(await rig.fetch("/ok").end == "complete")
        #expect(wi_held_lookups() == 2, "nobody has waited for the look-ups, which go on until now")
    }
}
