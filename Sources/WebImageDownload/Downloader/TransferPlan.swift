import HTTPTypes
import WebImageCore

/// How one download is done: its request, and for what that leaves open the configuration of the moment it began.
struct TransferPlan: Sendable {
    let url: WebURL
    private let resolved: ResolvedRequest
    private let snapshot: ConfigurationSnapshot
    /// Nil when the request has credentials of its own.
    let provider: CredentialProvider?

    init(url: WebURL, request: ResolvedRequest, snapshot: ConfigurationSnapshot) {
        self.url = url
        resolved = request
        self.snapshot = snapshot
        provider = Self.provider(for: url, request, snapshot)
    }

    var request: DownloadRequest { resolved.request }
    var configuration: DownloadConfiguration { snapshot.configuration }
    var addressPolicy: AddressPolicy? { request.options.addressPolicy ?? configuration.addressPolicy }
    var tls: TLSPolicy { request.options.tls ?? configuration.tls }
    var requestModifier: RequestModifier? { request.options.requestModifier ?? configuration.requestModifier }
    var responseModifier: ResponseModifier? { request.options.responseModifier ?? configuration.responseModifier }

    private static func provider(
        for url: WebURL, _ resolved: ResolvedRequest, _ snapshot: ConfigurationSnapshot
    ) -> CredentialProvider? {
        let own = resolved.request.options.credentialProvider
        guard let provider = own ?? snapshot.configuration.credentialProvider else { return nil }
        if resolved.request.options.credentials != nil || url.credentials != nil { return nil }
        if resolved.request.options.headers[.authorization] != nil { return nil }
        return own == nil && resolved.request.options.netrcFile != nil ? nil : provider
    }

    func machine(createdAt: Duration, jitter: @escaping @Sendable () -> Double) -> TransferStateMachine {
        let fields = request.options.headers
        let hasFields = !fields.isEmpty
        let chain = RedirectChain(
            url, method: request.method, limit: request.options.redirectLimit ?? configuration.redirectLimit,
            allowsHTTP: configuration.allowsRedirectsToHTTP)
        let rules = TransferStateMachine.Rules(
            bodyLimit: (request.options.bodyLimit ?? configuration.bodyLimit).bytes,
            acceptableStatuses: request.options.acceptableStatuses ?? configuration.acceptableStatuses,
            contentTypes: request.options.acceptableContentTypes ?? configuration.acceptableContentTypes,
            sendsCredentials: request.options.credentials != nil || url.credentials != nil
                || request.options.netrcFile != nil || (hasFields && fields[.authorization] != nil)
                || configuration.proxy.hasCredentials,
            mayAskForCredentials: provider != nil,
            takesNotModified: hasFields && (fields[.ifNoneMatch] != nil || fields[.ifModifiedSince] != nil),
            takesParts: hasFields && fields[.range] != nil,
            retry: request.options.retry ?? configuration.retry, jitter: jitter)
        let clocks = TransferClocks(
            request.options.deadlines ?? configuration.deadlines, createdAt: createdAt,
            patience: configuration.queueLimits.spare > 0 ? .seconds(1) : nil)
        return TransferStateMachine(chain, rules: rules, clocks: clocks)
    }

    /// The fields of a hop before anybody changes them.
    func fields(for chain: RedirectChain) -> HTTPFields {
        var fields = snapshot.fields(of: request)
        if !chain.keepsSecrets {
            for name in configuration.secretHeaders { fields[name] = nil }
        }
        return fields
    }

    func transportRequest(_ outgoing: OutgoingRequest, for chain: RedirectChain) -> TransportRequest {
        var sent = snapshot.usualRequest
        sent.url = outgoing.url
        sent.method = outgoing.method
        sent.headers = outgoing.headers
        if let body = outgoing.body { sent.body = body }
        var credentials = request.options.credentials ?? chain.firstCredentials
        if !chain.keepsSecrets { credentials = chain.current.credentials }
        if let credentials { sent.credentials = credentials }
        if request.options.authentication != .basic { sent.authentication = request.options.authentication }
        // Its entries are for those who are asked, not for whoever they send us to.
        if chain.keepsSecrets, let file = request.options.netrcFile { sent.netrcFile = file }
        // What is tried once the transport may not try again either, nor what is not safe to do twice.
        let isSafe = outgoing.method == .get || outgoing.method == .head
        let mayRepeat = isSafe && (request.options.retry ?? configuration.retry).retries > 0
        if sent.mayRepeat != mayRepeat { sent.mayRepeat = mayRepeat }
        if let tls = request.options.tls { sent.tls = tls }
        // Who we are is for the first origin only; whom we trust, and by which keys, is the same everywhere.
        if !chain.keepsSecrets, sent.tls.clientCertificate != nil { sent.tls.clientCertificate = nil }
        if let policy = request.options.addressPolicy { sent.addressPolicy = policy }
        return sent
    }
}
