import HTTPTypes
import WebImageCore
import WebImageSystem

/// Determines the user and the fields of requests, and which answers are accepted.
extension ConfigurationSnapshot {
    /// Prepares a request before the caches are searched or another load is joined: calls its modifier and reads the
    /// jar's cookies. The result is `takesTime` if the modifier must be awaited.
    package func preparation(of request: ResolvedRequest) -> ImageDownloader.Preparation {
        guard let preparation = RequestPreparation(request, self) else { return .notNeeded }
        return preparation.atOnce().map { .done($0) } ?? .takesTime
    }

    /// The properties of a request that the rules of HTTP caching need: all that is sent with it.
    ///
    /// If the request has a modifier, the fields are not known until it was called (``preparation(of:)``).
    package func cacheRequest(for resolved: ResolvedRequest) -> CacheRequest {
        let request = resolved.request
        let options = request.changedOptions
        let given = fields(of: request)
        let modifier = resolved.web == nil ? nil : options?.value.requestModifier ?? configuration.requestModifier
        let outgoing = request.prepared?.outgoing
        var scope = AskerScope(declared: options?.value.credentialScope)
        scope.secretHeaders = secretNames
        scope.isUnverified = options?.value.statedTrust.map { $0 == .anyone } ?? verifiesNobody
        if scope.declared == nil {
            if let own = resolved.credentialScope { scope.parts.append(own) }
            // Two requests with the same user name share an answer only if they have the same secret.
            if let secret = resolved.key.credentials ?? options?.value.credentialProvider?.secret {
                scope.parts.append("knows:" + CredentialScope.digest(secret.password.utf8))
            }
            scope.parts += configuration.scopeParts(of: resolved)
            if let file = options?.value.netrcFile {
                scope.parts.append("netrc:" + CredentialScope.digest(NetrcMark.text(of: file).utf8))
            }
            if let modifier, !modifier.isSameForAllUsers {
                scope.parts.append("ask:" + CredentialScope.digest(modifier.name.utf8))
                scope.ofModifier = modifier.credentialScope
                // Secret fields that the modifier did not set still count.
                if scope.ofModifier != nil { scope.parts += scope.secrets(in: given) }
                if scope.ofModifier == nil, let outgoing {
                    scope.changedHeaders = modifier.changedHeaders(from: given, to: outgoing.headers)
                        .filter { !scope.secretHeaders.contains($0) }
                }
            }
        }
        let target = outgoing.flatMap { outgoing in resolved.web?.text == outgoing.url ? nil : outgoing.url }
        return CacheRequest(
            method: outgoing?.method ?? request.method, fields: outgoing?.headers ?? given, scope: scope,
            target: target,
            knowsFields: modifier == nil || outgoing != nil,
            isSteady: modifier == nil && !resolved.dependsOnMore,
            cookies: cookies(of: resolved, configuration.cookieJar))
    }

    /// The loader for a URL that the downloader does not support itself.
    package func loader(for url: String) -> (any ImageLoader)? {
        configuration.loaders.last { $0.canLoad(url) }
    }

    /// Whether the request accepts a stored answer, by its status and its type.
    package func accepts(_ stored: StoredResponse, for request: ResolvedRequest) -> Bool {
        // Only answers over HTTP have a status and a content type to check.
        guard request.web != nil else { return true }
        let statuses = request.request.changedOptions?.value.acceptableStatuses ?? configuration.acceptableStatuses
        guard statuses.contains(stored.status) else { return false }
        let types = request.request.changedOptions?.value.acceptableContentTypes ?? configuration.acceptableContentTypes
        return types?.contains(stored["content-type"]) ?? true
    }

    /// Whether a decryptor processes the received bytes.
    package func decrypts(_ request: ResolvedRequest) -> Bool {
        request.request.changedOptions?.value.decryptor != nil || configuration.decryptor != nil
    }

    private func cookies(
        of resolved: ResolvedRequest, _ jar: any CookieJar
    ) -> (@Sendable (_ place: String) -> String?)? {
        guard resolved.request.changedOptions?.value.handlesCookies == true, let url = resolved.web?.text else {
            return nil
        }
        let prepared = resolved.request.prepared
        return { place in
            if !place.isEmpty { return jar.cookies(for: place) }
            return prepared.map(\.cookies) ?? jar.cookies(for: url)
        }
    }
}

extension DownloadConfiguration {
    /// The parts of the user's identity that come from the configuration: provider, client certificate and hooks.
    func scopeParts(of resolved: ResolvedRequest) -> [String] {
        let options = resolved.request.changedOptions
        var parts: [String] = []
        let speaksForItself =
            resolved.key.credentials != nil || options?.value.credentialProvider != nil
            || options?.value.netrcFile != nil
            || options?.value.headers[.authorization] != nil
        if !speaksForItself, let credentialProvider { parts.append(CredentialScope.of(credentialProvider)) }
        if options?.value.tls == nil, let certificate = tls.clientCertificate {
            parts.append(CredentialScope.of(certificate))
        }
        // The request's own hooks are a part of its key.
        if options?.value.responseModifier == nil, let name = responseModifier?.name {
            parts.append("answer:" + CredentialScope.digest(name.utf8))
        }
        if options?.value.decryptor == nil, let name = decryptor?.name {
            parts.append("decrypt:" + CredentialScope.digest(name.utf8))
        }
        return parts
    }
}
