import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

@Suite struct FailedURLTests {
    private let clock = ManualClock()

    private func request(_ path: String, user: String? = nil, fields: [String] = []) throws -> ResolvedRequest {
        var request = DownloadRequest(url: "https://a.example/\(path)")
        request.credentialScope = user
        request.headers = httpFields(fields)
        return try ResolvedRequest(request)
    }

    private func status(_ number: Int) -> WebImageError { WebImageError(.badStatus, "", status: number) }

    @Test func aMissingPictureIsLeftAloneForAWhile() throws {
        let failed = FailedURLs(clock: clock)
        let request = try request("x")
        #expect(failed.refusal(of: request, retriesFailed: false) == nil)
        failed.failed(request, status(404))
        clock.advance(by: .seconds(299))
        let error = try #require(failed.refusal(of: request, retriesFailed: false))
        #expect(error.code == .blockedURL && error.status == 404)
        #expect((error.cause as? WebImageError)?.code == .badStatus)
        #expect(error.location == "https://a.example/x" && error.message.contains("1 s"))
        clock.advance(by: .seconds(1))
        #expect(failed.refusal(of: request, retriesFailed: false) == nil)
        #expect(failed.list().isEmpty)
        #expect(failed.statistics == .init(remembered: 1, refused: 1))
    }

    @Test func retryFailedIgnoresAndASuccessRemovesAFailure() throws {
        let failed = FailedURLs(clock: clock)
        let request = try request("x")
        failed.failed(request, status(404))
        #expect(failed.refusal(of: request, retriesFailed: true) == nil)
        #expect(failed.refusal(of: request, retriesFailed: false) != nil)
        failed.succeeded(request)
        #expect(failed.refusal(of: request, retriesFailed: false) == nil)
    }

    /// Error code, status, the seconds in `Retry-After`, and for how many seconds the URL is not requested again.
    @Test(
        arguments: [
            (.badStatus, 404, nil, 300), (.badStatus, 410, nil, 300), (.badStatus, 403, nil, 60),
            (.badStatus, 400, nil, 60),
            (.badStatus, 451, nil, 60), (.badStatus, 401, nil, 0), (.badStatus, 407, nil, 0), (.badStatus, 408, nil, 0),
            (.badStatus, 429, nil, 0), (.badStatus, 500, nil, 0), (.badStatus, 503, nil, 0), (.badStatus, 429, 20, 20),
            (.badStatus, 503, 7200, 3600), (.badStatus, 503, 0, 0), (.badStatus, 503, -5, 0), (.badStatus, 404, 10, 10),
            (.badContentType, nil, nil, 30), (.badImageData, nil, nil, 30), (.tlsFailed, nil, nil, 60),
            (.tooManyRedirects, nil, nil, 60), (.redirectRefused, nil, nil, 60), (.protocolError, nil, nil, 60),
            (.cancelled, nil, nil, 0), (.dnsFailed, nil, nil, 0), (.connectionRefused, nil, nil, 0),
            (.connectTimeout, nil, nil, 0), (.idleTimeout, nil, nil, 0), (.firstByteTimeout, nil, nil, 0),
            (.tooSlow, nil, nil, 0), (.deadlineExceeded, nil, nil, 0), (.connectionLost, nil, nil, 0),
            (.truncatedBody, nil, nil, 0), (.bodyTooLarge, nil, nil, 0), (.addressRefused, nil, nil, 0),
            (.authenticationFailed, 401, nil, 0), (.circuitOpen, nil, nil, 0), (.shutDown, nil, nil, 0),
            (.cacheMiss, nil, nil, 0), (.blockedURL, nil, nil, 0), (.noSpace, nil, nil, 0),
            (.requestRefused, nil, nil, 0),
            (.transformFailed, nil, nil, 0), (.cannotWrite, nil, nil, 0),
        ] as [(WebImageError.Code, Int?, Int?, Int)])
    func theLifetimeDependsOnCodeStatusAndRetryAfter(
        _ code: WebImageError.Code, _ status: Int?, _ retryAfter: Int?, _ seconds: Int
    ) throws {
        let error = WebImageError(code, "", status: status)
        let lifetime = FailedURLPolicy().lifetime(of: error, url: "", retryAfter: retryAfter.map { .seconds($0) })
        #expect(lifetime == .seconds(seconds), "\(code.name) \(status ?? 0)")
        let failed = FailedURLs(clock: clock)
        failed.failed(try request("x"), error, retryAfter: retryAfter.map { .seconds($0) })
        #expect(failed.list().count == (seconds > 0 ? 1 : 0))
    }

    /// Header fields of a 404, and for how many seconds it is remembered; nil for the policy's own lifetime.
    @Test(
        arguments: [
            ([], nil), (["Cache-Control: no-store"], 0), (["Cache-Control: no-cache, max-age=60"], 0),
            (["Cache-Control: max-age=2"], 2), (["Cache-Control: max-age=20", "Age: 15"], 5),
            (["Cache-Control: max-age=9999"], nil), (["Expires: \(date(7))", "Date: \(date(0))"], 7),
            (["Expires: 0"], 0), (["Cache-Control: public"], nil),
        ] as [([String], Int64?)])
    func anErrorIsRememberedNoLongerThanItsCacheFieldsSay(lines: [String], seconds: Int64?) {
        var error = status(404)
        error.lifetime = HTTPCacheRules.lifetime(ofFailure: head(404, lines), now: cacheStart)
        let lifetime = FailedURLPolicy().lifetime(of: error, url: "", retryAfter: nil)
        #expect(lifetime == .seconds(seconds ?? 300))
    }

    @Test func limitsOfOneRequestDoNotCountForOthers() throws {
        let policy = FailedURLPolicy()
        for (cause, seconds) in [
            (WebImageError.Code.limitExceeded, 0), (.truncatedData, 0), (.corruptData, 30), (.unknownFormat, 30),
        ] {
            let error = WebImageError(.badImageData, "", cause: WebImageError(cause, ""))
            #expect(policy.lifetime(of: error, url: "", retryAfter: nil) == .seconds(seconds))
            let failed = FailedURLs(clock: clock)
            failed.failed(try request("x"), error)
            // Another request for the same download, whose picture may have other limits.
            let refusal = failed.refusal(of: try request("x"), retriesFailed: false)
            #expect((refusal != nil) == (seconds > 0), "\(cause.name)")
        }
    }

    @Test func requestsThatDifferFailApart() throws {
        let failed = FailedURLs(clock: clock)
        failed.failed(try request("x", user: "anna"), status(403))
        #expect(failed.refusal(of: try request("x", user: "anna"), retriesFailed: false) != nil)
        for other in [
            try request("x"), try request("x", user: "otto"), try request("y", user: "anna"),
            try request("x", user: "anna", fields: ["X-A: 1"]),
        ] {
            #expect(failed.refusal(of: other, retriesFailed: false) == nil)
        }
        // The same URL, written differently.
        let same = try ResolvedRequest(
            { () -> DownloadRequest in
                var request = DownloadRequest(url: "HTTPS://A.example:443/x#fragment")
                request.credentialScope = "anna"
                return request
            }())
        #expect(failed.refusal(of: same, retriesFailed: false) != nil)
    }

    /// A failure that may be due to a request's own settings does not count for requests with other settings.
    @Test func failuresCountOnlyForRequestsWithTheSameSettings() throws {
        let failed = FailedURLs(clock: clock)
        failed.failed(try request("x"), WebImageError(.tlsFailed, ""))
        for change in [
            { $0.trust = .anyone }, { $0.trust = .systemAnd(pem: [1]) }, { $0.acceptableStatuses = .any },
            { $0.acceptableContentTypes = ["*/*"] }, { $0.redirectLimit = 20 },
            { $0.requestModifier = RequestModifier(name: "sign") { $0 } },
            { $0.credentials = BasicCredentials(user: "anna", password: "x") },
        ] as [(inout DownloadRequest) -> Void] {
            var other = DownloadRequest(url: "https://a.example/x")
            change(&other)
            #expect(failed.refusal(of: try ResolvedRequest(other), retriesFailed: false) == nil)
        }
        #expect(failed.refusal(of: try request("x"), retriesFailed: false) != nil)
    }

    @Test func removingAURLForgetsTheFailuresOfAllUsers() throws {
        let failed = FailedURLs(clock: clock)
        for user in [nil, "anna", "otto"] { failed.failed(try request("x", user: user), status(404)) }
        failed.failed(try request("y"), status(404))
        let removed = failed.remove("HTTPS://me:pw@A.example:443/x#part")
        #expect(removed && !failed.remove("https://a.example/x"))
        #expect(failed.list().map(\.url) == ["https://a.example/y"])
        #expect(!failed.remove("https://a.example/z") && !failed.remove(""))
    }

    @Test func filesAreNeverLeftAlone() throws {
        let failed = FailedURLs(clock: clock)
        let file = try ResolvedRequest(DownloadRequest(path: "/nowhere/x.png"))
        failed.failed(file, WebImageError(.badImageData, ""))
        #expect(failed.list().isEmpty && failed.refusal(of: file, retriesFailed: false) == nil)
    }

    @Test func theListShowsNoSecrets() throws {
        let failed = FailedURLs(clock: clock)
        let request = try ResolvedRequest(DownloadRequest(url: "https://anna:pw@a.example/x?token=abc&w=5"))
        failed.failed(request, status(404))
        failed.failed(request, status(410))
        let one = try #require(failed.list().first)
        #expect(one.url == "https://a.example/x?token=…&w=5")
        #expect(one.failures == 2 && one.error.status == 410 && one.remaining == .seconds(300))
    }

    @Test func listedFailuresCanBeRemoved() throws {
        let failed = FailedURLs(clock: clock)
        let requests = try (0..<5).map { try request("\($0)") }
        for (number, request) in requests.enumerated() {
            failed.failed(request, status(503), retryAfter: .seconds(10 + number))
        }
        #expect(failed.list().map(\.url.last) == ["4", "3", "2", "1", "0"])
        #expect(failed.remove(requests[2]) && !failed.remove(requests[2]))
        #expect(failed.list().count == 4)
        failed.removeAll()
        #expect(failed.list().isEmpty)
    }

    @Test func theLifetimeClosureWinsOverThePolicy() throws {
        var policy = FailedURLPolicy()
        policy.lifetime = { url, error in
            url.hasSuffix("/never") ? .zero : error.code == .dnsFailed ? .seconds(5) : nil
        }
        let failed = FailedURLs(policy: policy, clock: clock)
        failed.failed(try request("never"), status(404))
        failed.failed(try request("x"), WebImageError(.dnsFailed, ""))
        failed.failed(try request("y"), status(404))
        #expect(failed.list().map(\.remaining) == [.seconds(300), .seconds(5)])
    }

    @Test func theListNeverGrowsBeyondItsLimit() throws {
        var policy = FailedURLPolicy()
        policy.limit = 10
        let failed = FailedURLs(policy: policy, clock: clock)
        for number in 0..<100 {
            failed.failed(try request("\(number)"), status(503), retryAfter: .seconds(1000 - number))
            #expect(failed.list().count <= 10)
        }
        // The entries that would expire first are removed. The newest entry always stays.
        #expect(
            failed.list().map(\.remaining.components.seconds) == (991...1000).reversed().map { $0 }.dropLast() + [901])
        policy.limit = 3
        failed.setPolicy(policy)
        #expect(failed.list().count == 3)
        policy.limit = 0
        failed.setPolicy(policy)
        failed.failed(try request("x"), status(404))
        #expect(failed.list().isEmpty)
    }

    /// Random operations, compared with a plain dictionary.
    @Test func theTableAgreesWithADictionaryOfEndTimes() throws {
        var random = SeededGenerator(seed: 8)
        var table = FailedURLTable(policy: FailedURLPolicy())
        var model: [Int: Duration] = [:]
        var now = Duration.zero
        let requests = try (0..<40).map { try request("\($0)").key }
        for _ in 0..<5000 {
            now += .seconds(random.below(3))
            let number = random.below(40)
            switch random.below(4) {
            case 0:
                let lifetime = Duration.seconds(random.below(60))
                table.failed(requests[number], url: "", WebImageError(.badStatus, ""), lifetime: lifetime, at: now)
                model[number] = lifetime > .zero ? now + lifetime : nil
            case 1:
                _ = table.remove(requests[number])
                model[number] = nil
            case 2:
                let end = model[number].flatMap { $0 > now ? $0 - now : nil }
                #expect(table.failure(of: requests[number], at: now)?.remaining == end)
            default:
                #expect(table.list(at: now).count == model.values.filter { $0 > now }.count)
            }
        }
    }

    @Test func manyThreadsMayAskAtOnce() throws {
        let failed = FailedURLs(clock: clock)
        let requests = try (0..<8).map { try request("\($0)") }
        let pool = ThreadPool(name: "t", width: 4)
        let done = Atomic(0)
        for turn in 0..<400 {
            pool.run(.normal) {
                let request = requests[turn % 8]
                failed.failed(request, WebImageError(.badStatus, "", status: 404))
                _ = failed.refusal(of: request, retriesFailed: false)
                if turn % 3 == 0 { failed.succeeded(request) }
                _ = failed.list()
                done.add(1, ordering: .releasing)
            }
        }
        while done.load(ordering: .acquiring) < 400 {}
        #expect(failed.statistics.remembered == 400)
        #expect(failed.list().count <= 8)
    }

    @Test func aRefusalSaysWhenTheURLIsAskedAgain() throws {
        let failed = FailedURLs(clock: clock)
        failed.failed(try request("x"), status(404))
        clock.advance(by: .milliseconds(10))
        let refusal = failed.refusal(of: try request("x"), retriesFailed: false)
        #expect(
            refusal?.message
                == "this URL failed (badStatus), and is asked again in 5 min or with the option retriesFailed")
    }
}
