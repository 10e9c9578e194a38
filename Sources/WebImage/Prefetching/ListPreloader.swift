import Synchronization
import WebImageCore
import WebImageSystem

/// Loads the pictures that come next in a list or a grid while it is scrolled.
///
///     let preloader = ListPreloader(prefetcher: prefetcher) { index in [ImageRequest(urls[index])] }
///     // Whenever the list has moved:
///     preloader.show(12..<20, of: urls.count)
///
/// It follows the direction of scrolling: rows ahead of the visible ones are loaded, the nearest first, and a few rows
/// behind them. The faster the list moves, the more rows are loaded: those of the next second. Rows that scrolled away
/// before they were loaded are cancelled.
///
/// Thread-safe. Releasing it cancels its loads.
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
    ///   - prefetcher: does the loading. It may be used by others, too.
    ///   - ahead: how many rows are loaded ahead of the visible ones. Default 20; a quarter of that is loaded behind
    ///     them.
    ///   - most: how many rows are loaded at most, when the list moves fast. Default 100.
    ///   - requests: makes the requests of a row; called once each time the row comes near.
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

    /// Sets which rows are visible. Call it whenever that has changed.
    ///
    /// - Parameters:
    ///   - visible: the rows that are visible, or partly visible.
    ///   - count: the number of rows.
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
            // Another thread may have moved the list on, and back again.
            let unneeded = state.withLock { state in
                state.window.wanted.contains(index) ? state.tokens.updateValue(token, forKey: index) : token
            }
            unneeded?.cancel()
        }
    }

    /// Cancels the running loads. ``show(_:of:)`` starts again.
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
