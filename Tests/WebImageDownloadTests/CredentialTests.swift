import HTTPTypes
import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// Credentials over real sockets: when they are asked for, when they are refused, and to whom they must not be sent.
@Suite struct CredentialTests {
    private let picture = OriginResponse.bytes([1, 2, 3], contentType: "image/png")
    private let ada = BasicCredentials(user: "ada", password: "secret")
    private static let adaBasic = "Basic YWRhOnNlY3JldA=="

    /// Answers 401 with `challenge` unless the request's `Authorization` field is `wanted`.
    private func lock(_ rig: Rig, _ path: String, _ challenge: String, opensFor wanted: String) {
        let picture = picture
        rig.server.serve(path) { request in
            request.header("authorization") == wanted
                ? picture : .status(401, headers: [("WWW-Authenticate", challenge)])
        }
    }

    private func download(_ rig: Rig, _ path: String, _ change: (inout DownloadRequest) -> Void) -> Download {
        var request = DownloadRequest(url: rig.server.url(path))
        change(&request)
        return rig.downloader.download(request)
    }

    private func origin(_ rig: Rig) -> String { "http://127.0.0.1:\(rig.server.port)" }

    @Test func aPasswordIsSentOnChallengeAndKeptForTheSession() async throws {
        let rig = try Rig()
        lock(rig, "/a", "Basic realm=\"x\"", opensFor: Self.adaBasic)
        let provider = CredentialProvider.password(ada, for: origin(rig))
        #expect(await rig.fetch(download(rig, "/a") { $0.credentialProvider = provider }) == ([1, 2, 3], "complete"))
        #expect(rig.server.requests("/a").map { $0.header("authorization") } == [nil, Self.adaBasic])
        rig.downloader.forgetCredentials()
        rig.downloader.configuration.credentialPersistence = .none
        _ = await rig.fetch(download(rig, "/a") { $0.credentialProvider = provider })
        _ = await rig.fetch(download(rig, "/a") { $0.credentialProvider = provider })
        #expect(rig.server.requests("/a").filter { $0.header("authorization") == nil }.count == 3)
    }

    /// Credentials that were accepted once are sent again after a redirect or in a retry. Their provider is not told
    /// that they were rejected.
    @Test(arguments: [CredentialPersistence.session, .none], ["redirect", "busy", "break"])
    func acceptedCredentialsAreSentAgainAfterRedirectAndRetry(_ persistence: CredentialPersistence, _ trouble: String)
        async throws
    {
        let rig = try Rig.retrying()
        rig.downloader.configuration.credentialPersistence = persistence
        let (picture, tries) = (picture, Counter())
        rig.server.serve("/a") { request in
            guard request.header("authorization") == Self.adaBasic else {
                return .status(401, headers: [("WWW-Authenticate", "Basic")])
            }
            tries.increment()
            if tries.value > 1 { return picture }
            switch trouble {
            case "redirect": return .redirect(to: "/b")
            case "busy": return .status(503)
            default: return picture.with(.cut(at: .byte(1)))
            }
        }
        lock(rig, "/b", "Basic", opensFor: Self.adaBasic)
        let rejected = Guarded<[Bool]>([])
        let ada = ada
        let provider = CredentialProvider(name: "once") { question in
            rejected.withLock { $0.append(question.rejected != nil) }
            return question.rejected == nil ? .password(ada) : nil
        }
        let download = download(rig, "/a") { $0.credentialProvider = provider }
        if trouble != "redirect" { await rig.passRest() }
        let (bytes, end) = await rig.fetch(download)
        #expect(bytes == [1, 2, 3] && end == "complete")
        #expect(rejected.withLock { $0 } == [false])
    }

    /// The provider's answer for the previous user was once kept and sent for the next user.
    @Test func credentialsForgottenDuringTheirRequestAreNotKept() async throws {
        let rig = try Rig()
        for path in ["/a", "/b"] { lock(rig, path, "Basic", opensFor: Self.adaBasic) }
        let (asked, gate, ada) = (Counter(), Gate(), ada)
        let provider = CredentialProvider(name: "user") { _ in
            asked.increment()
            await gate.opened()
            return .password(ada)
        }
        let first = download(rig, "/a") { $0.credentialProvider = provider }
        #expect(await eventually { asked.value == 1 })
        rig.downloader.forgetCredentials()
        gate.open()
        #expect(await rig.fetch(first).end == "complete")
        #expect(await rig.fetch(download(rig, "/b") { $0.credentialProvider = provider }).end == "complete")
        #expect(asked.value == 2)
    }

    /// A provider that never answered once made its origin unusable for good.
    @Test func aProviderThatDoesNotAnswerIsAskedAnew() async throws {
        let rig = try Rig(.with { $0.retry = .never })
        lock(rig, "/a", "Basic", opensFor: Self.adaBasic)
        let (asked, gate, ada) = (Counter(), Gate(), ada)
        let provider = CredentialProvider(name: "lost") { _ in
            asked.increment()
            if asked.value == 1 { await gate.opened() }
            return .password(ada)
        }
        let first = download(rig, "/a") { $0.credentialProvider = provider }
        // The deadlines of the transfer and of the question.
        #expect(await eventually { asked.value == 1 && rig.clock.waitingCount == 2 })
        rig.clock.advance(by: .seconds(10))
        let end = await rig.fetch(first).end
        #expect(end == "connectTimeout")
        #expect(await rig.fetch(download(rig, "/a") { $0.credentialProvider = provider }).end == "complete")
        #expect(asked.value == 2)
        gate.open()
    }

    @Test func aQuestionMayTakeAsLongAsTheRequestSays() async throws {
        let rig = try Rig(.with { $0.retry = .never })
        lock(rig, "/a", "Basic", opensFor: Self.adaBasic)
        let (asked, gate, ada) = (Counter(), Gate(), ada)
        let provider = CredentialProvider(name: "dialog") { _ in
            asked.increment()
            await gate.opened()
            return .password(ada)
        }
        let patient = download(rig, "/a") {
            $0.credentialProvider = provider
            $0.deadlines = DownloadDeadlines(connect: .seconds(60))
        }
        #expect(await eventually { asked.value == 1 && rig.clock.waitingCount == 2 })
        rig.clock.advance(by: .seconds(30))
        gate.open()
        #expect(await rig.fetch(patient).end == "complete")
    }

    /// A download that joined a question late once failed, as if the server had refused it, when the time of the one
    /// that had asked was over.
    @Test(arguments: [true, false])
    func aDownloadThatJoinsLateAsksAnewWhenTheFirstOneGivesUp(_ hasError: Bool) async throws {
        let rig = try Rig(.with { $0.retry = .never })
        for path in ["/a", "/b"] { lock(rig, path, "Basic", opensFor: Self.adaBasic) }
        let (asked, gate, ada) = (Counter(), Gate(), ada)
        let provider = CredentialProvider(name: "slow") { _ in
            asked.increment()
            guard asked.value == 1 else { return .password(ada) }
            await gate.opened()
            if hasError { throw CancellationError() }
            return nil
        }
        let first = download(rig, "/a") { $0.credentialProvider = provider }
        // The deadlines of the transfer and of the question.
        #expect(await eventually { asked.value == 1 && rig.clock.waitingCount == 2 })
        rig.clock.advance(by: .seconds(9))
        let second = download(rig, "/b") { $0.credentialProvider = provider }
        await rig.server.waitForFinished("/b", 1)
        rig.clock.advance(by: .seconds(1))
        gate.open()
        #expect(await rig.fetch(first).end != "complete")
        #expect(await rig.fetch(second).end == "complete")
        #expect(asked.value == 2)
    }

    @Test func theProviderIsAskedOnceForAllThatWait() async throws {
        let rig = try Rig()
        for path in 0..<5 { lock(rig, "/\(path)", "Basic", opensFor: Self.adaBasic) }
        let (asked, gate, ada) = (Counter(), Gate(), ada)
        let provider = CredentialProvider(name: "slow") { _ in
            asked.increment()
            await gate.opened()
            return .password(ada)
        }
        let downloads = (0..<5).map { path in download(rig, "/\(path)") { $0.credentialProvider = provider } }
        for path in 0..<5 { await rig.server.waitForFinished("/\(path)", 1) }
        gate.open()
        for download in downloads { #expect(await rig.fetch(download).end == "complete") }
        #expect(asked.value == 1)
    }

    @Test func refusedCredentialsAreSentOnce() async throws {
        let rig = try Rig()
        lock(rig, "/a", "Basic", opensFor: "never")
        let provider = CredentialProvider.password(ada, for: origin(rig))
        #expect(await rig.fetch(download(rig, "/a") { $0.credentialProvider = provider }).end == "authenticationFailed")
        #expect(rig.server.hits("/a") == 2)
        let nobody = CredentialProvider(name: "nobody") { _ in nil }
        #expect(await rig.fetch(download(rig, "/a") { $0.credentialProvider = nobody }).end == "authenticationFailed")
        #expect(rig.server.hits("/a") == 3)
    }

    /// The two providers have the same name but answer differently.
    @Test func theRightPasswordCountsAtOnceAfterAWrongOne() async throws {
        let rig = try Rig()
        lock(rig, "/a", "Basic", opensFor: Self.adaBasic)
        let wrong = CredentialProvider.password(BasicCredentials(user: "ada", password: "bad"), for: origin(rig))
        let right = CredentialProvider.password(ada, for: origin(rig))
        #expect(await rig.fetch(download(rig, "/a") { $0.credentialProvider = wrong }).end == "authenticationFailed")
        #expect(await rig.fetch(download(rig, "/a") { $0.credentialProvider = right }) == ([1, 2, 3], "complete"))
        #expect(rig.server.hits("/a") == 4)
        #expect(await rig.fetch(download(rig, "/a") { $0.credentialProvider = wrong }).end == "authenticationFailed")
        rig.downloader.isSuspended = true
        let first = download(rig, "/a") { $0.credentialProvider = right }
        #expect(!download(rig, "/a") { $0.credentialProvider = wrong }.wasJoined)
        #expect(download(rig, "/a") { $0.credentialProvider = right }.log === first.log)
    }

    @Test func aBearerTokenIsAskedAheadAndRefreshedOnce() async throws {
        let rig = try Rig()
        for path in ["/a", "/b", "/c"] { lock(rig, path, "Bearer", opensFor: "Bearer new") }
        let refreshes = Guarded<[Bool]>([])
        let provider = CredentialProvider.bearer(name: "token") { _, mustRefresh in
            refreshes.withLock { $0.append(mustRefresh) }
            return mustRefresh ? "new" : "old"
        }
        let downloads = ["/a", "/b", "/c"].map { path in download(rig, path) { $0.credentialProvider = provider } }
        for download in downloads { #expect(await rig.fetch(download).end == "complete") }
        #expect(refreshes.withLock { $0 } == [false, true])
        #expect(rig.server.requests("/a").compactMap { $0.header("authorization") }.last == "Bearer new")
        lock(rig, "/d", "Bearer", opensFor: "Bearer other")
        #expect(await rig.fetch(download(rig, "/d") { $0.credentialProvider = provider }).end == "authenticationFailed")
        #expect(rig.server.hits("/d") == 2)
    }

    @Test func credentialsAreNotSentToAnotherHost() async throws {
        let rig = try Rig()
        let other = try OriginServer()
        other.serve("/b", .status(401, headers: [("WWW-Authenticate", "Basic")]))
        rig.server.serve("/a", .redirect(to: other.url("/b")))
        let origins = Guarded<[String]>([])
        let provider = CredentialProvider.bearer(name: "token") { origin, _ in
            origins.withLock { $0.append(origin) }
            return "secret"
        }
        #expect(await rig.fetch(download(rig, "/a") { $0.credentialProvider = provider }).end == "authenticationFailed")
        #expect(other.requests("/b").map { $0.header("authorization") } == [nil])
        #expect(origins.withLock { $0 } == [origin(rig)])
        #expect(CredentialProvider.password(ada, for: "http://h").name == "ada@http://h")
    }

    @Test func digestDoesNotSendThePassword() async throws {
        let rig = try Rig()
        let picture = picture
        rig.server.serve("/a") { request in
            let sent = request.header("authorization") ?? ""
            return sent.hasPrefix("Digest username=\"ada\"")
                ? picture
                : .status(
                    401, headers: [("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=MD5")]
                )
        }
        for scheme in [AuthenticationScheme.digest, .negotiated] {
            let direct = download(rig, "/a") {
                $0.credentials = ada
                $0.authentication = scheme
            }
            #expect(await rig.fetch(direct) == ([1, 2, 3], "complete"))
        }
        let provider = CredentialProvider.password(ada, for: origin(rig))
        #expect(await rig.fetch(download(rig, "/a") { $0.credentialProvider = provider }).end == "complete")
        #expect(rig.server.requests("/a").allSatisfy { $0.header("authorization")?.hasPrefix("Basic") != true })
    }

    @Test func netrcIsReadOnRequest() async throws {
        let rig = try Rig()
        lock(rig, "/a", "Basic", opensFor: Self.adaBasic)
        let folder = try ScratchFolder()
        let file = folder.path + "/netrc"
        folder.write("netrc", "machine 127.0.0.1 login ada password secret\n")
        #expect(await rig.fetch(download(rig, "/a") { $0.netrcFile = file }).end == "complete")
        #expect(await rig.fetch(download(rig, "/a") { _ in }).end == "badStatus")
        #expect(await rig.fetch(download(rig, "/a") { $0.netrcFile = file + "x" }).end == "fileNotFound")
        folder.write("netrc", "machine elsewhere login ada password secret\n")
        #expect(await complaint(download(rig, "/a") { $0.netrcFile = file }).hasSuffix("or there are none for it"))
    }

    /// The error must not claim that the server rejects credentials that it was never sent.
    @Test func behindARedirectTheErrorSaysWhyNoCredentialsWereSent() async throws {
        let rig = try Rig()
        let other = try OriginServer()
        other.serve("/b", .status(401, headers: [("WWW-Authenticate", "Basic")]))
        rig.server.serve("/a", .redirect(to: other.url("/b")))
        lock(rig, "/c", "Basic", opensFor: "never")
        #expect(await complaint(download(rig, "/a") { $0.credentials = self.ada }).contains("a redirect led there"))
        let refused = await complaint(download(rig, "/c") { $0.credentials = self.ada })
        #expect(refused.hasSuffix("it does not accept these credentials"))
    }

    /// The message of the error with which the download fails.
    private func complaint(_ download: Download) async -> String {
        guard case .failed(let error) = await download.log.ended() else { return "" }
        return error.message
    }

    @Test func secretsAreNotInTexts() async throws {
        let rig = try Rig()
        let texts = [
            "\(ada)", String(reflecting: ada), "\(Credentials.bearer("secret"))", "\(Credentials.password(ada))",
            "\(TLSPolicy.ClientCertificate(certificate: [], key: Array("secret".utf8), password: "secret"))",
            String(describing: CredentialQuestion(origin: "o", challenge: nil, rejected: .bearer("secret"))),
        ]
        #expect(texts.allSatisfy { !$0.contains("secret") })
        lock(rig, "/a", "Basic", opensFor: "never")
        struct Leak: Error {}
        let failing = CredentialProvider(name: "x") { _ in throw Leak() }
        let download = download(rig, "/a?token=secret") { $0.credentialProvider = failing }
        guard case .failed(let error) = await download.log.ended() else { return #expect(Bool(false)) }
        #expect(error.code == .authenticationFailed && error.cause != nil && !"\(error)".contains("secret"))
    }

    @Test func onlyRequestsWithEqualProvidersAreJoined() throws {
        let rig = try Rig()
        rig.downloader.isSuspended = true
        let first = download(rig, "/a") { $0.credentialProvider = .password(self.ada, for: "http://h") }
        let second = download(rig, "/a") { $0.credentialProvider = .bearer(name: "t") { _, _ in "x" } }
        let third = download(rig, "/a") { $0.credentialProvider = .password(self.ada, for: "http://h") }
        #expect(!second.wasJoined && third.wasJoined && third.log === first.log)
    }
}
