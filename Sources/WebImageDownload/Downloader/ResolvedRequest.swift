package import HTTPTypes
package import WebImageCore

/// What makes two requests the same: method, URL without fragment, the header fields given, and who asks.
package struct RequestFingerprint: Hashable, Sendable {
    let method: String
    /// Byte for byte: names of files that only look the same are two.
    let name: CacheKey
    /// Names in lower case, in the order of the names.
    let fields: [String]
    package let credentialScope: String?
}

/// A request whose source is known, ready to be joined or started. Made once and kept with what asks, since parsing a
/// URL costs more than joining a transfer.
package final class ResolvedRequest: Sendable {
    /// What must agree for two requests to share one transfer: the fingerprint, and whatever one of them may not lift or
    /// change for the other. Deadlines and retries are the first one's.
    struct Key: Hashable, Sendable {
        let fingerprint: RequestFingerprint
        /// The secret too: one who does not know it must not share the answer to one who does.
        let credentials: BasicCredentials?
        /// Of everything but URL, fields and credentials; nil when it is as a new request has it.
        let rest: Rest?
    }

    struct Rest: Hashable, Sendable {
        let body: [UInt8]?
        let authentication: AuthenticationScheme
        let netrcFile: String?
        let handlesCookies: Bool
        let tls: TLSPolicy?
        let addressPolicy: AddressPolicy?
        let bodyLimit: Int?
        let redirectLimit: Int?
        let statuses: StatusSet?
        let contentTypes: ContentTypes?
        /// Names of provider, modifiers, decryptor and loader.
        let hooks: [String?]
        /// What a provider knows beside its name.
        let secret: BasicCredentials?
        let prepared: PreparedRequest?
    }

    package let request: DownloadRequest
    let source: DownloadSource
    /// Of a web address; nil for other sources.
    let web: WebURL?
    let key: Key
    /// Looked up several times a download: hashed once.
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
    /// Nil for a request that leaves all of it as it is.
    static func of(_ request: DownloadRequest, _ changed: MostlyDefaultBox<DownloadOptions>?) -> Self? {
        if changed == nil, request.body == nil, request.prepared == nil { return nil }
        let options = changed?.value ?? DownloadOptions()
        let isPlain =
            request.body == nil && options.authentication == .basic && options.netrcFile == nil
            && !options.handlesCookies && options.tls == nil && options.addressPolicy == nil
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
            handlesCookies: options.handlesCookies, tls: options.tls,
            addressPolicy: options.addressPolicy,
            bodyLimit: options.bodyLimit?.bytes, redirectLimit: options.redirectLimit,
            statuses: options.acceptableStatuses, contentTypes: options.acceptableContentTypes,
            hooks: hooks,
            secret: options.credentialProvider?.secret, prepared: request.prepared)
    }
}

extension ResolvedRequest {
    /// The URL in normal form without fragment, user and password, which the key of the original is made of.
    package var originalURL: String { originalName.text }
    /// ``originalURL``, hashed.
    package var originalName: CacheKey { key.fingerprint.name }
    /// The same with more fields, which are added to what the caller says there.
    package func adding(_ fields: HTTPFields) -> ResolvedRequest {
        if fields.isEmpty { return self }
        var request = request
        request.options.headers.append(contentsOf: fields)
        request.prepared?.outgoing?.headers.append(contentsOf: fields)
        // What could be resolved once can be again.
        return (try? ResolvedRequest(request)) ?? self
    }

    /// The same as it is asked now.
    package func prepared(_ prepared: PreparedRequest) -> ResolvedRequest {
        var request = request
        request.prepared = prepared
        // What could be resolved once can be again.
        return (try? ResolvedRequest(request)) ?? self
    }

    /// Who asks, when the answer depends on it.
    package var credentialScope: String? { key.fingerprint.credentialScope }
    /// Whether who asks follows from more than the key of its original and the downloader's settings: from a password, a jar's
    /// cookies, a file, or what a modifier sets.
    package var dependsOnMore: Bool {
        if key.credentials != nil { return true }
        guard let options = request.changedOptions else { return false }
        return options.value.credentialProvider?.secret != nil || options.value.handlesCookies
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
    /// In lower case; empty where there is none.
    var scheme: String { URLReference(source.text[...]).scheme?.lowercased() ?? "" }
    /// The URL as messages may show it.
    package var shown: String { source.shown }
}

extension ResolvedRequest: Hashable {
    package static func == (left: ResolvedRequest, right: ResolvedRequest) -> Bool {
        left === right || (left.keyHash == right.keyHash && left.key == right.key)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(keyHash) }
}
