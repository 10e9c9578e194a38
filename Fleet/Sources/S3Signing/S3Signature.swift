import FleetCrypto

/// A signature of a request, AWS Signature Version 4, which proves that the client has the credentials.
public struct S3Signature: Hashable, Sendable {
    /// The text that is signed, for comparing it with the text that a server reports as expected.
    public let stringToSign: String
    /// 64 hexadecimal digits.
    public let text: String
    /// All headers to send, including `host` and `authorization`.
    public let headers: [S3Field]

    public init(of request: S3Request, by credentials: S3Credentials, at time: S3Timestamp) {
        var headers =
            request.headers + [
                S3Field("host", request.location.host), S3Field("x-amz-content-sha256", request.payload.text),
                S3Field("x-amz-date", time.text),
            ]
        if let token = credentials.sessionToken { headers.append(S3Field("x-amz-security-token", token)) }
        let canonical = CanonicalRequest(
            method: request.method, path: request.location.path, query: request.query, headers: headers,
            payload: request.payload)
        let scope = Scope(day: time.day, region: request.location.region)
        stringToSign = scope.stringToSign(canonical, time)
        text = scope.signature(of: stringToSign, by: credentials)
        let authorization =
            "\(Scope.algorithm) Credential=\(credentials.accessKey)/\(scope.text),SignedHeaders=\(canonical.signedHeaders),"
            + "Signature=\(text)"
        self.headers = headers + [S3Field("authorization", authorization)]
    }
}

/// The day and the region for which a signature is valid.
private struct Scope {
    static let algorithm = "AWS4-HMAC-SHA256"

    var day: String
    var region: String

    var text: String { "\(day)/\(region)/s3/aws4_request" }

    func stringToSign(_ request: CanonicalRequest, _ time: S3Timestamp) -> String {
        let digest = Hexadecimal.text(SecureHash.sha256(Array(request.text.utf8)))
        return [Self.algorithm, time.text, text, digest].joined(separator: "\n")
    }

    func signature(of text: String, by credentials: S3Credentials) -> String {
        // Each key is the code of the next part of the scope.
        let key = [day, region, "s3", "aws4_request"].reduce(Array("AWS4\(credentials.secretKey)".utf8)) { key, part in
            SecretKey(key).code(of: Array(part.utf8))
        }
        return Hexadecimal.text(SecretKey(key).code(of: Array(text.utf8)))
    }
}
