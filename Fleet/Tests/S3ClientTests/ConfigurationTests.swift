import FleetTesting
import NIOCore
import NIOPosix
import S3Signing
import Testing

@testable import S3Client

@Suite struct S3ConfigurationTests {
    @Test func awsIsTheDefault() throws {
        let configuration = try S3Configuration(bucket: "my-bucket", region: "eu-central-1")
        #expect(configuration.endpoint == S3Endpoint(scheme: .https, host: "s3.eu-central-1.amazonaws.com"))
        #expect(configuration.location("a").host == "my-bucket.s3.eu-central-1.amazonaws.com")
        #expect(!configuration.usesPathStyle && configuration.prefix.isEmpty)
        #expect(try S3Configuration(bucket: "my-bucket").location("a").host == "my-bucket.s3.us-east-1.amazonaws.com")
        // A certificate for *.s3.amazonaws.com does not cover a bucket name with dots, so that such a bucket is part of
        // the path.
        #expect(try S3Configuration(bucket: "my.bucket").location("a").path == "/my.bucket/a")
    }

    @Test(arguments: [
        ("http://localhost:9000", S3Endpoint(scheme: .http, host: "localhost", port: 9000)),
        ("https://S3.Example/", S3Endpoint(scheme: .https, host: "s3.example")),
        ("HTTP://10.0.0.1", S3Endpoint(scheme: .http, host: "10.0.0.1")),
        ("https://[::1]:443", S3Endpoint(scheme: .https, host: "::1", port: 443)),
        ("https://[::1]", S3Endpoint(scheme: .https, host: "::1")),
    ])
    func endpointsAreRead(_ url: String, _ endpoint: S3Endpoint) throws {
        let configuration = try S3Configuration(bucket: "my-bucket", endpoint: url)
        #expect(configuration.endpoint == endpoint && configuration.usesPathStyle)
    }

    @Test(arguments: [
        "", "localhost:9000", "ftp://a", "http://", "http:///", "http://a:0", "http://a:x", "http://a:65536",
        "http://a/b",
        "http://a?b", "http://a b", "http://a\r\nHost: b", "http://[::1", "http://[a]", "http://user:hunter2@a",
        "http://a#b", "http://ü",
    ])
    func invalidEndpointsAreRefused(_ url: String) {
        do throws(S3Error) {
            _ = try S3Configuration(bucket: "my-bucket", endpoint: url)
            Issue.record("\(url)")
        } catch {
            guard case .configuration(let text) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(!text.contains("hunter2"))
        }
    }

    @Test(arguments: [
        "", "ab", "My-Bucket", "my_bucket", "-my-bucket", "my-bucket-", "my..bucket", "my/bucket", "10.0.0.1", "a b c",
        "my-bücket", "my-bucket\n", String(repeating: "a", count: 64),
    ])
    func invalidBucketNamesAreRefused(_ bucket: String) {
        #expect(throws: S3Error.self) { try S3Configuration(bucket: bucket) }
    }

    @Test(arguments: ["", "us east", "us/east", "a\r\nb", "a.b"]) func invalidRegionsAreRefused(_ region: String) {
        #expect(throws: S3Error.self) { try S3Configuration(bucket: "my-bucket", region: region) }
    }

    @Test func prefixesEndWithASlash() throws {
        for (prefix, whole) in [("", ""), ("a", "a/"), ("a/", "a/"), ("a/b c", "a/b c/")] {
            #expect(try S3Configuration(bucket: "my-bucket", prefix: prefix).prefix == whole)
        }
        for prefix in ["/", "/a", "a//b", "a//", "..", "a/./b", "a\u{0}", String(repeating: "a", count: 512)] {
            #expect(throws: S3Error.self) { try S3Configuration(bucket: "my-bucket", prefix: prefix) }
        }
    }

    @Test(arguments: [("", "hunter2"), ("a", ""), ("a\n", "hunter2"), ("a", "hunter2\n"), ("a b", "hunter2")])
    func credentialsThatCannotBeRightAreRefused(_ accessKey: String, _ secretKey: String) {
        let credentials = S3Credentials(accessKey: accessKey, secretKey: secretKey)
        do throws(S3Error) {
            _ = try S3Configuration(bucket: "my-bucket", credentials: credentials)
            Issue.record("\(credentials)")
        } catch {
            #expect(!"\(error)".contains("hunter2"))
        }
    }

    @Test func aConfigurationShowsNoSecret() throws {
        let configuration = try S3Configuration(
            bucket: "my-bucket", credentials: S3Credentials(accessKey: "a", secretKey: "hunter2"))
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!dumped.contains("hunter2") && !"\(configuration)".contains("hunter2"))
    }

    @Test func authoritiesThatCannotBeReadAreRefused() throws {
        var configuration = try S3Configuration(bucket: "my-bucket")
        configuration.certificateAuthorities = "no such file"
        #expect(throws: S3Error.self) { try S3Client(configuration, group: MultiThreadedEventLoopGroup.singleton) }
    }
}

@Suite struct S3ErrorDocumentTests {
    @Test func textsAreReadAndBounded() {
        let long = String(repeating: "x", count: 1000)
        let document = ErrorDocument(ByteBuffer(string: "<Code>A</Code><Message>\(long)</Message><Region>r"))
        #expect(document.code == "A" && document.message == long.prefix(256) && document.region == "r")
        #expect(ErrorDocument(ByteBuffer()).code == "")
        #expect(ErrorDocument(ByteBuffer(string: "<Code>&amp;lt;\u{1B}[31m\u{202E}é</Code>")).code == "&lt;?[31m?é")
    }

    @Test func anyBytesAreReadWithoutHarm() {
        var numbers = SeededNumbers(seed: 1)
        let pieces: [[UInt8]] = ["<Code>", "</Code>", "<Message>", "&lt", ";", "<", "&", "\u{202E}"].map {
            Array($0.utf8)
        }
        for _ in 0..<2000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0..<20, using: &numbers) {
                bytes +=
                    Bool.random(using: &numbers)
                    ? [UInt8.random(in: 0...255, using: &numbers)] : pieces.randomElement(using: &numbers) ?? []
            }
            let document = ErrorDocument(ByteBuffer(bytes: bytes))
            #expect(!document.code.utf8.contains { $0 < 0x20 } && document.code.unicodeScalars.count <= 64)
        }
    }
}
