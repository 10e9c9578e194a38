import HTTPTypes
import Testing
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite struct LoadTraceTests {
    private let url = "http://traced.test/a.jpg"

    private func check(_ trace: LoadTrace) {
        for stage in trace.root.all {
            #expect(stage.duration >= .zero && stage.start >= trace.root.start, "\(trace)")
            #expect(stage.end <= trace.root.end, "\(stage.name) ends after the load:\n\(trace)")
        }
    }

    private struct Slow: ImageInterceptor {
        let clock: ManualClock

        func intercept<Answer>(
            _ request: ImageRequest, _ load: InterceptedLoad<Answer>
        ) async throws(WebImageError) -> Answer {
            clock.advance(by: .milliseconds(5))
            return try await load(request)
        }
    }

    @Test func aLoadFromTheOriginTellsItsStages() async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path)
        let body = try Fixture.jpeg(64, 48)
        bench.answer(url, with: body)
        var request = ImageRequest("http://me:hidden@traced.test/a.jpg", size: TargetSize(width: 30))
        request.transformers = [.blur(sigma: 2), .gray()]
        let response = try await bench.manager.image(for: request)
        let trace = response.trace
        check(trace)
        #expect(
            trace.root.name == "load"
                && trace.root.stages.map(\.name) == ["look in disk", "download", "decode", "transform"])
        #expect(trace["look in disk"]?.notes == ["not there"])
        #expect(trace["decode"]?.bytes == body.count)
        #expect(trace["transform"]?.notes.first?.contains("blur") == true)
        #expect(trace.root.duration == response.timings.total)
        #expect(trace.notes.contains("it came from the origin") && trace.notes.contains { $0.hasPrefix("status 200") })
        #expect(trace.originalKey?.contains("traced.test") == true && trace.variantKey != trace.originalKey)
        #expect(!trace.description.contains("hidden") && trace.description.hasPrefix("http"))
        // The next load gets the picture from memory, and a load of another size from disk.
        #expect(try await bench.manager.image(for: request).trace.notes == ["the picture was in memory"])
        await bench.manager.finishStores()
        request.size = TargetSize(width: 20)
        let again = try await bench.manager.image(for: request).trace
        check(again)
        #expect(again["look in disk"]?.notes == ["found"] && again["download"] == nil && again["decode"] != nil)
    }

    @Test func theKeysOfATraceShowNoSecretsOfTheURL() async throws {
        let bench = TestBench()
        let signed = "http://traced.test/a.jpg?width=30&X-Amz-Signature=hidden"
        bench.answer(signed, with: try Fixture.jpeg(64, 48))
        let request = ImageRequest(signed, size: TargetSize(width: 30))
        let trace = try await bench.manager.image(for: request).trace
        #expect(trace.originalKey?.hasPrefix("http://traced.test/a.jpg?width=30&X-Amz-Signature=") == true)
        for text in [trace.place, trace.originalKey, trace.variantKey] {
            #expect(text?.contains("traced.test") == true && text?.contains("hidden") == false)
        }
        // What follows the URL is shown as it is.
        #expect(trace.variantKey?.hasSuffix(request.variantKey.text.suffix(8)) == true)
    }

    @Test func theTraceTellsWhichWorkCallersShared() async throws {
        let bench = TestBench()
        let gate = Gate()
        bench.transport.answer(url, .bytes(try Fixture.jpeg(64, 48)).held(by: gate))
        let ledgers = (0..<4).map { _ in Ledger() }
        let small = ImageRequest(url, size: TargetSize(width: 20))
        var apart = ImageRequest(url)
        apart.caching.policy = .noStore
        for (ledger, request) in zip(ledgers, [ImageRequest(url), ImageRequest(url), small, apart]) {
            bench.manager.load(request) { ledger.take($0) }
            if ledger === ledgers[0] { #expect(await bench.transport.waitForHits(url)) }
        }
        gate.open()
        var traces: [LoadTrace] = []
        for ledger in ledgers { traces.append(try await ledger.finished().get().trace) }
        #expect(traces[0].notes.contains("2 callers got this picture at once"))
        #expect(traces[1].notes.contains("joined a load of the same picture that was on its way"))
        #expect(traces[2].notes.contains("shared the bytes with a load of another size or with other transformers"))
        #expect(
            traces[3].notes.contains(
                "did not share the bytes of another load of the same original: the cache policies differ"))
        #expect(traces[3].notes.contains("joined a transfer that was on its way") == (bench.transport.hits(url) == 1))
        #expect(traces[3].notes.contains("the picture is not kept in memory: the policy forbids it"))
    }

    @Test(arguments: [
        ("no-store", "the original is not kept on disk: the origin's answer forbids it"),
        ("max-age=60", nil as String?),
    ])
    func theTraceTellsWhyAPictureIsNotKept(control: String, reason: String?) async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path)
        bench.answer(url, with: try Fixture.jpeg(16, 12), fields: [.cacheControl: control])
        let trace = try await bench.manager.image(for: ImageRequest(url)).trace
        #expect(trace.notes.first { $0.hasPrefix("the original is not kept") } == reason)
        #expect(trace.notes.contains { $0.contains("not kept in memory") } == (reason != nil))
    }

    @Test func theTraceTellsThatAPictureWasMadeFromOneInMemory() async throws {
        let bench = TestBench()
        bench.answer(url, with: try Fixture.jpeg(64, 48))
        var request = ImageRequest(url)
        request.transformers = [.blur(sigma: 2)]
        _ = try await bench.manager.image(for: request)
        request.transformers = [.blur(sigma: 2), .gray()]
        let trace = try await bench.manager.image(for: request).trace
        check(trace)
        #expect(trace.root.stages.map(\.name) == ["look in memory", "transform"])
        #expect(trace["transform"]?.notes.first?.contains("blur") == false)
    }

    @Test func aConditionalRequestThatSparesTheBodyIsShown() async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path)
        let fields: HTTPFields = [.eTag: "\"a\"", .cacheControl: "max-age=0"]
        bench.transport.answer(
            url, .bytes(try Fixture.jpeg(16, 12), contentType: "image/jpeg", headers: fields),
            .status(304, headers: fields))
        _ = try await bench.manager.image(for: ImageRequest(url))
        await bench.manager.finishStores()
        bench.manager.memoryCache.removeAll()
        var request = ImageRequest(url)
        request.caching.policy = .revalidate
        let trace = try await bench.manager.image(for: request).trace
        check(trace)
        #expect(trace["download"]?.notes == ["asked whether what is known is still good", "status 304"])
        #expect(trace["decode"] != nil)
    }

    @Test func interceptorsAreAStageOfTheirOwn() async throws {
        let clock = ManualClock()
        let bench = TestBench(clock: clock) { $0.interceptors = [Slow(clock: clock)] }
        bench.answer(url, with: try Fixture.jpeg(16, 12))
        let ledger = Ledger()
        bench.manager.load(ImageRequest(url)) { ledger.take($0) }
        let trace = try await ledger.finished().get().trace
        check(trace)
        #expect(trace.root.stages.map(\.name) == ["interceptors", "download", "decode"])
        #expect(trace["interceptors"]?.duration == .milliseconds(5) && trace.root.duration == .milliseconds(5))
    }

    @Test func aFailedLoadsErrorCarriesItsTrace() async throws {
        let clock = ManualClock()
        let bench = TestBench(clock: clock)
        let (missing, text, slow) = ("http://traced.test/missing", "http://traced.test/text", "http://traced.test/slow")
        bench.transport.answer(missing, .status(404))
        bench.transport.answer(text, .bytes(Array("this is a text".utf8), contentType: "text/plain"))
        let gate = Gate()
        bench.transport.answer(slow, .bytes(try Fixture.jpeg(64, 48)).held(by: gate))

        func failure(_ request: ImageRequest, whileWaiting: () -> Void = {}) async -> WebImageError? {
            let ledger = Ledger()
            bench.manager.load(request) { ledger.take($0) }
            #expect(await bench.transport.waitForHits(request.url))
            whileWaiting()
            guard case .failure(let error) = await ledger.finished() else { return nil }
            return error
        }
        let refused = try #require(await failure(ImageRequest(missing))?.trace)
        check(refused)
        #expect(refused.place == missing && refused.root.stages.map(\.name) == ["download"])
        #expect(refused.root.notes.first?.hasPrefix("it failed with badStatus") == true)
        #expect(refused["download"]?.notes.first?.hasPrefix("status 404") == true)

        let unread = try #require(await failure(ImageRequest(text))?.trace)
        check(unread)
        #expect(unread.root.stages.map(\.name) == ["download", "decode"])

        var request = ImageRequest(slow)
        request.options.timeout = .seconds(3)
        // The clock advances no further, because the caller is told on another thread, by the time at that moment.
        let late = try #require(await failure(request) { clock.advance(by: .seconds(3)) })
        #expect(late.code == .deadlineExceeded)
        let way = try #require(late.trace)
        check(way)
        #expect(way["download"]?.duration == .seconds(3) && way.root.duration == .seconds(3))
        gate.open()

        // An error without a load has no trace.
        #expect(WebImageError.cancelled.trace == nil)
    }

    @Test func theTraceOfAFailureIncludesInterceptors() async throws {
        let clock = ManualClock()
        let bench = TestBench(clock: clock) { $0.interceptors = [Slow(clock: clock)] }
        bench.transport.answer(url, .status(404))
        let ledger = Ledger()
        bench.manager.load(ImageRequest(url)) { ledger.take($0) }
        guard case .failure(let error) = await ledger.finished() else { return #expect(Bool(false)) }
        let trace = try #require(error.trace)
        check(trace)
        #expect(trace.root.stages.map(\.name) == ["interceptors", "download"])
        #expect(trace.root.duration == .milliseconds(5))
    }

    @Test func theEventFileIsJSONWithAStageEach() async throws {
        struct File: Decodable {
            struct Event: Decodable {
                var name: String
                var ph: String
                var ts: Double?
                var dur: Double?
            }
            var traceEvents: [Event]
        }
        let bench = TestBench()
        bench.answer(url, with: try Fixture.jpeg(64, 48))
        let trace = try await bench.manager.image(for: ImageRequest(url)).trace
        let file = LoadTrace.eventFile([(trace, .zero), (trace, .seconds(1))])
        let read = try JSONDecoder().decode(File.self, from: Data(file.utf8))
        let stages = read.traceEvents.filter { $0.ph == "X" }
        #expect(stages.count == 2 * trace.root.all.count)
        #expect(read.traceEvents.filter { $0.ph == "M" }.count == 2)
        #expect(stages.contains { ($0.ts ?? 0) >= 1_000_000 } && stages.allSatisfy { ($0.dur ?? -1) >= 0 })
    }

    @Test func theTreeIsDrawnWithBars() {
        var root = LoadTrace.Stage(
            "load", start: .zero, duration: .milliseconds(40), notes: ["it came from the origin"])
        let transfer = LoadTrace.Stage("transfer", start: .milliseconds(10), duration: .milliseconds(20), bytes: 900)
        root.stages = [
            LoadTrace.Stage("download", start: .zero, duration: .milliseconds(30), stages: [transfer]),
            LoadTrace.Stage("decode", start: .milliseconds(20), duration: .milliseconds(20)),
        ]
        let full = String(repeating: "█", count: 32)
        let (eight, dots) = (String(repeating: "█", count: 8), String(repeating: "·", count: 8))
        #expect(
            LoadTrace(root: root, place: "http://a/b", originalKey: nil, variantKey: nil).description == """
                http://a/b
                load          \(full)    40.0 ms
                  · it came from the origin
                ├ download    \(eight + eight + eight + dots)    30.0 ms
                │ └ transfer  \(dots + eight + eight + dots)    20.0 ms  900 B
                └ decode      \(dots + dots + eight + eight)    20.0 ms
                """)
    }
}
