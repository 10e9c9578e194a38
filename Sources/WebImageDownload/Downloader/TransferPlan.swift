import HTTPTypes
import WebImageCore

/// The settings of one download: those of its request, and where that sets none, those of the configuration when the
/// download began.
struct TransferPlan: Sendable {
    let url: WebURL
    private let resolved: ResolvedRequest
    let snapshot: ConfigurationSnapshot
    /// Nil if the request has default options.
    private let options: MostlyDefaultBox<DownloadOptions>?
    /// Nil if the request has credentials of its own.
    let provider: CredentialProvider?

    init(url: WebURL, request: ResolvedRequest, snapshot: ConfigurationSnapshot) {
        self.url = url
        resolved = request
        self.snapshot = snapshot
        options = request.request.changedOptions
        provider = Self.provider(for: url, options, snapshot)
    }

    var request: DownloadRequest { resolved.request }
    /// The URL as the caller gave it.
    var requestedURL: String { resolved.request.url }
    var addressPolicy: AddressPolicy? { options?.value.addressPolicy ?? snapshot.configuration.addressPolicy }
    var tls: TLSPolicy { options?.value.tls(over: snapshot.configuration.tls) ?? snapshot.configuration.tls }
    var requestModifier: RequestModifier? { options?.value.requestModifier ?? snapshot.configuration.requestModifier }
    var responseModifier: ResponseModifier? {
        options?.value.responseModifier ?? snapshot.configuration.responseModifier
    }
    /// Whether a missed deadline counts as a failure of the host. A deadline that is shorter than the configuration's
    /// does not.
    var judgesHost: Bool { options?.value.deadlines?.areNoShorter(than: snapshot.configuration.deadlines) ?? true }
    var handlesCookies: Bool { options?.value.handlesCookies ?? false }

    private static func provider(
        for url: WebURL, _ options: MostlyDefaultBox<DownloadOptions>?, _ snapshot: ConfigurationSnapshot
    ) -> CredentialProvider? {
        let own = options?.value.credentialProvider
        guard let provider = own ?? snapshot.configuration.credentialProvider else { return nil }
        if options?.value.credentials != nil || url.credentials != nil { return nil }
        if options?.value.headers[.authorization] != nil { return nil }
        return own == nil && options?.value.netrcFile != nil ? nil : provider
    }

    func machine(createdAt: Duration, jitter: @escaping @Sendable () -> Double) -> TransferStateMachine {
        let fields = options?.value.headers ?? [:]
        let hasFields = !fields.isEmpty
        let chain = RedirectChain(
            url, method: resolved.request.method,
            limit: options?.value.redirectLimit ?? snapshot.configuration.redirectLimit,
            allowsHTTP: snapshot.configuration.allowsRedirectsToHTTP)
        let rules = TransferStateMachine.Rules(
            bodyLimit: (options?.value.bodyLimit ?? snapshot.configuration.bodyLimit).bytes,
            acceptableStatuses: options?.value.acceptableStatuses ?? snapshot.configuration.acceptableStatuses,
            contentTypes: options?.value.acceptableContentTypes ?? snapshot.configuration.acceptableContentTypes,
            sendsCredentials: options?.value.credentials != nil || url.credentials != nil
                || options?.value.netrcFile != nil || (hasFields && fields[.authorization] != nil)
                || snapshot.configuration.proxy.hasCredentials,
            readsNetrc: options?.value.netrcFile != nil,
            mayAskForCredentials: provider != nil,
            takesNotModified: hasFields && (fields[.ifNoneMatch] != nil || fields[.ifModifiedSince] != nil),
            takesParts: hasFields && fields[.range] != nil,
            retry: options?.value.retry ?? snapshot.configuration.retry, jitter: jitter)
        let clocks = TransferClocks(
            options?.value.deadlines ?? snapshot.configuration.deadlines, createdAt: createdAt,
            patience: snapshot.configuration.queueLimits.spare > 0 ? .seconds(1) : nil)
        return TransferStateMachine(chain, rules: rules, clocks: clocks)
    }

    /// How long connecting may take, and a question for credentials before it.
    var connectDeadline: Duration? { (options?.value.deadlines ?? snapshot.configuration.deadlines).connect }

    /// The fields of a hop before modifiers.
    func fields(for chain: RedirectChain) -> HTTPFields {
        var fields = snapshot.fields(of: request)
        if !chain.keepsSecrets {
            for name in snapshot.configuration.secretHeaders { fields[name] = nil }
        }
        return fields
    }

    func transportRequest(_ outgoing: OutgoingRequest, for chain: RedirectChain) -> TransportRequest {
        var sent = snapshot.usualRequest
        sent.url = outgoing.url
        sent.method = outgoing.method
        sent.headers = outgoing.headers
        if let body = outgoing.body { sent.body = body }
        let own = chain.keepsSecrets ? options?.value.credentials ?? chain.firstCredentials : nil
        // The caller's credentials come before those in the target of a redirect.
        if let credentials = own ?? chain.current.credentials { sent.credentials = credentials }
        if let scheme = options?.value.authentication, scheme != .basic { sent.authentication = scheme }
        // The file's entries are for the requested origin, not for the targets of redirects to others.
        if chain.keepsSecrets, let file = options?.value.netrcFile { sent.netrcFile = file }
        // The transport must not repeat a request that is sent without retries, nor one that is not safe to repeat.
        let isSafe = outgoing.method == .get || outgoing.method == .head
        let mayRepeat = isSafe && (options?.value.retry ?? snapshot.configuration.retry).retries > 0
        if sent.mayRepeat != mayRepeat { sent.mayRepeat = mayRepeat }
        if let own = options?.value.deadlines, sent.connectTimeout != own.connect { sent.connectTimeout = own.connect }
        if let options, options.value.tls != nil || options.value.trust != nil { sent.tls = tls }
        // The client certificate is for the first origin only; trust and pinned keys apply everywhere.
        if !chain.keepsSecrets, sent.tls.clientCertificate != nil { sent.tls.clientCertificate = nil }
        if let policy = options?.value.addressPolicy { sent.addressPolicy = policy }
        return sent
    }
}
