package import HTTPTypes
package import WebImageCore

/// The identity of a request: method, URL without fragment, the given header fields, and the user.
package struct RequestFingerprint: Hashable, Sendable {
    let method: String
    /// Compared byte by byte: file names that only look the same are different.
    let name: CacheKey
    /// Names in lower case, sorted.
    let fields: [String]
    package let credentialScope: String?
}

/// A request whose source is known, ready to be joined or started. It is made once and kept with the load, because
/// parsing a URL costs more than joining a transfer.
package final class ResolvedRequest: Sendable {
    /// Two requests with equal keys share one transfer. The key has the fingerprint, and the options that one request
    /// must not change for another. Deadlines and retries are not in it: those of the first request apply.
    struct Key: Hashable, Sendable {
        let fingerprint: RequestFingerprint
        /// The credentials, including the password: a caller that does not know it must not share the answer.
        let credentials: BasicCredentials?
        /// The other options; nil if all have their default values.
        let rest: Rest?
    }

    struct Rest: Hashable, Sendable {
        let body: [UInt8]?
        let authentication: AuthenticationScheme
        let netrcFile: String?
        let handlesCookies: Bool
        let tls: TLSPolicy?
        let trust: TLSTrust?
        let addressPolicy: AddressPolicy?
        let bodyLimit: Int?
        let redirectLimit: Int?
        let statuses: StatusSet?
        let contentTypes: ContentTypes?
        /// The names of provider, modifiers, decryptor and loader.
        let hooks: [String?]
        /// The provider's fixed user and password, if it has them: providers with the same name may have different
        /// ones.
        let secret: BasicCredentials?
        let prepared: PreparedRequest?
    }

    package let request: DownloadRequest
    let source: DownloadSource
    /// The parsed URL of a web address; nil for other sources.
    let web: WebURL?
    let key: Key
    /// The hash of the key, computed once, because the key is looked up several times for each download.
    private let keyHash: Int

    /// - Throws: `invalidURL`, `unsupportedScheme`.
    package init(_ request: consuming DownloadRequest) throws(WebImageError) {
        source = try DownloadSource(request)
        if case .web(let url) = source { web = url } else { web = nil }
        key = Self.key(of: request, from: source)
        var hasher = Hasher()
        hasher.combine(key.fingerprint.name)
        hasher.combine(key.fingerprint.credentialScope)
        keyHash = hasher.finalize()
        self.request = request
    }

    private static func key(of request: DownloadRequest, from source: DownloadSource) -> Key {
        let options = request.changedOptions
        var credentials = options?.value.credentials
        if credentials == nil, case .web(let url) = source { credentials = url.credentials }
        let fingerprint = RequestFingerprint(
            method: request.method.rawValue, name: CacheKey(source.text),
            fields: FieldIdentity.all(options?.value.headers ?? [:]).map { "\($0.name.canonicalName): \($0.value)" },
            credentialScope: options?.value.credentialScope ?? CredentialScope.of(options, credentials))
        return Key(fingerprint: fingerprint, credentials: credentials, rest: Rest.of(request, options))
    }
}

extension ResolvedRequest.Rest {
    /// Nil for a request with default options.
    static func of(_ request: DownloadRequest, _ changed: MostlyDefaultBox<DownloadOptions>?) -> Self? {
        if changed == nil, request.body == nil, request.prepared == nil { return nil }
        let options = changed?.value ?? DownloadOptions()
        let isPlain =
            request.body == nil && options.authentication == .basic && options.netrcFile == nil
            && !options.handlesCookies && options.tls == nil && options.trust == nil && options.addressPolicy == nil
            && options.bodyLimit == nil && options.redirectLimit == nil
            && options.acceptableStatuses == nil
            && options.acceptableContentTypes == nil && options.credentialProvider == nil
            && options.requestModifier == nil && options.responseModifier == nil
            && options.decryptor == nil
            && options.loader == nil && request.prepared == nil
        if isPlain { return nil }
        let hooks = [
            options.credentialProvider?.name, options.requestModifier?.name,
            options.responseModifier?.name,
            options.decryptor?.name, options.loader?.name,
        ]
        return Self(
            body: request.body, authentication: options.authentication, netrcFile: options.netrcFile,
            handlesCookies: options.handlesCookies, tls: options.tls, trust: options.trust,
            addressPolicy: options.addressPolicy,
            bodyLimit: options.bodyLimit?.bytes, redirectLimit: options.redirectLimit,
            statuses: options.acceptableStatuses, contentTypes: options.acceptableContentTypes,
            hooks: hooks,
            secret: options.credentialProvider?.secret, prepared: request.prepared)
    }
}

extension ResolvedRequest {
    /// The URL in normal form without fragment, user and password, from which the key of the original is made.
    package var originalURL: String { originalName.text }
    /// ``originalURL`` with its hash.
    package var originalName: CacheKey { key.fingerprint.name }
    /// Returns the same request with fields added to the caller's.
    package func adding(_ fields: HTTPFields) -> ResolvedRequest {
        if fields.isEmpty { return self }
        var request = request
        request.options.headers.append(contentsOf: fields)
        request.prepared?.outgoing?.headers.append(contentsOf: fields)
        // A request that was resolved once can be resolved again.
        return (try? ResolvedRequest(request)) ?? self
    }

    /// Returns the same request with its preparation.
    package func prepared(_ prepared: PreparedRequest) -> ResolvedRequest {
        var request = request
        request.prepared = prepared
        // A request that was resolved once can be resolved again.
        return (try? ResolvedRequest(request)) ?? self
    }

    /// The user, if the answer depends on it.
    package var credentialScope: String? { key.fingerprint.credentialScope }
    /// Whether the user depends on more than the key of the original and the downloader's settings: on a password, a
    /// jar's cookies, a file, what a modifier sets, or which certificates the request itself trusts.
    package var dependsOnMore: Bool {
        if key.credentials != nil { return true }
        guard let options = request.changedOptions else { return false }
        return options.value.statedTrust != nil || options.value.credentialProvider?.secret != nil
            || options.value.handlesCookies
            || options.value.netrcFile != nil || options.value.requestModifier != nil
    }

    /// True for files, paths and `data:` URLs.
    package var isLocal: Bool {
        switch source {
        case .file, .data: true
        case .web, .loader: false
        }
    }
    /// True for `http` and `https`.
    package var isFromWeb: Bool { web != nil }
    /// The URL's scheme in lower case; empty if there is none.
    var scheme: String { URLReference(source.text[...]).scheme?.lowercased() ?? "" }
    /// The URL in the form for messages.
    package var shown: String { source.shown }
}

extension ResolvedRequest: Hashable {
    package static func == (left: ResolvedRequest, right: ResolvedRequest) -> Bool {
        left === right || (left.keyHash == right.keyHash && left.key == right.key)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(keyHash) }
}
