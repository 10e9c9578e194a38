import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageDownload

/// The credential scope in cache keys: different for each user, and without the user's name.
@Suite struct CredentialScopeTests {
    private func scope(_ change: (inout DownloadRequest) -> Void) throws -> String? {
        var request = DownloadRequest(url: "https://a.test/x")
        change(&request)
        return try ResolvedRequest(request).credentialScope
    }

    private func certificate(_ bytes: [UInt8]) -> TLSPolicy {
        TLSPolicy(clientCertificate: .init(certificate: bytes, key: [0]))
    }

    @Test func theScopeOfAUserIsADigestOfTheName() throws {
        // The beginning of the output of `printf alice | sha256sum`.
        let alice = "user:2bd806c97f0e00af1a1fc3328fa763a9"
        #expect(try scope { $0.credentials = BasicCredentials(user: "alice", password: "x") } == alice)
        #expect(try scope { $0.url = "https://alice:y@a.test/x" } == alice)
        #expect(try scope { _ in } == nil)
        let named = try scope {
            $0.credentials = BasicCredentials(user: "alice", password: "x")
            $0.credentialScope = "tenant 7"
        }
        #expect(named == "tenant 7")
    }

    @Test func differentCredentialsHaveDifferentScopes() throws {
        let all = try [
            scope { $0.credentials = BasicCredentials(user: "alice", password: "x") },
            scope { $0.credentials = BasicCredentials(user: "bob", password: "x") },
            scope {
                $0.credentialProvider = .password(BasicCredentials(user: "alice", password: "x"), for: "https://a.test")
            },
            scope {
                $0.credentialProvider = .password(BasicCredentials(user: "bob", password: "x"), for: "https://a.test")
            },
            scope { $0.netrcFile = "/alice/.netrc" }, scope { $0.netrcFile = "/bob/.netrc" },
            scope { $0.tls = certificate([1]) }, scope { $0.tls = certificate([2]) },
            scope { $0.handlesCookies = true },
            scope {
                $0.handlesCookies = true
                $0.tls = certificate([1])
            },
            scope {
                $0.handlesCookies = true
                $0.tls = certificate([2])
            },
        ].map { try #require($0) }
        #expect(Set(all).count == all.count)
        #expect(all.allSatisfy { !$0.contains("alice") && !$0.contains("bob") })
    }

    /// The cache key does not contain the client certificate of the downloader's configuration; the scope for the rules
    /// of HTTP caching does.
    @Test func aCertificateOfTheDownloaderCountsForTheRules() throws {
        func scope(_ configured: TLSPolicy, _ own: TLSPolicy?) throws -> String? {
            var request = DownloadRequest(url: "https://a.test/x")
            request.tls = own
            let downloader = ImageDownloader(
                configuration: .with { $0.tls = configured }, transport: FakeTransport())
            return downloader.snapshot.cacheRequest(for: try ResolvedRequest(request)).credentialScope
        }
        let (first, second) = (try scope(certificate([1]), nil), try scope(certificate([2]), nil))
        #expect(first != nil && first != second)
        #expect(try scope(certificate([2]), certificate([1])) == first)
        #expect(try scope(certificate([1]), TLSPolicy()) == nil && scope(TLSPolicy(), nil) == nil)
    }
}
