import Synchronization
import WebImageCore
import WebImageSystem

/// Loads what comes next in a list or a grid while it is scrolled.
///
///     let preloader = ListPreloader(prefetcher: prefetcher) { index in [ImageRequest(urls[index])] }
///     // Whenever the list has moved:
///     preloader.show(12..<20, of: urls.count)
///
/// It follows the direction: rows ahead of the eye are loaded, the nearest first, with a few behind it. The faster the list
/// moves, the more rows are loaded, those of the next second. What scrolled away before it was loaded is cancelled.
///
/// Thread-safe. Letting go of it cancels what it has begun.
public final class ListPreloader: Sendable {
    private struct State {
        var window: PreloadWindow
        var tokens: [Int: PrefetchToken] = [:]
    }

    private let prefetcher: ImagePrefetcher
    private let requests: @Sendable (Int) -> [ImageRequest]
    private let state: Guarded<State>
    private let clock: any LoadClock

    /// - Parameters:
    ///   - prefetcher: does the work. It may serve others, too.
    ///   - ahead: how many rows are loaded ahead of those that are seen. Default 20; a quarter of that behind them.
    ///   - most: how many at most, where the list moves fast. Default 100.
    ///   - requests: what a row shows; called once each time the row comes near.
    public convenience init(
        prefetcher: ImagePrefetcher, ahead: Int = 20, most: Int = 100,
        requests: @escaping @Sendable (Int) -> [ImageRequest]
    ) {
        self.init(prefetcher, ahead: ahead, most: most, clock: SystemClock.shared, requests: requests)
    }

    init(
        _ prefetcher: ImagePrefetcher, ahead: Int, most: Int, clock: any LoadClock,
        requests: @escaping @Sendable (Int) -> [ImageRequest]
    ) {
        self.prefetcher = prefetcher
        self.requests = requests
        self.clock = clock
        state = Guarded(State(window: PreloadWindow(ahead: ahead, most: most)))
    }

    deinit {
        prefetcher.cancel(state.withLock { Array($0.tokens.values) })
    }

    /// Says which rows are seen. To be called whenever that has changed.
    ///
    /// - Parameters:
    ///   - visible: the rows that are seen, or partly seen.
    ///   - count: how many rows there are.
    public func show(_ visible: Range<Int>, of count: Int) {
        let now = clock.now / .seconds(1)
        let (begin, cancelled) = state.withLock { state in
            let change = state.window.show(visible, of: count, now: now)
            let cancelled = change.cancel.compactMap { state.tokens.removeValue(forKey: $0) }
            return (change.begin, cancelled)
        }
        prefetcher.cancel(cancelled)
        for index in begin {
            let token = prefetcher.prefetch(requests(index))
            let isLate = state.withLock { state in
                // Another thread may have moved the list on.
                guard state.window.wanted.contains(index) else { return true }
                state.tokens[index] = token
                return false
            }
            if isLate { token.cancel() }
        }
    }

    /// Cancels what was begun. ``show(_:of:)`` begins anew.
    public func stop() {
        let tokens = state.withLock { state in
            _ = state.window.clear()
            defer { state.tokens = [:] }
            return Array(state.tokens.values)
        }
        prefetcher.cancel(tokens)
    }

    /// Which way the list moves: 1 towards its end, -1 towards its beginning.
    var direction: Int { state.withLock { $0.window.direction } }
}
