import ServerFiles
import HTTPTypes
import S3Client
import S3Signing
public import ServerConfiguration
public import ServerGrammar
import Tracing
public import WebImage

/// Makes requests to the library for sources of all kinds.
public enum SourceRequest {
    private static let s3Scheme = "s3://"

    /// - Parameters:
    ///   - source: `http`, `https` and, if they are enabled, `s3://BUCKET/KEY?VERSION` and `local:///PATH`.
    ///   - cookies: the client's cookies that are sent to the origin of the source.
    ///   - change: adapts the request to its purpose.
    /// - Throws: 404 if the bucket or the folder is not served.
    public static func make(
        _ source: String, cookies: String? = nil, _ settings: ServerSettings,
        _ change: (inout ImageRequest.Options) -> Void
    ) throws(RequestRefusal) -> ImageRequest {
        try check(source, settings)
        // The text of the URL decides which bucket the source is in.
        if source.hasPrefix(s3Scheme), SourceURL(source)?.hasDotSegments == true {
            throw .invalidSource("the source has segments of dots")
        }
        if LocalFiles.has(source) {
            return ImageRequest(source) {
                change(&$0)
                $0.http.addressPolicy = LocalFiles.policy
                // A local file needs no cache.
                $0.caching.readsOriginal = false
                $0.caching.storesOriginal = false
            }
        }
        guard source.hasPrefix(s3Scheme) else {
            let access = access(to: source, settings)
            return ImageRequest(source) {
                change(&$0)
                if !access.isEmpty { $0.caching.key = key(source) + access }
                if let cookies { $0.http.headers[.cookie] = cookies }
                if let marks = SourceLoop.marks { $0.http.headers[SourceLoop.field] = marks }
                if let modifier = modifier(settings) { $0.http.requestModifier = modifier }
            }
        }
        let request = try object(source.dropFirst(s3Scheme.count), settings)
        let (credentials, now) = (settings.s3.credentials, settings.grammar.now)
        return ImageRequest("\(request.location.endpoint.scheme)://\(request.location.host)\(request.target)") {
            change(&$0)
            // The cache key is the `s3:` URL, which stays the same if the storage moves.
            if $0.caching.key == nil { $0.caching.key = source }
            // The operator has configured the storage, so that it may be in a private network. It cannot redirect
            // elsewhere.
            $0.http.addressPolicy = AddressPolicy()
            $0.http.redirectLimit = 0
            if let text = settings.s3.authoritiesText { $0.http.trust = .systemAnd(pem: Array(text.utf8)) }
            // Replaces the server's own modifier, which checks redirects against the allowed sources.
            $0.http.requestModifier =
                credentials.map { signing(request, $0, now) } ?? .changing(name: "s3 unsigned") { _ in }
        }
    }

    /// The key under which a source is cached, without user and password: keys are kept with the entries. The library
    /// adds a digest of the user.
    static func key(_ source: String) -> String { SourceURL(source)?.withoutUser ?? source }

    /// What is added to a source's name in the keys of what is made of it: the settings that say from where it may be loaded;
    /// empty for the defaults. What was loaded under other settings is no longer found: not what a server may load no longer,
    /// nor what came from a server that was not verified.
    ///
    /// `s3:` sources are left out: they are the same wherever the storage is.
    static func access(to source: String, _ settings: ServerSettings) -> String {
        if LocalFiles.has(source) { return "\naccess \(settings.localRoot ?? "")" }
        guard source.hasPrefix("http") else { return "" }
        let allowed = [
            ("loopback", settings.allowsLoopback), ("link-local", settings.allowsLinkLocal),
            ("private", settings.allowsPrivate), ("unverified", settings.ignoresTLS),
        ]
        let names = allowed.filter(\.1).map(\.0)
        return names.isEmpty ? "" : "\naccess \(names.joined(separator: " "))"
    }

    /// Checks that sources of this kind are served; called even if the result is cached.
    ///
    /// - Throws: 404 if the bucket or the folder is not served.
    public static func check(_ source: String, _ settings: ServerSettings) throws(RequestRefusal) {
        if LocalFiles.has(source) {
            guard settings.localRoot != nil else { throw .unreachable("there is no IMGPROXY_LOCAL_FILESYSTEM_ROOT") }
        } else if source.hasPrefix(s3Scheme) {
            guard settings.s3.serves(bucket: String(source.dropFirst(s3Scheme.count).prefix { $0 != "/" })) else {
                throw .unreachable("the source names no bucket that is served")
            }
        }
    }

    /// Whether a load brought the bytes of a source from its origin, rather than from a cache.
    ///
    /// - Parameter place: where the library found them.
    public static func brings(_ source: String, _ place: ImageSource) -> Bool {
        place == .network || place == .file && LocalFiles.has(source)
    }

    private struct Fields: Injector {
        func inject(_ value: String, forKey key: String, into carrier: inout HTTPFields) {
            if let name = HTTPField.Name(key) { carrier[name] = value }
        }
    }

    /// Checks each redirect against the allowed sources, and sends origins the trace of the request.
    ///
    /// - Returns: nil if neither is needed.
    private static func modifier(_ settings: ServerSettings) -> RequestModifier? {
        let (grammar, propagates) = (settings.grammar, settings.tracing?.isPropagated == true)
        guard !grammar.allowedSources.isEmpty || propagates else { return nil }
        var trace: HTTPFields = [:]
        if propagates, let context = ServiceContext.current {
            InstrumentationSystem.instrument.inject(context, into: &trace, using: Fields())
        }
        var modifier = RequestModifier.changing(name: "source") { [trace] request in
            guard grammar.allows(request: request.url) else {
                throw WebImageError(.redirectRefused, "the source is not one of IMGPROXY_ALLOWED_SOURCES")
            }
            for field in trace { request.headers[field.name] = field.value }
        }
        modifier.isSameForAllUsers = true
        // The trace does not change the identity of the requester.
        modifier.neutralHeaders.formUnion(["traceparent"].compactMap { HTTPField.Name($0) })
        return modifier
    }

    private static func object(_ name: Substring, _ settings: ServerSettings) throws(RequestRefusal) -> S3Request {
        let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bucket = parts.first.map(String.init), parts.count == 2 else {
            throw .unreachable("the source names no object")
        }
        let halves = parts[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        // Like imgproxy, for URLs that are joined of parts.
        let key = halves[0].drop { $0 == "/" }
        guard !key.isEmpty,
            let storage = try? settings.s3.configuration(ServerSettings.S3.Place(bucket: bucket))
        else { throw .unreachable("the source names no object") }
        let location = S3Location(
            endpoint: storage.endpoint, region: storage.region, bucket: bucket, key: String(key),
            usesPathStyle: storage.usesPathStyle)
        let version = halves.count > 1 ? String(halves[1]) : ""
        return S3Request("GET", location, query: version.isEmpty ? [] : [S3Field("versionId", version)])
    }

    /// Signs the request each time that it is sent, because a signature is valid only for some minutes.
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
        // The signature changes, but the identity of the requester does not.
        modifier.credentialScope = "s3"
        let changing = ["x-amz-date", "x-amz-content-sha256", "x-amz-security-token"]
        modifier.neutralHeaders.formUnion(changing.compactMap { HTTPField.Name($0) })
        return modifier
    }
}
