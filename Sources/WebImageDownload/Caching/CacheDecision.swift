package import WebImageCore

/// What to do for a request.
package enum CacheDecision: Sendable {
    /// Answer with the entry; the network is not needed.
    case serve(StoredResponse)
    /// Answer with the entry now, and go through the exchange behind it: in ``CacheMode/refresh`` the caller gets what
    /// is new as an update.
    case serveAndRevalidate(StoredResponse, CacheExchange)
    /// Ask the origin whether the entry is still good.
    case revalidate(CacheExchange)
    /// Ask the origin for the body.
    case fetch(CacheExchange)
    /// `cacheMiss`.
    case fail(WebImageError)
}

/// What an answer's head means for the cache.
package enum CacheAnswer: Sendable {
    /// Judge the answer as if there were no cache; `plan` says what of it is kept.
    case proceed(StorePlan)
    /// Nothing has changed: the entry's body is the answer, and no other body comes.
    case useStored(StoredResponse, StorePlan)
    /// The origin failed, and the entry is good enough for now. It stays as it is.
    case useStale(StoredResponse)
    /// The answer cannot be understood by what was asked: send the request of this exchange, which has no conditions.
    case askAgain(CacheExchange)
    /// The end, with `notModified`, `protocolError`, or the error that was given.
    case fail(WebImageError)
}

/// What becomes of the entry.
package struct StorePlan: Hashable, Sendable {
    /// What to keep: with the answer's body once it turned out to be good, or as the stored body's new metadata. Nil:
    /// nothing new is kept.
    package var storing: StoredResponse?
    /// Whether the entry, if there is one, is no longer true and goes when nothing takes its place.
    package var removesStored = false

    /// Nothing is kept, and nothing goes.
    package init(storing: StoredResponse? = nil, removesStored: Bool = false) {
        self.storing = storing
        self.removesStored = removesStored
    }
}
