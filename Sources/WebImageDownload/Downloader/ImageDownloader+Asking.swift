import HTTPTypes
import WebImageCore
import WebImageSystem

/// Who asks, and with what: before anything is sent.
extension ImageDownloader {
    /// What ``preparation(of:)`` found.
    package enum Preparation: Sendable {
        /// The request says all of it itself.
        case notNeeded
        case done(PreparedRequest)
        /// A modifier must be waited for: ``prepare(_:)``.
        case takesTime
    }

    /// What is to be found out before a cache is asked for a request, or another load joined: what its modifier sets, which
    /// cookies the jar has.
    package func preparation(of request: ResolvedRequest) -> Preparation {
        guard let preparation = RequestPreparation(request, center.snapshot) else { return .notNeeded }
        return preparation.atOnce().map { .done($0) } ?? .takesTime
    }

    /// The same, waiting for the modifier for as long as a connection may take.
    ///
    /// A modifier that fails or refuses is asked again when the request is sent, and is then the reason of its failure.
    package func prepare(_ request: ResolvedRequest) async -> PreparedRequest? {
        guard let preparation = RequestPreparation(request, center.snapshot) else { return nil }
        if let known = preparation.atOnce() { return known }
        let answer = CancellableAnswer<PreparedRequest>()
        let work = Task { answer.give(.success(await preparation.waiting())) }
        defer { work.cancel() }
        let alarm = preparation.time.map { time in
            center.clock.schedule(at: center.clock.now + time) { answer.give(.success(preparation.failed)) }
        }
        defer { alarm?.cancel() }
        return try? await answer.value()
    }

    /// What the rules of HTTP caching must know of a request: all that is sent with it.
    ///
    /// Of one whose modifier was not asked yet (``preparation(of:)``) that is not known.
    package func cacheRequest(for resolved: ResolvedRequest) -> CacheRequest {
        let (snapshot, request) = (center.snapshot, resolved.request)
        let configuration = snapshot.configuration
        let given = snapshot.fields(of: request)
        let modifier = resolved.web == nil ? nil : request.requestModifier ?? configuration.requestModifier
        let outgoing = request.prepared?.outgoing
        var scope = AskerScope(declared: request.credentialScope)
        scope.secretFields = snapshot.secretNames
        if scope.declared == nil {
            if let own = resolved.credentialScope { scope.parts.append(own) }
            // Whoever says that he is somebody must know what that one knows.
            if let secret = resolved.key.credentials ?? request.credentialProvider?.secret {
                scope.parts.append("knows:" + CredentialScope.digest(secret.password.utf8))
            }
            scope.parts += configuration.scopeParts(of: resolved)
            if let file = request.netrcFile {
                scope.parts.append("netrc:" + CredentialScope.digest(NetrcMark.text(of: file).utf8))
            }
            if let modifier {
                scope.parts.append("ask:" + CredentialScope.digest(modifier.name.utf8))
                scope.ofModifier = modifier.credentialScope
                // Those that are not the modifier's still count.
                if scope.ofModifier != nil { scope.parts += scope.secretFields.compactMap { given[$0] } }
            }
        }
        let target = outgoing.flatMap { outgoing in resolved.web?.text == outgoing.url ? nil : outgoing.url }
        return CacheRequest(
            method: outgoing?.method ?? request.method, fields: outgoing?.fields ?? given, scope: scope, target: target,
            knowsFields: modifier == nil || outgoing != nil,
            isSteady: modifier == nil && !resolved.dependsOnMore,
            cookies: cookies(of: resolved, configuration.cookieJar))
    }

    private func cookies(
        of resolved: ResolvedRequest, _ jar: any CookieJar
    ) -> (@Sendable (_ place: String) -> String?)? {
        guard resolved.request.handlesCookies, let url = resolved.web?.text else { return nil }
        let prepared = resolved.request.prepared
        return { place in
            if !place.isEmpty { return jar.cookies(for: place) }
            return prepared.map(\.cookies) ?? jar.cookies(for: url)
        }
    }
}

extension DownloadConfiguration {
    /// What the provider, the certificate and the hooks of all requests say of who asks.
    func scopeParts(of resolved: ResolvedRequest) -> [String] {
        let request = resolved.request
        var parts: [String] = []
        let speaksForItself =
            resolved.key.credentials != nil || request.credentialProvider != nil || request.netrcFile != nil
            || (!request.fields.isEmpty && request.fields[.authorization] != nil)
        if !speaksForItself, let credentialProvider { parts.append(CredentialScope.of(credentialProvider)) }
        if request.tls == nil, let certificate = tls.clientCertificate { parts.append(CredentialScope.of(certificate)) }
        // Of a request's own hooks the key knows.
        if request.responseModifier == nil, let name = responseModifier?.name {
            parts.append("answer:" + CredentialScope.digest(name.utf8))
        }
        if request.decryptor == nil, let name = decryptor?.name {
            parts.append("decrypt:" + CredentialScope.digest(name.utf8))
        }
        return parts
    }
}
