public import WebImageCore

/// Brings pictures into the caches before somebody looks at them, and never gets in the way of what somebody looks at.
///
///     let prefetcher = ImagePrefetcher(manager: manager)
///     let token = prefetcher.prefetch(urls)
///     let progress = await token.finished()
///     print(progress.loaded, progress.skipped, progress.failed)
///
/// Lists are worked through in the order in which they came, ``PrefetchOptions/width`` pictures at a time. What a visible load
/// wants at the same time is shared with it, and then goes as fast as the visible load. A picture that cannot be kept in the
/// cache counts as failed.
///
/// Thread-safe. Letting go of the prefetcher and of all its tokens cancels what it does.
public final class ImagePrefetcher: Sendable {
    public let options: PrefetchOptions
    fileprivate let work: PrefetchWork

    /// - Parameters:
    ///   - manager: into whose caches the pictures are brought.
    ///   - options: where to, and what that may take.
    public init(manager: ImageManager, options: PrefetchOptions = PrefetchOptions()) {
        self.options = options
        work = PrefetchWork(manager, options)
    }

    deinit { work.cancelAll() }

    func cancel(_ tokens: [PrefetchToken]) { work.cancel(tokens) }

    /// Begins with a list, behind those that were given before.
    ///
    /// - Parameters:
    ///   - requests: in the order in which they are loaded. Those that do not say how urgent they are get
    ///     ``PrefetchOptions/priority``.
    ///   - executor: where `onEvent` is called. Default ``CallbackExecutor/direct``: on the manager's threads for files, and on
    ///     the caller's for what happens before this returns. It must not block for long.
    ///   - onEvent: told of one event after another. `finished` comes exactly once, last; for an empty list before this
    ///     returns. No more pictures begin while it runs.
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
    ///   - urls: texts of absolute URLs.
    ///   - executor: where `onEvent` is called.
    ///   - onEvent: told of one event after another; `finished` comes exactly once, last.
    /// - Returns: the list's token.
    @discardableResult
    public func prefetch(
        _ urls: [String], on executor: CallbackExecutor = .direct,
        onEvent: (@Sendable (PrefetchEvent) -> Void)? = nil
    ) -> PrefetchToken {
        prefetch(count: urls.count, on: executor, request: { ImageRequest(urls[$0]) }, onEvent: onEvent)
    }

    /// The same for a list whose requests are made when their turn comes, so that a long list costs no memory.
    ///
    /// - Parameters:
    ///   - count: how many pictures there are.
    ///   - executor: where `onEvent` is called.
    ///   - request: makes the request with that index; called once, on threads of the prefetcher. What it throws is what the
    ///     picture fails with.
    ///   - onEvent: told of one event after another; `finished` comes exactly once, last.
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

    /// Lets nothing more begin; what runs goes on. Default false.
    public var isPaused: Bool {
        get { work.isPaused }
        set { work.isPaused = newValue }
    }

    /// Ends all lists; each of them is told so.
    public func cancelAll() { work.cancelAll() }

    /// Of all lists that have not ended, together.
    public var progress: PrefetchProgress { work.progress }

    /// How many lists have not ended.
    public var runningLists: Int { work.listCount }

    /// Returns when no list is left; at once when the task is cancelled, which cancels no list.
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

    /// Lets nothing more of the list begin; what runs goes on. Default false.
    public var isPaused: Bool {
        get { work.isPaused(self) }
        set { work.setPaused(newValue, self) }
    }

    /// Ends the list: what runs is given up, unless others want it, and what has not begun is dropped.
    public func cancel() { work.cancel([self]) }

    /// Drops one picture of the list, whether it runs or has not begun.
    ///
    /// - Parameter index: where it stands in the list; one that has ended, or that there is not, changes nothing.
    public func cancel(at index: Int) { work.cancel(self, index: index) }

    /// Waits for the list's end.
    ///
    /// - Returns: what has become of it; of a task that is cancelled, what has become of it so far, and the list goes on.
    public func finished() async -> PrefetchProgress { await work.finished(self) }
}
