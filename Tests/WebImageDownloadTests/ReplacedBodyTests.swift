import HTTPTypes
import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// The origin has another version of the body when the rest is asked for. The download starts anew once, and no reader
/// ever gets a mixture of both.
@Suite struct ReplacedBodyTests {
    private static let first = pattern(20_000)
    private static let other = pattern(30_000, seed: 9)

    private func answer(_ tag: String, _ bytes: [UInt8]) -> OriginResponse {
        .bytes(bytes, contentType: "image/png", etag: tag)
    }

    private func cut(_ tag: String = "\"v1\"") -> OriginResponse {
        answer(tag, Self.first).with(.cut(at: .byte(7000)))
    }

    /// How the second answer's tag and body differ from the first.
    enum Change: CaseIterable {
        case strongTag
        case weakTag
        case bytesAlone
        case bytesFromTheMiddleOn

        var tags: (String, String) {
            switch self {
            case .strongTag: ("\"v1\"", "\"v2\"")
            case .weakTag: ("W/\"v1\"", "W/\"v2\"")
            case .bytesAlone, .bytesFromTheMiddleOn: ("W/\"v1\"", "W/\"v1\"")
            }
        }

        var new: [UInt8] {
            switch self {
            case .strongTag, .weakTag: ReplacedBodyTests.other
            case .bytesAlone: Array(ReplacedBodyTests.other[..<20_000])
            case .bytesFromTheMiddleOn:
                Array(ReplacedBodyTests.first[..<5000] + ReplacedBodyTests.other[..<15_000])
            }
        }
    }

    @Test(arguments: Change.allCases)
    func theNewBodyTakesThePlaceOfTheOld(_ change: Change) async throws {
        let ((tag, newTag), new) = (change.tags, change.new)
        let rig = try Rig.retrying()
        rig.server.serve("/a", cut(tag), answer(newTag, new))
        let download = rig.download("/a")
        await rig.passRest()
        #expect(await rig.fetch(download) == (new, "complete"))
        // A reader of the first log alone sees a truncated body and no byte of the new one.
        #expect(download.log.end?.name == "truncatedBody")
        #expect((try? download.log.collect()) == Array(Self.first[..<7000]))
        #expect(download.exchange?.head[.eTag] == newTag && download.log.latest.head?[.eTag] == newTag)
        #expect(download.log.latest.expectedLength == new.count)
        #expect(download.metrics?.resumedBytes == 0 && rig.server.hits("/a") == 2)
        #expect((try? await download.log.allBytes().array) == new)
    }

    /// The second answer breaks off before it shows that it is another body. The rest was then asked for with its
    /// validator, from where the first answer had ended.
    @Test func theRestOfABodyThatWasNotComparedIsNotRequested() async throws {
        let new = Array(Self.first[..<5000] + Self.other[..<15_000])
        func answer(_ date: String, _ bytes: [UInt8]) -> OriginResponse {
            OriginResponse(
                headers: [("Last-Modified", date), ("Accept-Ranges", "bytes"), ("Content-Type", "image/png")],
                body: bytes)
        }
        let rig = try Rig.retrying()
        rig.server.serve(
            "/a", answer(Self.dates[0], Self.first).with(.cut(at: .byte(7000))),
            answer(Self.dates[1], new).with(.cut(at: .byte(4000))), answer(Self.dates[1], new))
        let download = rig.download("/a")
        await rig.passRest()
        await rig.passRest(seconds: 10)
        #expect(await rig.fetch(download) == (new, "complete"))
        let requests = rig.server.requests("/a").map { $0.header("range") }
        #expect(requests.count == 3 && requests[2] == nil)
    }

    @Test func afterAPartOfAnotherBodyTheWholeOneIsRequested() async throws {
        let rig = try Rig.retrying()
        var part = OriginResponse(
            status: 206, headers: [("Content-Range", "bytes 7000-29999/30000"), ("ETag", "\"v2\"")],
            body: Array(Self.other[7000...]))
        part.servesRanges = false
        rig.server.serve("/a", cut(), part, answer("\"v2\"", Self.other))
        let download = rig.download("/a")
        await rig.passRest()
        #expect(await rig.fetch(download) == (Self.other, "complete"))
        #expect(rig.server.requests("/a").map { $0.header("range") } == [nil, "bytes=7000-", nil])
    }

    private static let dates = ["Sun, 06 Nov 1994 08:49:37 GMT", "Mon, 07 Nov 1994 08:49:37 GMT"]

    /// The validators of the first answer and of a 206 that otherwise fits.
    @Test(arguments: [
        ([("ETag", "\"v1\"")], [("ETag", "W/\"v2\"")]), ([("ETag", "\"v1\"")], [("ETag", "W/\"v1\"")]),
        ([("ETag", "\"v1\"")], []), ([("ETag", "\"v1\"")], [("Last-Modified", dates[1])]),
        ([("Last-Modified", dates[0])], [("Last-Modified", dates[1])]), ([("Last-Modified", dates[0])], []),
        ([("Last-Modified", dates[0])], [("Last-Modified", dates[1]), ("ETag", "\"v2\"")]),
    ])
    func aPartWithoutTheSameValidatorIsNotJoined(
        _ first: [(String, String)], _ second: [(String, String)]
    ) async throws {
        let rig = try Rig.retrying()
        let new = Array(Self.other[..<20_000])
        var part = OriginResponse(
            status: 206, headers: [("Content-Range", "bytes 7000-19999/20000")] + second, body: Array(new[7000...]))
        part.servesRanges = false
        let whole = OriginResponse(status: 200, headers: first, body: Self.first)
        rig.server.serve("/a", whole.with(.cut(at: .byte(7000))), part, OriginResponse(status: 200, body: new))
        let download = rig.download("/a")
        await rig.passRest()
        #expect(await rig.fetch(download) == (new, "complete"))
        #expect(rig.server.requests("/a").map { $0.header("range") } == [nil, "bytes=7000-", nil])
    }

    /// An entity tag identifies a body only within one URL.
    @Test func aPartFromElsewhereIsNotJoined() async throws {
        let rig = try Rig.retrying()
        let new = Array(Self.other[..<20_000])
        rig.server.serve(
            "/a", cut(), .status(302, headers: [("Location", "/b")]), .status(302, headers: [("Location", "/b")]))
        rig.server.serve("/b", answer("\"v1\"", new))
        let download = rig.download("/a")
        await rig.passRest()
        #expect(await rig.fetch(download) == (new, "complete"))
        #expect(rig.server.requests("/b").map { $0.header("range") } == ["bytes=7000-", nil])
    }

    /// A validator that is weak or malformed is not sent in `If-Range`.
    @Test(arguments: [
        [("ETag", "W/\"v1\""), ("Last-Modified", dates[0])], [("ETag", "v1"), ("Last-Modified", dates[0])],
        [("ETag", "\"a\""), ("ETag", "\"b\"")], [("ETag", "\"v1")], [("ETag", "\"v\"1\"")],
    ])
    func noRangeIsRequestedWithoutAStrongValidator(_ fields: [(String, String)]) async throws {
        let rig = try Rig.retrying()
        let whole = OriginResponse(status: 200, headers: fields, body: Self.first)
        rig.server.serve("/a", whole.with(.cut(at: .byte(7000))), whole)
        let download = rig.download("/a")
        await rig.passRest()
        #expect(await rig.fetch(download) == (Self.first, "complete"))
        #expect(rig.server.requests("/a").map { $0.header("if-range") } == [nil, nil])
    }

    /// The answer that completes a body decides whether it may be stored, and for how long it is fresh.
    @Test(arguments: [false, true]) func theHeadIsThatOfTheLastAnswer(comesWhole: Bool) async throws {
        let rig = try Rig.retrying()
        let old = [("ETag", "\"v1\""), ("Cache-Control", "max-age=3600"), ("X-Kept", "1"), ("Age", "5")]
        let new = [("ETag", "\"v1\""), ("Cache-Control", "no-store")]
        var rest =
            comesWhole
            ? OriginResponse(status: 200, headers: new, body: Self.first)
            : OriginResponse(
                status: 206, headers: [("Content-Range", "bytes 7000-19999/20000")] + new,
                body: Array(Self.first[7000...]))
        rest.servesRanges = false
        let whole = OriginResponse(status: 200, headers: old, body: Self.first)
        rig.server.serve("/a", whole.with(.cut(at: .byte(7000))), rest)
        let download = rig.download("/a")
        await rig.passRest()
        #expect(await rig.fetch(download) == (Self.first, "complete"))
        let head = try #require(download.exchange?.head)
        #expect(head.status == 200 && head[.cacheControl] == "no-store" && head[.age] == nil)
        #expect(head[HTTPField.Name("X-Kept")!] == (comesWhole ? nil : "1"))
        #expect(head[.contentLength] == "20000" && head[.contentRange] == nil)
    }

    /// The conditions of a revalidation are not repeated in a retry, after the first answer has shown that the entry is
    /// outdated.
    @Test func aRetryAsksWithoutConditions() async throws {
        let rig = try Rig.retrying()
        rig.server.serve("/a", cut(), answer("\"v1\"", Self.first))
        var request = DownloadRequest(url: rig.server.url("/a"))
        request.headers[.ifNoneMatch] = "\"v0\""
        let download = rig.downloader.download(request)
        await rig.passRest()
        #expect(await rig.fetch(download) == (Self.first, "complete"))
        #expect(rig.server.requests("/a").map { $0.header("if-none-match") } == ["\"v0\"", nil])
    }

    @Test func aBodyNowShorterThanTheReceivedPartIsLoadedAnew() async throws {
        let rig = try Rig.retrying()
        let unsatisfied = OriginResponse.status(416, headers: [("Content-Range", "bytes */100")])
        rig.server.serve("/a", cut(), unsatisfied, answer("\"v2\"", Array(Self.other[..<100])))
        let download = rig.download("/a")
        await rig.passRest()
        #expect(await rig.fetch(download) == (Array(Self.other[..<100]), "complete"))
    }

    @Test func aBodyThatChangesTwiceIsAnError() async throws {
        let rig = try Rig.retrying()
        rig.server.serve(
            "/a", cut(), answer("\"v2\"", Self.other).with(.cut(at: .byte(9000))), answer("\"v3\"", Self.first))
        let download = rig.download("/a")
        await rig.passRest()
        await rig.server.waitForHits("/a", 2)
        await rig.passRest(seconds: 2)
        #expect(await rig.fetch(download) == (Array(Self.other[..<9000]), "truncatedBody"))
    }

    @Test func aNewBodyThatBreaksOffIsResumed() async throws {
        let rig = try Rig.retrying()
        let new = answer("\"v2\"", Self.other)
        rig.server.serve("/a", cut(), new.with(.cut(at: .byte(9000))), new)
        let download = rig.download("/a")
        await rig.passRest()
        await rig.server.waitForHits("/a", 2)
        await rig.passRest(seconds: 2)
        #expect(await rig.fetch(download) == (Self.other, "complete"))
        #expect(rig.server.requests("/a").last?.header("range") == "bytes=9000-")
        #expect(download.metrics?.resumedBytes == 9000)
    }

    @Test func a304IsNotABody() async throws {
        let rig = try Rig.retrying()
        rig.server.serve("/a", cut(), .status(304, headers: [("ETag", "\"v0\"")]))
        var request = DownloadRequest(url: rig.server.url("/a"))
        request.headers = [.ifNoneMatch: "\"v0\""]
        let download = rig.downloader.download(request)
        await rig.passRest()
        #expect(await rig.fetch(download) == (Array(Self.first[..<7000]), "truncatedBody"))
    }

    @Test func aLateJoinerAndACancelMeetTheNewBody() async throws {
        let rig = try Rig.retrying()
        rig.server.serve("/a", cut(), answer("\"v2\"", Self.other).with(.stall(at: .byte(9000))))
        let download = rig.download("/a")
        await rig.passRest()
        while download.log.successor == nil { await Task.yield() }
        let late = rig.download("/a")
        #expect(late.wasJoined)
        await late.log.latest.readable(after: 8999)
        #expect(late.log.latest.end == nil)
        download.cancel()
        late.cancel()
        #expect(late.log.latest.end?.name == "cancelled")
        #expect(rig.downloader.counters.waiting == 0)
    }

    @Test func progressIsThatOfTheNewBody() async throws {
        let rig = try Rig.retrying {
            $0.minimumProgressInterval = 0.3
            $0.deadlines = DownloadDeadlines(idle: .seconds(3))
        }
        let standing = answer("\"v1\"", Self.first).with(.stall(at: .byte(19_000)))
        rig.server.serve("/a", standing, answer("\"v2\"", Self.other))
        let events = rig.downloader.events
        let download = rig.download("/a")
        await download.log.readable(after: 18_999)
        rig.clock.advance(by: .seconds(3))
        await rig.passRest()
        #expect(await rig.fetch(download).end == "complete")
        var seen: [String] = []
        for await event in events {
            switch event.kind {
            case .response(_, let length): seen.append("response \(length ?? -1)")
            case .bytes(_, let expected):
                if seen.last != "bytes of \(expected ?? -1)" {
                    seen.append("bytes of \(expected ?? -1)")
                }
            case .finished: seen.append("finished")
            default: break
            }
            if seen.last == "finished" { break }
        }
        #expect(seen == ["response 20000", "bytes of 20000", "response 30000", "bytes of 30000", "finished"])
    }

    // MARK: Decryptors and kept beginnings

    /// A decryptor that adds one to each byte, and 255 at the end.
    private struct Shift: StreamDecryptor {
        mutating func update(_ bytes: [UInt8]) -> [UInt8] { bytes.map { $0 &+ 1 } }
        mutating func finish() -> [UInt8] { [255] }
    }

    @Test(arguments: [true, false])
    func aDecryptorBeginsAnew(_ isStreaming: Bool) async throws {
        let streams = Mutex<[String?]>([])
        let decryptor =
            isStreaming
            ? BodyDecryptor(
                name: "shift",
                streaming: { head in
                    streams.withLock { $0.append(head?[.eTag]) }
                    return Shift()
                })
            : BodyDecryptor(name: "whole", whole: { bytes, _ in bytes.map { $0 &+ 1 } + [255] })
        let rig = try Rig.retrying { $0.decryptor = decryptor }
        rig.server.serve("/a", cut(), answer("\"v2\"", Self.other))
        let download = rig.download("/a")
        if isStreaming { await download.log.readable(after: 6999) }
        await rig.passRest()
        #expect(await rig.fetch(download) == (Self.other.map { $0 &+ 1 } + [255], "complete"))
        if isStreaming { #expect(streams.withLock { $0 } == ["\"v1\"", "\"v2\""]) }
    }

    /// An earlier transfer has kept the beginning of a body. The rest turns out to be of another body.
    @Test(arguments: [1, 3000])
    func aBeginningThatWasKeptIsGivenUp(_ length: Int) async throws {
        let rig = try Rig.retrying()
        let part = OriginResponse(
            status: 206, headers: [("Content-Range", "bytes 7000-19999/20000"), ("ETag", "\"v1\"")],
            body: Array(Self.first[7000...])
        ).changed { $0.servesRanges = false }
        rig.server.serve("/a", part.with(.cut(at: .byte(length))), answer("\"v2\"", Self.other))
        var request = DownloadRequest(url: rig.server.url("/a"))
        request.headers = [.range: "bytes=7000-", .ifRange: "\"v1\""]
        let download = rig.downloader.download(request)
        await withCheckedContinuation { continuation in download.log.whenHead { continuation.resume() } }
        let beginning = KeptBeginning(Array(Self.first[..<7000]))
        let log = await withCheckedContinuation { continuation in
            rig.downloader.makeLog(
                of: beginning, continuedBy: download, head(200, ["Content-Length: 20000"]), limit: .mebibytes(1),
                whenBegun: { continuation.resume(returning: $0) })
        }
        let whole = try #require(log)
        await rig.passRest()
        #expect(await whole.ended().name == "complete")
        #expect((try? whole.latest.collect()) == Self.other)
        #expect((try? whole.collect()) == Array(Self.first[..<(7000 + length)]))
        #expect(download.exchange?.head.status == 200)
    }
}

/// The kept beginning of a body, in memory.
private final class KeptBeginning: PartialBody {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var metadata: [UInt8]? { [] }
    var length: Int { bytes.count }
    func restart(metadata: [UInt8]) -> Bool { false }
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool { false }
    func read(at offset: Int) throws(WebImageError) -> [UInt8] { Array(bytes[offset...]) }
    func release() {}
    func discard() {}
}
