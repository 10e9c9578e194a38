import HTTPTypes
import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageDownload

private let etag = "ETag: \"v1\""
private let whole = [etag, "Content-Length: 1000000", "Accept-Ranges: bytes", "Content-Type: image/jpeg"]

/// The decisions on answers to a request for the rest of a body whose beginning is there.
@Suite struct ResumeTests {
    private func part(_ range: String, _ more: [String] = [etag]) -> ResponseHead {
        head(206, ["Content-Range: bytes \(range)"] + more)
    }

    /// A body whose transfer broke off after `length` bytes.
    private func broken(
        _ lines: [String] = whole, after length: Int = 100_000, mode: CacheMode = .cacheFirst,
        request: CacheRequest = CacheRequest(), isShared: Bool = false
    ) -> (body: ResumableBody, keep: ResumableBody.KeepAction) {
        var rules = ResumableBody.Rules()
        rules.isShared = isShared
        var body = ResumableBody(request, mode: mode, rules: rules)
        body.didAsk()
        _ = body.head(head(200, lines), arrival())
        _ = body.received(length)
        let keep = body.ended(WebImageError(.connectionLost, "")).keep
        return (body, keep)
    }

    private func metadata(_ keep: ResumableBody.KeepAction) throws -> [UInt8] {
        guard case .begin(let metadata) = keep else { throw WebImageError(.cacheMiss, "\(keep)") }
        return metadata
    }

    @Test func aBrokenTransferIsResumed() throws {
        var (body, keep) = broken()
        _ = try metadata(keep)
        #expect(body.fields[.range] == "bytes=100000-" && body.fields[.ifRange] == "\"v1\"" && body.fields.count == 2)
        body.didAsk()
        let rest = part("100000-999999/1000000", [etag, "Cache-Control: max-age=5", "Content-Length: 900000"])
        guard case .append(let all) = body.head(rest, arrival(at: 60)) else {
            throw WebImageError(.protocolError, "the rest is not taken")
        }
        #expect(all.status == 200 && all[.contentLength] == "1000000" && all[.contentType] == "image/jpeg")
        #expect(all[.cacheControl] == "max-age=5" && all[.eTag] == "\"v1\"" && all[.contentRange] == nil)
        let added = body.received(900_000)
        #expect(added == .append)
        let end = body.ended(nil)
        #expect(end.keep == .discard && end.failure == nil)
    }

    /// A shared cache must not store any part of an answer for one user (RFC 9111 section 5.2.2.7).
    @Test(arguments: [false, true]) func theBeginningOfAPrivateAnswerIsKeptOnlyForItsUser(isShared: Bool) {
        let (_, keep) = broken(whole + ["Cache-Control: private, max-age=60"], isShared: isShared)
        if isShared { #expect(keep == .nothing) } else { #expect(keep != .nothing) }
    }

    @Test func anotherProcessResumesAKeptBody() throws {
        let (_, keep) = broken()
        var later = ResumableBody(CacheRequest(), mode: .cacheFirst)
        #expect(later.wantsKept)
        let isUseful = later.found(metadata: try metadata(keep), length: 100_000)
        #expect(isUseful)
        #expect(later.fields[.range] == "bytes=100000-" && later.fields[.ifRange] == "\"v1\"")
        later.didAsk()
        #expect(later.fields.isEmpty && !later.wantsKept)
        guard case .append = later.head(part("100000-999999/1000000"), arrival()) else {
            throw WebImageError(.protocolError, "the rest is not taken")
        }
        let added = later.received(1000)
        #expect(added == .append)
        let end = later.ended(WebImageError(.idleTimeout, ""))
        #expect(end.keep == .release)
        #expect(later.fields[.range] == "bytes=101000-")
    }

    @Test(
        arguments: [
            ("another entity tag", "100000-999999/1000000", ["ETag: \"v2\""]),
            ("a weak entity tag", "100000-999999/1000000", ["ETag: W/\"v1\""]),
            ("no entity tag", "100000-999999/1000000", []),
            ("from the beginning", "0-999999/1000000", [etag]),
            ("one byte too early", "99999-999999/1000000", [etag]),
            ("one byte too late", "100001-999999/1000000", [etag]),
            ("another total", "100000-999998/999999", [etag]),
            ("beyond the total", "100000-1000000/1000001", [etag]),
            ("another length", "100000-999999/1000000", [etag, "Content-Length: 5"]),
            ("a length that is none", "100000-999999/1000000", [etag, "Content-Length: x"]),
            ("several parts", "100000-999999/1000000", [etag, "Content-Type: Multipart/byteranges; boundary=x"]),
            ("coded", "100000-999999/1000000", [etag, "Content-Encoding: gzip"]),
            ("backwards", "999999-100000/1000000", [etag]),
        ] as [(String, String, [String])])
    func aRestThatDoesNotFitIsRefused(_ name: String, _ range: String, _ lines: [String]) {
        var (body, _) = broken()
        body.didAsk()
        guard case .askAgain = body.head(part(range, lines), arrival()) else {
            Issue.record("\(name) was taken")
            return
        }
        // The next request is for the whole body.
        #expect(body.fields.isEmpty && body.length == 0)
        body.didAsk()
        guard case .restart = body.head(head(200, whole), arrival()) else {
            Issue.record("the whole was not taken")
            return
        }
    }

    @Test func answersToARangeRequestAreHandledByStatus() {
        let cases: [(ResponseHead, String)] = [
            (head(206, [etag]), "askAgain"), (head(416, ["Content-Range: bytes */1000000"]), "askAgain"),
            (head(416), "askAgain"), (head(412), "askAgain"), (head(200, whole), "restart"), (head(404), "forgets"),
            (head(410), "forgets"), (head(503), "leave"), (head(401), "leave"), (head(304), "leave"),
            (part("100000-999999/*"), "append"), (part("100000-500000/1000000"), "append"),
        ]
        for (answer, expected) in cases {
            var (body, _) = broken()
            body.didAsk()
            let action =
                switch body.head(answer, arrival()) {
                case .append: "append"
                case .restart: "restart"
                case .askAgain: "askAgain"
                case .leave(let forgets): forgets ? "forgets" : "leave"
                case .fail: "fail"
                }
            #expect(action == expected, "\(answer.status)")
            if expected == "leave" { #expect(body.length == 100_000) }
        }
    }

    @Test func aRestFromElsewhereIsRefused() {
        var (body, _) = broken()
        body.didAsk()
        guard case .askAgain = body.head(part("100000-999999/1000000"), arrival(place: "https://b.example/x")) else {
            Issue.record("another host's rest was taken")
            return
        }
    }

    @Test func anUnrequestedPartIsAProtocolError() {
        var body = ResumableBody(CacheRequest(), mode: .cacheFirst)
        body.didAsk()
        guard case .fail(let error) = body.head(part("0-9/10"), arrival()) else {
            Issue.record("a part was taken for the whole")
            return
        }
        #expect(error.code == .protocolError)
        // A part that the caller asked for is delivered to the caller.
        var own = ResumableBody(CacheRequest(fields: [.range: "bytes=0-9"]), mode: .cacheFirst)
        own.didAsk()
        guard case .leave(false) = own.head(part("0-9/10"), arrival()) else {
            Issue.record("the caller's part was taken away")
            return
        }
        let added = own.received(1 << 20)
        #expect(added == .nothing)
    }

    @Test func onlyStrongValidatorsAreTrusted() {
        let dated = ["Date: \(date(0))", "Content-Length: 1000000"]
        let cases: [(String, [String], Bool)] = [
            ("strong tag", whole, true),
            ("weak tag", ["ETag: W/\"v1\"", "Content-Length: 1000000"], false),
            ("weak tag and an old date", dated + ["ETag: W/\"v1\"", "Last-Modified: \(date(-600))"], false),
            ("nothing", ["Content-Length: 1000000"], false),
            ("old date", dated + ["Last-Modified: \(date(-60))"], true),
            ("young date", dated + ["Last-Modified: \(date(-59))"], false),
            ("date without the origin's clock", ["Last-Modified: \(date(-600))"], false),
            ("date of one of several forms", dated + ["Last-Modified: \(date(-600))", "Vary: Accept"], false),
            ("tag of one of several forms", whole + ["Vary: Accept"], true),
            ("a date that is none", dated + ["Last-Modified: x"], false),
            ("a server that sends no parts", whole + ["Accept-Ranges: none"], false),
            ("a body that is coded", whole + ["Content-Encoding: gzip"], false),
            ("a body that is not", whole + ["Content-Encoding: identity"], true),
            ("unknown length", [etag], true),
        ]
        for (name, lines, mayResume) in cases where name != "a server that sends no parts" {
            #expect(broken(lines).body.fields.isEmpty == !mayResume, "\(name)")
            if case .begin = broken(lines).keep {
                #expect(mayResume, "\(name)")
            } else {
                #expect(!mayResume, "\(name)")
            }
        }
        let refusing = [etag, "Content-Length: 1000000", "Accept-Ranges: none"]
        #expect(broken(refusing).body.fields.isEmpty && broken(refusing).keep == .nothing)
    }

    @Test func aDateIsComparedWordForWord() {
        let dated = ["Date: \(date(0))", "Content-Length: 1000000", "Last-Modified: \(date(-600))"]
        for (lines, isTaken) in [
            (["Last-Modified: \(date(-600))"], true), (["Last-Modified: \(date(-599))"], false), ([], false),
        ] {
            var (body, _) = broken(dated)
            #expect(body.fields[.ifRange] == date(-600))
            body.didAsk()
            if case .append = body.head(part("100000-999999/1000000", lines), arrival()) {
                #expect(isTaken)
            } else {
                #expect(!isTaken)
            }
        }
    }

    @Test func bodiesThatMustNotBeStoredAreNotKept() {
        let secret = whole + ["Cache-Control: no-store"]
        let silent = CacheRequest(fields: [.cacheControl: "no-store"])
        for (body, keep) in [broken(secret), broken(mode: .noStore), broken(request: silent)] {
            #expect(keep == .nothing)
            // The next attempt of the same load may still resume.
            #expect(!body.fields.isEmpty)
        }
        let partial = CacheRequest(fields: [.range: "bytes=0-"])
        #expect(broken(request: partial).body.fields.isEmpty)
        #expect(!ResumableBody(partial, mode: .cacheFirst).wantsKept)
        #expect(!ResumableBody(CacheRequest(), mode: .noStore).wantsKept)
        #expect(!ResumableBody(CacheRequest(method: .post), mode: .cacheFirst).wantsKept)
    }

    @Test func writingBeginsAtAMinimalLength() throws {
        var body = ResumableBody(CacheRequest(), mode: .cacheFirst)
        body.didAsk()
        _ = body.head(head(200, whole), arrival())
        let early = body.received(262_143)
        #expect(early == .nothing)
        _ = try metadata(body.received(1))
        let added = body.received(5)
        #expect(added == .append)
        #expect(body.length == 262_149)
        let end = body.ended(WebImageError(.cancelled, ""))
        #expect(end.keep == .release)
        #expect(broken(after: 65_535).keep == .nothing)
        #expect(broken(after: 65_535).body.fields.isEmpty)
        #expect(broken(after: 65_536).keep != .nothing)
    }

    @Test func errorsOfTheBodyDiscardTheKeptBytes() {
        for code in [
            WebImageError.Code.bodyTooLarge, .decompressionLimit, .protocolError, .badContentType, .responseRefused,
        ] {
            var body = ResumableBody(CacheRequest(), mode: .cacheFirst)
            body.didAsk()
            _ = body.head(head(200, whole), arrival())
            _ = body.received(300_000)
            let end = body.ended(WebImageError(code, ""))
            #expect(end.keep == .discard, "\(code.name)")
            #expect(body.fields.isEmpty)
        }
    }

    @Test func aShortBodyIsAnErrorAndABeginning() throws {
        var body = ResumableBody(CacheRequest(), mode: .cacheFirst)
        body.didAsk()
        _ = body.head(head(200, whole), arrival())
        _ = body.received(200_000)
        let end = body.ended(nil)
        #expect(end.failure?.code == .truncatedBody)
        _ = try metadata(end.keep)
        #expect(body.fields[.range] == "bytes=200000-")
        // A part that ends early is a beginning, too.
        body.didAsk()
        _ = body.head(part("200000-299999/1000000"), arrival())
        _ = body.received(100_000)
        let second = body.ended(nil)
        #expect(second.failure?.code == .truncatedBody)
        #expect(body.fields[.range] == "bytes=300000-")
    }

    @Test func aChangeBetweenTwoAttemptsBeginsAnew() throws {
        var (body, _) = broken()
        body.didAsk()
        guard case .restart = body.head(head(200, ["ETag: \"v2\"", "Content-Length: 500000"]), arrival()) else {
            throw WebImageError(.protocolError, "the new body is not taken")
        }
        #expect(body.length == 0)
        // The kept bytes belong to the old version. The new version is written from its first byte on.
        _ = try metadata(body.received(300_000))
        let end = body.ended(WebImageError(.connectionLost, ""))
        #expect(end.keep == .release)
        #expect(body.fields[.ifRange] == "\"v2\"" && body.fields[.range] == "bytes=300000-")
    }

    @Test func uselessKeptBytesAreNotResumed() throws {
        let kept = try metadata(broken().keep)
        let weak = try #require(storedResponse(["ETag: W/\"a\""])).encoded()
        for (metadata, length) in [
            (kept, 65_535), (kept, 1_000_000), (kept, 2_000_000), ([], 100_000), (weak, 100_000),
        ] {
            var body = ResumableBody(CacheRequest(), mode: .cacheFirst)
            let isUseful = body.found(metadata: metadata, length: length)
            #expect(!isUseful && body.fields.isEmpty)
        }
        var random = SeededGenerator(seed: 5)
        for _ in 0..<2000 {
            var body = ResumableBody(CacheRequest(), mode: .cacheFirst)
            _ = body.found(metadata: kept.withFlippedBits(1 + random.below(3), by: &random), length: 100_000)
            body.didAsk()
            _ = body.head(part("100000-999999/1000000"), arrival())
        }
    }

    /// An origin changes its picture, breaks off and sends wrong ranges. Whatever it does, a complete body consists of
    /// bytes of one version.
    @Test func noBodyIsEverMixed() {
        var random = SeededGenerator(seed: 2027)
        var (completions, resumptions) = (0, 0)
        for _ in 0..<500 {
            var body = ResumableBody(CacheRequest(), mode: .cacheFirst)
            var version = 1
            var bytes: [(version: Int, count: Int)] = []
            for _ in 0..<12 {
                if random.below(4) == 0 { version += 1 }
                let total = 500_000 + version
                let start = body.fields[.range].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
                let asksFor = body.fields[.ifRange]
                body.didAsk()
                let answersPart = start > 0 && (asksFor == "\"v\(version)\"" || random.below(3) == 0)
                let tag = "ETag: \"v\(version)\""
                let answer =
                    answersPart
                    ? head(206, [tag, "Content-Range: bytes \(start)-\(total - 1)/\(total)"])
                    : head(200, [tag, "Content-Length: \(total)"])
                var from = start
                switch body.head(answer, arrival()) {
                case .append: resumptions += 1
                case .restart: (bytes, from) = ([], 0)
                case .askAgain:
                    bytes = []
                    continue
                case .leave, .fail:
                    Issue.record("unexpected")
                    return
                }
                let count = random.below(3) == 0 ? total - from : random.below(total - from)
                _ = body.received(count)
                bytes.append((version, count))
                let isBroken = from + count < total && random.below(2) == 0
                if body.ended(isBroken ? WebImageError(.connectionLost, "") : nil).failure == nil {
                    completions += 1
                    #expect(Set(bytes.map(\.version)).count == 1)
                    #expect(bytes.reduce(0) { $0 + $1.count } == 500_000 + bytes[0].version)
                    break
                }
                // A beginning that is too short to be worth a request for the rest is dropped at the next 200.
            }
        }
        #expect(completions > 200 && resumptions > 100)
    }
}
