import S3Signing
import Testing

private let examples = S3Credentials(
    accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")

private func aws(_ method: String, _ key: String = "", _ query: [S3Field] = [], _ headers: [S3Field] = []) -> S3Request
{
    let location = S3Location(
        endpoint: S3Endpoint(scheme: .https, host: "s3.amazonaws.com"), region: "us-east-1", bucket: "examplebucket",
        key: key, usesPathStyle: false)
    return S3Request(method, location, query: query, headers: headers)
}

private let midnight = S3Timestamp(secondsSince1970: 1_369_353_600)

/// The examples of the AWS documentation: "Signature Calculations for the Authorization Header" and "Authenticating
/// Requests: Using Query Parameters".
@Suite struct PublishedExampleTests {
    @Test func gettingAPartOfAnObject() {
        let signature = S3Signature(
            of: aws("GET", "test.txt", [], [S3Field("Range", "bytes=0-9")]), by: examples, at: midnight)
        #expect(
            signature.stringToSign == """
                AWS4-HMAC-SHA256
                20130524T000000Z
                20130524/us-east-1/s3/aws4_request
                7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972
                """)
        #expect(signature.text == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
        #expect(
            signature.headers.last?.value == "AWS4-HMAC-SHA256 "
                + "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
                + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
        #expect(
            signature.headers.map(\.name) == ["Range", "host", "x-amz-content-sha256", "x-amz-date", "authorization"])
    }

    @Test func puttingAnObject() {
        var request = aws(
            "PUT", "test$file.text", [],
            [S3Field("Date", "Fri, 24 May 2013 00:00:00 GMT"), S3Field("x-amz-storage-class", "REDUCED_REDUNDANCY")])
        request.payload = .of(Array("Welcome to Amazon S3.".utf8))
        #expect(request.target == "/test%24file.text")
        #expect(
            S3Signature(of: request, by: examples, at: midnight).text
                == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    }

    @Test func gettingTheLifecycleOfABucket() {
        let request = aws("GET", "", [S3Field("lifecycle", "")])
        #expect(request.target == "/?lifecycle=")
        #expect(
            S3Signature(of: request, by: examples, at: midnight).text
                == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
    }

    @Test func listingObjects() {
        let request = aws("GET", "", [S3Field("prefix", "J"), S3Field("max-keys", "2")])
        #expect(
            S3Signature(of: request, by: examples, at: midnight).text
                == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }
}

/// Signatures that botocore 1.44.8 made, with a client of `s3` that has `signature_version="s3v4"`, the region
/// eu-central-1 and the bucket my-bucket. `botocore.auth.get_current_datetime` returned 2026-02-28 23:59:58, and a hook
/// of `before-send.s3` read the URL and the header `Authorization`.
@Suite struct BotocoreTests {
    private static let time = S3Timestamp(secondsSince1970: 1_772_323_198)

    private func location(_ key: String, usesPathStyle: Bool = true) -> S3Location {
        let local = S3Endpoint(scheme: .http, host: "127.0.0.1", port: 9000)
        return S3Location(
            endpoint: usesPathStyle ? local : .aws(region: "eu-central-1"), region: "eu-central-1", bucket: "my-bucket",
            key: key, usesPathStyle: usesPathStyle)
    }

    @Test(arguments: [
        ("plain", "plain", "53f99f3ddf7356a60b23d12e9f0b8326e1fd8c4025216b9e2abb6064350eb109"),
        ("a b+c", "a%20b%2Bc", "b6e077e770511676ec5e52042ea4d05abb1fc3b8e88710efe9b267f9223d6f8d"),
        (
            "münchen/日本/🙂", "m%C3%BCnchen/%E6%97%A5%E6%9C%AC/%F0%9F%99%82",
            "402b8690a48721e94050ec772240d5286f5a7de2e4540718207e1c3669be6525"
        ),
        ("a//b", "a//b", "098e0fcd12493b6c86f1ddaaf6f4dd67284760c69dedf6d3f33be429fde18b7b"),
        ("/a", "/a", "0d62562ff0a6f289c075794950d9d5527a314e8d0d173dbc9f66f2ee7aec2315"),
        ("a/", "a/", "490cff3d2db3018db1e0e881bddb55b5761244c8c37c5ab0bf47dd250f83801a"),
        ("../a/./b", "../a/./b", "26fb251a5cad75ae5b6c44555183988b4c8972bc6c172278a0395f1013fbf65c"),
        ("%2F%2f%", "%252F%252f%25", "17eba3fdadf6961711ac37f43e1d1ca4f359b70845ad8119cdb0b5c0e90ef3d0"),
        (
            "!*'();:@&=+$,?#[]~-_.^`{|}\\\"<>",
            "%21%2A%27%28%29%3B%3A%40%26%3D%2B%24%2C%3F%23%5B%5D~-_.%5E%60%7B%7C%7D%5C%22%3C%3E",
            "f783415b7860226f635eb6c253d57fc935b9b0f68e341acfd468dd66abc06ff1"
        ),
    ])
    func keysAreEncodedOnce(_ key: String, _ encoded: String, _ signature: String) {
        let location = location(key)
        #expect(location.path == "/my-bucket/" + encoded)
        #expect(S3Signature(of: S3Request("GET", location), by: examples, at: Self.time).text == signature)
    }

    private var temporary: S3Credentials {
        var credentials = examples
        credentials.sessionToken = "tok/en+=="
        return credentials
    }

    @Test func aSessionTokenIsSigned() {
        let location = location("a b+c", usesPathStyle: false)
        #expect(location.host == "my-bucket.s3.eu-central-1.amazonaws.com")
        #expect(location.path == "/a%20b%2Bc")
        let signature = S3Signature(of: S3Request("GET", location), by: temporary, at: Self.time)
        #expect(signature.text == "aa3ece05ace7af9f924bd2b7843a95bc7ad39692036d66fda725b8d02a64045b")
        #expect(signature.headers.contains(S3Field("x-amz-security-token", "tok/en+==")))
    }

    /// Two spaces in a header's value count as one.
    @Test func headersAndABodyAreSigned() {
        let headers = [
            S3Field("x-amz-meta-one", "1"), S3Field("x-amz-meta-b-two", "x  y"), S3Field("Content-Type", "image/png"),
        ]
        let request = S3Request("PUT", location("a b+c"), headers: headers, payload: .of(Array("Hello".utf8)))
        #expect(
            S3Signature(of: request, by: temporary, at: Self.time).text
                == "7211c8936a093538db565cf25286fdd70d8f0bd94ccc660bff84fb7b6cdd5e8c")
    }
}

@Suite struct SigningTests {
    /// The seconds since 1970 are from `date --utc --date`.
    @Test(arguments: [
        (0, "19700101T000000Z"), (-1, "19691231T235959Z"), (951_782_400, "20000229T000000Z"),
        (951_868_799, "20000229T235959Z"), (951_868_800, "20000301T000000Z"), (1_369_353_600, "20130524T000000Z"),
        (1_709_251_199, "20240229T235959Z"), (1_772_323_198, "20260228T235958Z"), (1_772_323_200, "20260301T000000Z"),
        (4_107_542_400, "21000301T000000Z"), (253_402_300_799, "99991231T235959Z"),
    ])
    func timesAreWritten(_ seconds: Int64, _ text: String) {
        let time = S3Timestamp(secondsSince1970: seconds)
        #expect(time.text == text)
        #expect(time.day == String(text.prefix(8)))
    }

    @Test func eachDayFollowsTheLast() {
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        var seconds: Int64 = 0
        for year in 1970..<2110 {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            for month in 1...12 {
                for day in 1...(lengths[month - 1] + (isLeap && month == 2 ? 1 : 0)) {
                    let digits = String(year * 10_000 + month * 100 + day)
                    if S3Timestamp(secondsSince1970: seconds).day != digits { Issue.record("\(digits)") }
                    seconds += 86_400
                }
            }
        }
    }

    @Test func descriptionsOfCredentialsShowNoSecret() {
        let credentials = S3Credentials(accessKey: "who", secretKey: "hunter2", sessionToken: "hunter3")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), "\([credentials])", dumped] {
            #expect(text.contains("who"))
            #expect(!text.contains("hunter"))
        }
    }

    @Test func hostsAreNamedWithTheirPorts() {
        func host(_ endpoint: S3Endpoint, _ usesPathStyle: Bool = true) -> String {
            S3Location(endpoint: endpoint, region: "r", bucket: "b", usesPathStyle: usesPathStyle).host
        }
        #expect(host(S3Endpoint(scheme: .http, host: "a", port: 80)) == "a")
        #expect(host(S3Endpoint(scheme: .http, host: "a", port: 443)) == "a:443")
        #expect(host(S3Endpoint(scheme: .https, host: "a", port: 443)) == "a")
        #expect(host(S3Endpoint(scheme: .http, host: "::1", port: 9000)) == "[::1]:9000")
        #expect(host(S3Endpoint(scheme: .http, host: "a", port: 9000), false) == "b.a:9000")
    }

    @Test func aBodyMayStayUnsigned() {
        var request = aws("PUT", "a")
        request.payload = .unsigned
        let headers = S3Signature(of: request, by: examples, at: midnight).headers
        #expect(headers.contains(S3Field("x-amz-content-sha256", "UNSIGNED-PAYLOAD")))
    }
}
