import ServerGrammar
public import S3Client
public import S3Signing

extension ServerSettings {
    /// A storage that speaks the S3 protocol: that of AWS or another.
    public struct S3: Sendable {
        /// A bucket, or a part of one.
        public struct Place: Hashable, Sendable {
            public var bucket: String
            public var prefix: String

            public init(bucket: String, prefix: String = "") { (self.bucket, self.prefix) = (bucket, prefix) }
        }

        /// `http://HOST[:PORT]` or `https://HOST[:PORT]`; nil: the endpoint of AWS in the region.
        public var endpoint: String?
        public var region = "us-east-1"
        /// Whether URLs name the bucket in their path; nil: only if an endpoint is set.
        public var usesPathStyle: Bool?
        public var credentials: S3Credentials?
        /// The path of a PEM file with the authorities that are trusted to sign the storage's certificate.
        public var authorities: String?
        /// The content of that file.
        public var authoritiesText: String?
        /// Whether sources may be `s3://BUCKET/KEY`.
        public var servesSources = false
        /// Only these buckets are served; empty: all.
        public var allowedBuckets: Set<String> = []
        public var deniedBuckets: Set<String> = []
        /// Where all servers of a fleet store their results; nil: nowhere.
        public var results: Place?
        /// Where all servers of a fleet store originals; nil: nowhere.
        public var originals: Place?

        public init() {}

        var isUsed: Bool { servesSources || results != nil || originals != nil }

        /// - Throws: if the settings or the place are invalid.
        public func configuration(_ place: Place) throws(S3Error) -> S3Configuration {
            var configuration = try S3Configuration(
                bucket: place.bucket, prefix: place.prefix, endpoint: endpoint, region: region,
                credentials: credentials, usesPathStyle: usesPathStyle)
            configuration.certificateAuthorities = authorities
            return configuration
        }

        /// Whether URLs may name the bucket.
        public func serves(bucket: String) -> Bool {
            servesSources && !deniedBuckets.contains(bucket)
                && (allowedBuckets.isEmpty || allowedBuckets.contains(bucket))
        }
    }

    mutating func readS3(_ reader: inout EnvironmentReader, _ readFile: (String) -> String?) {
        s3.servesSources = reader.flag("IMGPROXY_USE_S3", false)
        s3.region =
            reader.text("IMGPROXY_S3_REGION") ?? reader.text("AWS_REGION") ?? reader.text("AWS_DEFAULT_REGION")
            ?? "us-east-1"
        let usesPathStyle = reader.flag("IMGPROXY_S3_ENDPOINT_USE_PATH_STYLE", true)
        if let endpoint = reader.text("IMGPROXY_S3_ENDPOINT") {
            s3.endpoint = endpoint.contains("://") ? endpoint : "http://" + endpoint
            s3.usesPathStyle = usesPathStyle
        }
        s3.allowedBuckets = Set(reader.list("IMGPROXY_S3_ALLOWED_BUCKETS"))
        s3.deniedBuckets = Set(reader.list("IMGPROXY_S3_DENIED_BUCKETS"))
        s3.authorities = reader.text("WEBIMAGE_S3_CA_FILE")
        if let path = s3.authorities {
            s3.authoritiesText = readFile(path)
            if s3.authoritiesText == nil { reader.fail("WEBIMAGE_S3_CA_FILE: \(path) cannot be read") }
        }
        let keys = (reader.text("AWS_ACCESS_KEY_ID"), reader.text("AWS_SECRET_ACCESS_KEY"))
        let token = reader.text("AWS_SESSION_TOKEN")
        s3.credentials =
            if case (let accessKey?, let secretKey?) = keys {
                S3Credentials(accessKey: accessKey, secretKey: secretKey, sessionToken: token)
            } else {
                nil
            }
        s3.results = place("WEBIMAGE_S3_RESULTS", &reader)
        s3.originals = place("WEBIMAGE_S3_ORIGINALS", &reader)
        if (keys.0 == nil) != (keys.1 == nil), s3.isUsed {
            reader.fail("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must both be set, or neither of them")
        }
        if s3.servesSources, s3.results == nil, s3.originals == nil {
            // The other settings are checked with any bucket.
            check(S3.Place(bucket: "bucket", prefix: ""), "IMGPROXY_S3_ENDPOINT or IMGPROXY_S3_REGION", &reader)
        }
    }

    /// `BUCKET` or `BUCKET/PREFIX`.
    private func place(_ name: String, _ reader: inout EnvironmentReader) -> S3.Place? {
        guard let text = reader.text(name) else { return nil }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let place = S3.Place(bucket: parts[0], prefix: parts.count > 1 ? parts[1] : "")
        check(place, name, &reader)
        return place
    }

    private func check(_ place: S3.Place, _ name: String, _ reader: inout EnvironmentReader) {
        do throws(S3Error) {
            _ = try s3.configuration(place)
        } catch {
            reader.fail("\(name): \(error)")
        }
    }
}
