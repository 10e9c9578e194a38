import HTTPTypes
import Logging
import Synchronization
import WebImageCore
import WebImageSystem

/// The steps between a slot and the transport: fields, modifiers, credentials, cookies.
extension WebTransfer {
    /// Whether a modifier or a provider must be awaited.
    func needsPreparation(_ url: WebURL, keepsSecrets: Bool) -> Bool {
        if plan.requestModifier != nil { return true }
        guard let provider = plan.provider, keepsSecrets else { return false }
        if state.withLock({ $0.login.challenge }) != nil { return true }
        return provider.asksAhead && surroundings.credentials.known(provider, origin: url.origin) == nil
    }

    /// The request of this hop if nothing must be awaited.
    func outgoing() -> TransportRequest {
        let (chain, outgoing) = draft()
        return finished(outgoing, chain, credentials: knownCredentials(for: chain))
    }

    func prepare(hop: Int) {
        let task = Task {
            let result: Result<TransportRequest, WebImageError>
            do throws(WebImageError) {
                result = .success(try await self.prepared())
            } catch {
                result = .failure(error)
            }
            self.didPrepare(result, hop: hop)
        }
        let isStale = state.withLock { state in
            if state.hop.number == hop, !state.hasEnded { state.hop.preparation = task }
            return state.hasEnded
        }
        if isStale { task.cancel() }
    }

    private func didPrepare(_ result: Result<TransportRequest, WebImageError>, hop: Int) {
        let now = surroundings.clock.now
        switch result {
        case .failure(let error): fail(error)
        case .success(let request):
            let (isNeeded, deadline) = state.withLock { state in
                guard state.hop.number == hop else { return (false, nil as Duration?) }
                state.hop.preparation = nil
                return (state.machine.prepared(at: now), state.machine.clocks.next)
            }
            guard isNeeded else { return }
            owner.transferExpects(deadline: deadline)
            launch(request, hop: hop)
        }
    }

    private func prepared() async throws(WebImageError) -> TransportRequest {
        var (chain, outgoing) = draft()
        if let modifier = plan.requestModifier {
            let given = outgoing.headers
            if let ready = plan.request.prepared?.outgoing, outgoing.redirects == 0, outgoing.retries == 0 {
                // The modifier's result from the beginning of the load: the load's identity is based on it.
                outgoing = ready.with(priority: given[.priority])
            } else {
                outgoing = try await modified(outgoing, by: modifier)
            }
            if chain.mustGet { outgoing.becomeGet() }
            if outgoing.url != chain.current.text || outgoing.method != chain.method {
                chain = try move(outgoing, from: chain.current)
                outgoing.url = chain.current.text
            }
            if !chain.keepsSecrets {
                let kept = chain.takesModifiersSecrets ? given : nil
                outgoing.headers.removeSecrets(plan.snapshot.configuration.secretHeaders, givenIn: kept)
            }
        }
        var credentials = knownCredentials(for: chain)
        let login = state.withLock { $0.login }
        if let good = login.good, login.challenge != nil, chain.keepsSecrets {
            credentials = good
        } else if let provider = plan.provider, chain.keepsSecrets,
            login.challenge != nil || (provider.asksAhead && credentials == nil)
        {
            let question = CredentialQuestion(
                origin: chain.current.origin, challenge: login.challenge, rejected: login.refused)
            credentials = try await surroundings.credentials.credentials(
                of: provider, for: question, persistence: plan.snapshot.configuration.credentialPersistence,
                within: plan.connectDeadline, surroundings.clock)
        }
        return finished(outgoing, chain, credentials: credentials)
    }

    private func modified(
        _ outgoing: OutgoingRequest, by modifier: RequestModifier
    ) async throws(WebImageError) -> OutgoingRequest {
        let answer: OutgoingRequest?
        do {
            answer = try await modifier.modify(outgoing)
        } catch {
            throw WebImageError(
                .requestRefused, "the request modifier \(modifier.name.prefix(64)) failed",
                cause: WebImageError.wrapping(error, as: .requestRefused, "the modifier failed"))
        }
        guard let answer else {
            throw WebImageError(.requestRefused, "the request modifier \(modifier.name.prefix(64)) refused the request")
        }
        return answer
    }

    /// Records the URL that a modifier has set. The slot stays that of the hop's own host.
    private func move(_ outgoing: OutgoingRequest, from old: WebURL) throws(WebImageError) -> RedirectChain {
        let url = try WebURL(outgoing.url)
        if url.hostAndPort != old.hostAndPort { settleCircuit(.neither) }
        if let refusal = refusal(of: url, isAdmitted: url.hostAndPort == old.hostAndPort) { throw refusal }
        let (chain, isOver) = state.withLock { state in
            state.machine.redirectByModifier(to: url, method: outgoing.method)
            if !state.hasEnded { state.hop.circuit = url.hostAndPort }
            return (state.machine.chain, state.hasEnded)
        }
        if isOver { owner.note(.neither, of: url.hostAndPort) }
        return chain
    }

    private func draft() -> (RedirectChain, OutgoingRequest) {
        let (chain, partial, retries) = state.withLock { state in
            let partial = state.machine.partial
            return (state.machine.chain, partial.kept > 0 ? partial : nil, state.machine.retries)
        }
        var fields = plan.fields(for: chain)
        if let partial {
            // The caller's entry was found to be outdated.
            (fields[.ifNoneMatch], fields[.ifModifiedSince]) = (nil, nil)
            // If the caller requested a part, the same part is requested again.
            if fields[.range] == nil { fields.append(contentsOf: partial.rangeFields ?? [:]) }
        }
        if chain.current.scheme == .https, plan.snapshot.configuration.allowsHTTP2, fields[.priority] == nil {
            fields[.priority] = priority.field
        }
        var outgoing = OutgoingRequest(
            url: chain.current.text, method: chain.method, headers: fields,
            body: chain.method == plan.request.method ? plan.request.body : nil, redirects: chain.count,
            retries: retries)
        if chain.mustGet { outgoing.becomeGet() }
        return (chain, outgoing)
    }

    private func knownCredentials(for chain: RedirectChain) -> Credentials? {
        guard let provider = plan.provider, chain.keepsSecrets else { return nil }
        return surroundings.credentials.known(provider, origin: chain.current.origin)
    }

    private func finished(
        _ outgoing: OutgoingRequest, _ chain: RedirectChain, credentials: Credentials?
    ) -> TransportRequest {
        var request = plan.transportRequest(outgoing, for: chain)
        let cookies =
            plan.handlesCookies ? plan.snapshot.configuration.cookieJar.cookies(for: outgoing.url) : nil
        let hop = hop(of: outgoing, chain, cookies)
        let challenge = state.withLock { state in
            state.record.note(hop, behind: chain.count)
            state.login.send(credentials)
            return state.login.challenge
        }
        switch credentials {
        case .bearer(let token)?: request.headers[.authorization] = "Bearer \(token)"
        case .password(let password, let scheme)?:
            request.credentials = password
            // Without a usable challenge, libcurl asks the server.
            let asked: AuthenticationScheme = challenge?.lowercased().contains("digest") == true ? .digest : .basic
            request.authentication = scheme ?? (challenge == nil ? .negotiated : asked)
        case nil: break
        }
        if let cookies = cookies ?? state.withLock({ $0.redirectCookies })?.cookies(for: outgoing.url) {
            let own = request.headers[.cookie]
            request.headers[.cookie] = own.map { "\($0); \(cookies)" } ?? cookies
        }
        if chain.current.scheme == .https, plan.tls.trust == .anyone {
            plan.snapshot.configuration.logger.warning(
                "certificates are NOT checked: anyone may answer in place of this host",
                metadata: ["host": "\(chain.current.host)"])
        }
        return request
    }

    /// What is sent, to determine later who may use the answer.
    private func hop(of outgoing: OutgoingRequest, _ chain: RedirectChain, _ cookies: String?) -> SentHop {
        let isAsAsked = outgoing.url == plan.url.text
        return SentHop(
            place: isAsAsked ? "" : outgoing.url.withoutQuery,
            target: isAsAsked || chain.count > 0 ? nil : outgoing.url, fields: outgoing.headers, cookies: cookies)
    }

    // MARK: Answers

    /// - Returns: whether the answer is a redirect whose target gets other cookies now.
    func takeCookies(of head: ResponseHead) -> Bool {
        // Most answers set none.
        let values = head.headers[values: .setCookie]
        if values.isEmpty { return false }
        let location = RedirectChain.location(of: head)
        let configuration = plan.snapshot.configuration
        guard plan.handlesCookies || configuration.keepsRedirectCookies && location != nil else { return false }
        let jar = plan.handlesCookies ? configuration.cookieJar : redirectCookies
        let current = state.withLock { $0.machine.chain.current }
        let next = location.flatMap { try? current.resolving($0).text }
        let before = next.flatMap { jar.cookies(for: $0) }
        jar.store(values, from: current.text)
        return before != next.flatMap { jar.cookies(for: $0) }
    }

    private var redirectCookies: MemoryCookieJar {
        state.withLock { state in
            let jar = state.redirectCookies ?? MemoryCookieJar(clock: surroundings.clock)
            state.redirectCookies = jar
            return jar
        }
    }

    /// Changes an unrequested 206 that holds the whole body, as some servers send it, to 200.
    func whole(_ head: ResponseHead) -> ResponseHead {
        guard head.status == 206, let part = ContentRange(head[.contentRange]),
            part.isWhole(length: try? head.announcedLength())
        else { return head }
        let isWanted = state.withLock { state in
            state.machine.rules.takesParts || state.machine.partial.rangeFields != nil
        }
        if isWanted { return head }
        var headers = head.headers
        headers[.contentRange] = nil
        return ResponseHead(
            status: 200, headers: headers, version: head.version, remoteAddress: head.remoteAddress)
    }

    /// The answer as the modifier changes it; nil if it refuses. It is not asked about redirects, and cannot refuse or
    /// change the rest of a body.
    func modified(_ head: ResponseHead) -> ResponseHead? {
        guard let modifier = plan.responseModifier, RedirectChain.location(of: head) == nil else { return head }
        let isRest = head.status == 206 && state.withLock { $0.machine.partial.rangeFields } != nil
        let modified = modifier.modify(head)
        return isRest && modified?.status != head.status ? head : modified
    }
}

extension OutgoingRequest {
    /// With the current priority, unless the modifier has set another.
    fileprivate func with(priority: String?) -> OutgoingRequest {
        var request = self
        if headers[.priority] == nil, let priority { request.headers[.priority] = priority }
        return request
    }

    /// As after a redirect that changes the method: without the body and the fields that describe it.
    fileprivate mutating func becomeGet() {
        method = .get
        body = nil
        for name in [HTTPField.Name.contentType, .contentLength, .contentEncoding, .contentLanguage, .contentLocation] {
            headers[name] = nil
        }
    }
}

extension HTTPFields {
    /// Removes secrets: all, or those that were there before the modifier.
    fileprivate mutating func removeSecrets(_ names: Set<HTTPField.Name>, givenIn given: HTTPFields?) {
        for name in names {
            let values = self[values: name]
            if values.isEmpty { continue }
            let known = given?[values: name] ?? values
            self[values: name] = values.filter { !known.contains($0) }
        }
    }
}

extension LoadPriority {
    /// The urgency for the server, 0 to 7; requests without the field count as 3 (RFC 9218 section 4.1). It has
    /// replaced the priorities of HTTP/2.
    fileprivate var field: String? {
        switch self {
        case .veryLow: "u=7"
        case .low: "u=5"
        case .normal: nil
        case .high: "u=1"
        }
    }
}
