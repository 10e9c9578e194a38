public import WebImageCore

/// Loads pictures into the caches before they are needed, without slowing down loads that somebody waits for.
///
///     let prefetcher = ImagePrefetcher(manager: manager)
///     let token = prefetcher.prefetch(urls)
///     let progress = await token.finished()
///     print(progress.loaded, progress.skipped, progress.failed)
///
/// Lists are worked through in the order in which they were added, ``PrefetchOptions/width`` pictures at a time. If a
/// visible load needs a picture at the same time, they share one load, which gets the priority of the visible load. A
/// picture that cannot be stored in the cache counts as failed.
///
/// Thread-safe. Releasing the prefetcher and all its tokens cancels its work.
public final class ImagePrefetcher: Sendable {
    public let options: PrefetchOptions
    fileprivate let work: PrefetchWork

    /// - Parameters:
    ///   - manager: the manager that loads the pictures into its caches.
    ///   - options: the destination and the limits.
    public init(manager: ImageManager, options: PrefetchOptions = PrefetchOptions()) {
        self.options = options
        work = PrefetchWork(manager, options)
    }

    deinit { work.cancelAll() }

    /// How many pictures wait for another load of the same picture.
    var waitingForTurns: Int { work.waitingForTurns }

    func cancel(_ tokens: [PrefetchToken]) { work.cancel(tokens) }

    /// Adds a list, which is worked through after the lists that were added before.
    ///
    /// - Parameters:
    ///   - requests: the requests, in the order in which they are loaded. Requests without a priority of their own get
    ///     ``PrefetchOptions/priority``.
    ///   - executor: where `onEvent` is called. Default ``CallbackExecutor/direct``: on the manager's threads for
    ///     files, and on the caller's thread for events before this returns. It must not block for long.
    ///   - onEvent: called with one event after another. `finished` comes exactly once, last; for an empty list before
    ///     this returns. No further pictures begin while it runs, or while the executor is busy with something else.
    /// - Returns: the list's token.
    @discardableResult
    public func prefetch(
        _ requests: [ImageRequest], on executor: CallbackExecutor = .direct,
        onEvent: (@Sendable (PrefetchEvent) -> Void)? = nil
    ) -> PrefetchToken {
        prefetch(count: requests.count, on: executor, request: { requests[$0] }, onEvent: onEvent)
    }

    /// The same for URLs.
    ///
    /// - Parameters:
    ///   - urls: absolute URLs.
    ///   - executor: where `onEvent` is called.
    ///   - onEvent: called with one event after another. `finished` comes exactly once, last.
    /// - Returns: the list's token.
    @discardableResult
    public func prefetch(
        _ urls: [String], on executor: CallbackExecutor = .direct,
        onEvent: (@Sendable (PrefetchEvent) -> Void)? = nil
    ) -> PrefetchToken {
        prefetch(count: urls.count, on: executor, request: { ImageRequest(urls[$0]) }, onEvent: onEvent)
    }

    /// Adds a list whose requests are made when their turn comes, so that a long list takes no memory.
    ///
    /// - Parameters:
    ///   - count: the number of pictures.
    ///   - executor: where `onEvent` is called.
    ///   - request: makes the request with that index; called once, on threads of the prefetcher. If it throws, the
    ///     picture fails with that error.
    ///   - onEvent: called with one event after another. `finished` comes exactly once, last.
    /// - Returns: the list's token.
    @discardableResult
    public func prefetch(
        count: Int, on executor: CallbackExecutor = .direct,
        request: @escaping @Sendable (Int) throws(WebImageError) -> ImageRequest,
        onEvent: (@Sendable (PrefetchEvent) -> Void)? = nil
    ) -> PrefetchToken {
        let (id, list) = work.add(max(count, 0), request, executor, onEvent)
        return PrefetchToken(id, self, list)
    }

    /// Whether the prefetcher is paused: no further pictures begin, but running loads go on. Default false.
    public var isPaused: Bool {
        get { work.isPaused }
        set { work.isPaused = newValue }
    }

    /// Cancels all lists; each gets its `finished` event.
    public func cancelAll() { work.cancelAll() }

    /// The progress of all lists that have not ended, together.
    public var progress: PrefetchProgress { work.progress }

    /// The number of lists that have not ended.
    public var runningLists: Int { work.listCount }

    /// Returns when no list is left. Listeners have heard of every picture, and of each list's end, before. If the task
    /// is cancelled, it returns at once, and the lists go on.
    public func finished() async { await work.finished() }
}

/// One list of an ``ImagePrefetcher``.
///
/// Thread-safe.
public final class PrefetchToken: Sendable {
    let id: PrefetchQueue.ListID
    let list: PrefetchList
    private let prefetcher: ImagePrefetcher
    private var work: PrefetchWork { prefetcher.work }

    init(_ id: PrefetchQueue.ListID, _ prefetcher: ImagePrefetcher, _ list: PrefetchList) {
        (self.id, self.prefetcher, self.list) = (id, prefetcher, list)
    }

    public var progress: PrefetchProgress { work.progress(of: self) }

    /// Whether the list is paused: no further pictures begin, but running loads go on. Default false.
    public var isPaused: Bool {
        get { work.isPaused(self) }
        set { work.setPaused(newValue, self) }
    }

    /// Cancels the list. Running loads are cancelled unless others need them, and pictures that have not begun are
    /// dropped.
    public func cancel() { work.cancel([self]) }

    /// Drops one picture of the list, whether its load is running or has not begun.
    ///
    /// - Parameter index: the index of the picture in the list. If the picture has ended, or there is none, nothing
    ///   happens.
    public func cancel(at index: Int) { work.cancel(self, index: index) }

    /// Waits for the list's end. A listener has heard of every picture, and of the end, before this returns.
    ///
    /// - Returns: the final progress. If the task is cancelled, the progress so far, and the list goes on.
    public func finished() async -> PrefetchProgress { await work.finished(self) }
}
