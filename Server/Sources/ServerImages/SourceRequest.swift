import ServerFiles
import HTTPTypes
import S3Client
import S3Signing
public import ServerConfiguration
public import ServerGrammar
import Tracing
public import WebImage

/// Requests to the library for sources, of each kind that URLs may name.
public enum SourceRequest {
    private static let s3Scheme = "s3://"

    /// - Parameters:
    ///   - source: `http`, `https`, and where they are switched on `s3://BUCKET/KEY?VERSION` and `local:///PATH`.
    ///   - cookies: the client's, for the origin of the source.
    ///   - change: sets what the request is for.
    /// - Throws: 404 for a bucket or a folder that is not served.
    public static func make(
        _ source: String, cookies: String? = nil, _ settings: ServerSettings,
        _ change: (inout ImageRequest.Options) -> Void
    ) throws(RequestRefusal) -> ImageRequest {
        try check(source, settings)
        // Whether a source is allowed, and in which bucket it is, is told by its text, and a path that climbs leads elsewhere.
        let isTold = !settings.grammar.allowedSources.isEmpty || source.hasPrefix(s3Scheme)
        if isTold, LocalFiles.has(source) || source.hasPrefix(s3Scheme), climbs(source) {
            throw .invalidSource("the source has segments of dots")
        }
        if LocalFiles.has(source) {
            return ImageRequest(source) {
                change(&$0)
                $0.http.addressPolicy = LocalFiles.policy
                // The file is here already.
                $0.caching.readsOriginal = false
                $0.caching.storesOriginal = false
            }
        }
        guard source.hasPrefix(s3Scheme) else {
            return ImageRequest(source) {
                change(&$0)
                if let cookies { $0.http.headers[.cookie] = cookies }
                if let modifier = modifier(settings) { $0.http.requestModifier = modifier }
            }
        }
        let request = try object(source.dropFirst(s3Scheme.count), settings)
        let (credentials, now) = (settings.s3.credentials, settings.grammar.now)
        return ImageRequest("\(request.location.endpoint.scheme)://\(request.location.host)\(request.target)") {
            change(&$0)
            // What is kept is found by the name in URLs, also where the storage moves.
            if $0.caching.key == nil { $0.caching.key = source }
            // The storage is whoever runs the server says it is, also in a network of its own, and leads nowhere else.
            $0.http.addressPolicy = AddressPolicy()
            $0.http.redirectLimit = 0
            if let text = settings.s3.authoritiesText { $0.http.trust = .systemAnd(pem: Array(text.utf8)) }
            // In place of the server's own, which holds redirects of strangers against the sources that are allowed.
            $0.http.requestModifier =
                credentials.map { signing(request, $0, now) } ?? .changing(name: "s3 unsigned") { _ in }
        }
    }

    /// Looks whether sources of that kind are served at all: also where the result is there already.
    ///
    /// - Throws: 404 for a bucket or a folder that is not served.
    public static func check(_ source: String, _ settings: ServerSettings) throws(RequestRefusal) {
        if LocalFiles.has(source) {
            guard settings.localRoot != nil else { throw .unreachable("there is no IMGPROXY_LOCAL_FILESYSTEM_ROOT") }
        } else if source.hasPrefix(s3Scheme) {
            guard settings.s3.serves(bucket: String(source.dropFirst(s3Scheme.count).prefix { $0 != "/" })) else {
                throw .unreachable("the source names no bucket that is served")
            }
        }
    }

    private static func climbs(_ source: String) -> Bool {
        let path = source.prefix { $0 != "?" && $0 != "#" }
        return (PercentEncoding.decode(path) ?? String(path)).split(separator: "/").contains { $0 == "." || $0 == ".." }
    }

    private struct Fields: Injector {
        func inject(_ value: String, forKey key: String, into carrier: inout HTTPFields) {
            if let name = HTTPField.Name(key) { carrier[name] = value }
        }
    }

    /// Holds each hop against the sources that are allowed, and tells origins of the trace that a request belongs to.
    ///
    /// - Returns: nil where there is nothing to do.
    private static func modifier(_ settings: ServerSettings) -> RequestModifier? {
        let (grammar, propagates) = (settings.grammar, settings.tracing?.isPropagated == true)
        guard !grammar.allowedSources.isEmpty || propagates else { return nil }
        var trace: HTTPFields = [:]
        if propagates, let context = ServiceContext.current {
            InstrumentationSystem.instrument.inject(context, into: &trace, using: Fields())
        }
        var modifier = RequestModifier.changing(name: "source") { [trace] request in
            guard grammar.allows(source: request.url) else {
                throw WebImageError(.redirectRefused, "the source is not one of IMGPROXY_ALLOWED_SOURCES")
            }
            for field in trace { request.headers[field.name] = field.value }
        }
        modifier.speaksForNobody = true
        // Who asks is the same, whatever the trace is.
        modifier.neutralHeaders.formUnion(["traceparent"].compactMap { HTTPField.Name($0) })
        return modifier
    }

    private static func object(_ name: Substring, _ settings: ServerSettings) throws(RequestRefusal) -> S3Request {
        let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bucket = parts.first.map(String.init), parts.count == 2 else {
            throw .unreachable("the source names no object")
        }
        let halves = parts[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard !halves[0].isEmpty,
            let storage = try? settings.s3.configuration(ServerSettings.S3.Place(bucket: bucket))
        else { throw .unreachable("the source names no object") }
        let location = S3Location(
            endpoint: storage.endpoint, region: storage.region, bucket: bucket, key: String(halves[0]),
            usesPathStyle: storage.usesPathStyle)
        let version = halves.count > 1 ? String(halves[1]) : ""
        return S3Request("GET", location, query: version.isEmpty ? [] : [S3Field("versionId", version)])
    }

    /// A signature holds for some minutes: each time that the request is sent it gets a new one.
    private static func signing(
        _ request: S3Request, _ credentials: S3Credentials, _ now: @escaping @Sendable () -> Int
    ) -> RequestModifier {
        var modifier = RequestModifier.changing(name: "s3 \(credentials.accessKey)") { outgoing in
            let time = S3Timestamp(secondsSince1970: Int64(now()))
            for field in S3Signature(of: request, by: credentials, at: time).headers where field.name != "host" {
                guard let name = HTTPField.Name(field.name) else { continue }
                outgoing.headers[name] = field.value
            }
        }
        // The signature changes, and who asks does not.
        modifier.credentialScope = "s3"
        let changing = ["x-amz-date", "x-amz-content-sha256", "x-amz-security-token"]
        modifier.neutralHeaders.formUnion(changing.compactMap { HTTPField.Name($0) })
        return modifier
    }
}
