public import WebImageCore
import WebImageDownload

/// Represents one caller of a load. Releasing the token changes nothing: the load goes on until it ends or is
/// cancelled.
public final class LoadToken: @unchecked Sendable {
    // Sendable: what changes is guarded by the loader's lock; the rest is constant.

    /// Where this caller's events go.
    enum Delivery: Sendable {
        case once(CheckedContinuation<Result<ImageResponse, WebImageError>, Never>)
        case mailbox(EventMailbox)
        case callback(EventCallback)
        /// No caller: the load only fills the caches.
        case nobody
    }

    let loader: Loader
    let includesData: Bool
    let waitsForStore: Bool
    let finishesWhenDrained: Bool
    /// Whether the load was begun by a task on Swift's own threads that is not isolated to an actor.
    let isOfFreeTask: Bool
    let started: Duration
    /// The settings of the load from its beginning to its end, whatever is changed meanwhile.
    let settings: ConfigurationSnapshot

    // Guarded by the loader's lock:
    /// Whether the caller follows progress, not only the result.
    var isWatching: Bool
    var delivery: Delivery?
    var job: PixelJob?
    /// Its index in `job.tokens`.
    var index = 0
    var currentPriority: LoadPriority
    /// Whether the caller has set the priority since the load began.
    var hasChangedPriority = false
    var hasEnded = false
    /// Whether it was accepted before the drain, and so may go on to another job.
    var isAdmitted = false
    /// The last load that an interceptor has started for it.
    var inner: LoadToken?
    /// Whether the caller was shown a picture from the caches while the origin is asked; set only for loads that pass
    /// through interceptors or have a fallback.
    var hasShownCached = false
    /// The error with which the caller left.
    var leftWith: WebImageError?
    var timeout: ScheduledAction?
    /// The work before it joins a job: its modifier, or looking up the finished picture on disk.
    var preliminary: Task<Void, Never>?
    /// Raises the priority of such a look-up.
    var raisesLookUp: (@Sendable (LoadPriority) -> Void)?

    init(loader: Loader, request: ImageRequest, isWatching: Bool, isOfFreeTask: Bool = false) {
        self.isWatching = isWatching
        self.isOfFreeTask = isOfFreeTask
        self.loader = loader
        let options = request.options
        includesData = options.includesData
        waitsForStore = options.caching.waitsForStore
        finishesWhenDrained = options.http.finishesWhenDrained
        currentPriority = options.priority
        started = loader.clock.now
        settings = loader.origin.downloader.snapshot
    }

    /// Ends the wait of a token that no other thread can know yet.
    func endBeforeItIsShared() { hasEnded = true }

    /// Cancels the load for this caller, whose last event is `cancelled`, at once. When all callers have cancelled, the
    /// transfer ends.
    public func cancel() { loader.leave(self, with: .cancelled) }

    /// Sets the priority of this caller; a load has the highest priority among its callers.
    public func setPriority(_ priority: LoadPriority) { loader.setPriority(priority, of: self) }
}

extension LoadToken.Delivery {
    /// Whether it calls a closure of the caller, which may be slow.
    var isClosure: Bool {
        if case .callback = self { true } else { false }
    }

    /// Delivers an event. It is called without locks held, and with `finished` at most once. Events after that, from a
    /// thread that was late, are dropped.
    func post(_ event: ImageEvent) {
        switch self {
        case .once(let continuation):
            if case .finished(let result) = event { continuation.resume(returning: result) }
        case .mailbox(let mailbox): mailbox.post(event)
        case .callback(let callback): callback.post(event)
        case .nobody: break
        }
    }
}
