package import WebImageCore

/// How to get the answer to a request.
package enum CacheDecision: Sendable {
    /// Answer with the entry; the network is not needed.
    case serve(StoredResponse)
    /// Answer with the entry now, and perform the exchange in the background. In ``CacheMode/refresh`` the caller gets
    /// a changed answer as an update.
    case serveAndRevalidate(StoredResponse, CacheExchange)
    /// Ask the origin whether the entry is still valid.
    case revalidate(CacheExchange)
    /// Ask the origin for the body.
    case fetch(CacheExchange)
    /// Fail with `cacheMiss`.
    case fail(WebImageError)
}

/// What the head of an answer means for the cache.
package enum CacheAnswer: Sendable {
    /// Treat the answer as if there were no cache; the plan says what to store of it.
    case proceed(StorePlan)
    /// Nothing has changed: the entry's body is the answer, and no other body follows.
    case useStored(StoredResponse, StorePlan)
    /// The origin failed, and the entry may be used instead. It stays unchanged.
    case useStale(StoredResponse)
    /// The answer does not fit the conditional request: send the request of this exchange, which has no conditions.
    case askAgain(CacheExchange)
    /// Fail with `notModified`, `protocolError`, or the given error.
    case fail(WebImageError)
}

/// What happens to the entry.
package struct StorePlan: Hashable, Sendable {
    /// What to store: with the answer's body when that has proved to be valid, or as new metadata of the stored body.
    /// Nil: nothing new is stored.
    package var storing: StoredResponse?
    /// Whether the entry, if there is one, is no longer valid and is removed if nothing replaces it.
    package var removesStored = false

    /// Stores and removes nothing by default.
    package init(storing: StoredResponse? = nil, removesStored: Bool = false) {
        self.storing = storing
        self.removesStored = removesStored
    }
}
