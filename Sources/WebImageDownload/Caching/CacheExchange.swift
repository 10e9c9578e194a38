package import HTTPTypes
package import WebImageCore

/// One request to the origin on behalf of the cache: the fields to add to it, and the interpretation of the answer. A
/// constant, to be kept with the transfer.
package final class CacheExchange: Sendable {
    /// The times and the URL of an answer's head.
    package struct Arrival: Sendable {
        /// When the request was sent and when the head arrived, in seconds since 1970.
        package var requestTime: Int64
        package var responseTime: Int64
        /// The URL that answered, without query and credentials.
        package var place: String?
        /// The redirects that led to it.
        package var redirects: [ResponseHead]
        /// The requests that were sent, from the first to the one that was answered. If empty, they are assumed to be
        /// the planned ones.
        package var hops: [SentHop]

        package init(
            requestTime: Int64, responseTime: Int64, place: String? = nil, redirects: [ResponseHead] = [],
            hops: [SentHop] = []
        ) {
            self.requestTime = requestTime
            self.responseTime = responseTime
            self.place = place
            self.redirects = redirects
            self.hops = hops
        }
    }

    let rules: HTTPCacheRules
    package let mode: CacheMode
    let request: CacheRequest
    /// The entry that the answer is compared with.
    package let base: StoredResponse?
    /// True if the caller has an answer already.
    package let isBackground: Bool
    let asksConditionally: Bool

    init(
        rules: HTTPCacheRules, mode: CacheMode, request: CacheRequest, base: StoredResponse?, isBackground: Bool,
        asksConditionally: Bool
    ) {
        self.rules = rules
        self.mode = mode
        self.request = request
        self.base = base
        self.isBackground = isBackground
        self.asksConditionally = asksConditionally
    }

    /// Whether the caller's own fields make the request conditional, so that the answer may have no body.
    package var hasOwnCondition: Bool { request.isConditional }

    /// True if the answer may be "not modified".
    package var isConditional: Bool { asksConditionally && base != nil }

    /// The fields to add to the request (RFC 9110 section 13.1).
    package var fields: HTTPFields {
        var fields = HTTPFields()
        // Added to the caller's own directives.
        if mode == .reloadFromOrigin { fields[.cacheControl] = "no-cache" }
        // The origin itself must confirm the entry, and not a cache on the way to it.
        if base != nil, mode == .revalidate || mode == .refresh { fields[.cacheControl] = "max-age=0" }
        guard isConditional, let base else { return fields }
        if let tag = base.entityTag { fields[.ifNoneMatch] = tag.text }
        if base.lastModified != nil { fields[.ifModifiedSince] = base["last-modified"] }
        return fields
    }

    /// The exchange without its conditions, for when the entry's body is found to be missing.
    package var unconditional: CacheExchange {
        CacheExchange(
            rules: rules, mode: mode, request: request, base: nil, isBackground: isBackground, asksConditionally: false)
    }

    // MARK: The answer

    /// What the rules need to know of the answer beside its headers.
    package func arrival(_ arrival: Arrival) -> ResponseHead.Arrival {
        ResponseHead.Arrival(
            requestTime: arrival.requestTime, responseTime: arrival.responseTime,
            redirectLifetime: rules.redirectLifetime(
                arrival.redirects, requestTime: arrival.requestTime, responseTime: arrival.responseTime))
    }

    /// Interprets the head of the final answer; heads of redirects are not final.
    package func answer(_ head: ResponseHead, _ arrival: Arrival) -> CacheAnswer {
        switch head.status {
        case 304: return notModified(head, arrival)
        case 206 where !request.isPartial:
            return .fail(WebImageError(.protocolError, "the server sent a part of the picture that nobody asked for"))
        case 500, 502, 503, 504:
            if let base, rules.mayStandIn(base, for: request, now: arrival.responseTime) { return .useStale(base) }
            return .proceed(StorePlan())
        default:
            let storing = rules.storing(head, of: self, arrival)
            return .proceed(StorePlan(storing: storing, removesStored: invalidatesStored(head, storing)))
        }
    }

    /// Interprets a failure of the transfer, before or after the head.
    package func failed(_ error: WebImageError, now: Int64) -> CacheAnswer {
        if let base, Self.isOutage(error), rules.mayStandIn(base, for: request, now: now) { return .useStale(base) }
        return .fail(error)
    }

    /// Whether the origin, or the way to it, has a problem that may be temporary.
    private static func isOutage(_ error: WebImageError) -> Bool {
        switch error.code {
        case .dnsFailed, .connectionRefused, .connectTimeout, .tlsFailed, .firstByteTimeout, .idleTimeout, .tooSlow,
            .deadlineExceeded, .truncatedBody, .connectionLost, .protocolError, .circuitOpen:
            true
        case .badStatus: error.status.map { [500, 502, 503, 504].contains($0) } ?? false
        default: false
        }
    }

    /// Whether the answer invalidates the stored one: a complete new answer that may not be stored, one that says that
    /// there is none, and a successful change (RFC 9111 section 4.4). An answer that is stored replaces the old one.
    private func invalidatesStored(_ head: ResponseHead, _ storing: StoredResponse?) -> Bool {
        guard mode.stores, storing == nil else { return false }
        if request.changesSomething { return (200..<400).contains(head.status) }
        guard request.isPlainGet else { return false }
        return head.status == 404 || head.status == 410 || (200..<300).contains(head.status)
    }

    private func notModified(_ head: ResponseHead, _ arrival: Arrival) -> CacheAnswer {
        guard isConditional, let base else {
            return .fail(
                WebImageError(.notModified, "the server says that nothing has changed, and nothing is stored"))
        }
        guard rules.confirms(head, arrival, base) else { return .askAgain(unconditional) }
        var merged = rules.merged(base, with: head, arrival)
        let isBound = rules.narrow(&merged, by: head, of: request, arrival)
        let isGone = !isBound || rules.forbidsStoring(merged.control, status: merged.status)
        // A request with `no-store` leaves nothing of its answer, not even new headers (section 5.2.1.5).
        let mayStore = !isGone && mode.stores && !request.control.noStore
        let plan = StorePlan(storing: mayStore ? merged : nil, removesStored: isGone)
        return .useStored(merged, plan)
    }
}
