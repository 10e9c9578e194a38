import Synchronization
import WebImage
import WebImageCore
import WebImageSystem
import WebImageTesting

/// An executor that a test can hold: work that is added meanwhile waits until the executor is released.
final class HoldableExecutor: WorkExecutor {
    private struct State {
        var isHeld = false
        var work: [(LoadPriority, @Sendable () -> Void)] = []
        var arrivals: [CheckedContinuation<Void, Never>] = []
    }

    private let pool = ThreadPool(name: "wi-test", width: 2)
    private let state = Guarded(State())

    func run(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void) {
        let (isHeld, arrivals) = state.withLock { state in
            if state.isHeld { state.work.append((priority, work)) }
            defer { state.arrivals = [] }
            return (state.isHeld, state.arrivals)
        }
        if !isHeld { pool.run(priority, work) }
        for arrival in arrivals { arrival.resume() }
    }

    func hold() { state.withLock { $0.isHeld = true } }

    /// Returns once at least one piece of work waits to run.
    func somethingWaits() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.work.isEmpty { state.arrivals.append(continuation) }
                return !state.work.isEmpty
            }
            if isThere { continuation.resume() }
        }
    }

    /// Lets the work that waits run, and all later work at once.
    func release() {
        let work = state.withLock { state in
            defer { state.work = [] }
            state.isHeld = false
            return state.work
        }
        for (priority, work) in work { pool.run(priority, work) }
    }
}

/// An image cache in a folder, with a clock and executors that the test controls.
struct CacheBench {
    /// Starts at the real time, because files have real dates.
    let clock = ManualClock(wallTime: SystemClock.shared.wallTime)
    let fileExecutor = HoldableExecutor()
    let decodeExecutor = HoldableExecutor()
    let cache: ImageCache

    /// - Parameter directory: the folder of the disk cache, or nil for a cache in memory only.
    init(_ directory: String?, change: (inout ImageCache.Configuration) -> Void = { _ in }) {
        var configuration = ImageCache.Configuration(disk: directory.map { DiskCacheConfiguration(directory: $0) })
        configuration.memoryLimits = .init(cost: .mebibytes(64))
        change(&configuration)
        cache = ImageCache(
            configuration, clock: clock, files: PosixFileSystem(), fileExecutor: fileExecutor,
            decodeExecutor: decodeExecutor)
    }
}

/// A transformer that inverts the colours and counts its calls.
final class Inverting: ImageTransformer {
    private let counter = Atomic(0)
    var count: Int { counter.load(ordering: .relaxed) }
    var key: String { "inverting" }

    func transform(_ image: Image) throws(WebImageError) -> Image {
        counter.add(1, ordering: .relaxed)
        return try Image(size: image.size, alpha: image.alpha) { bytes in
            image.withPixels { source in
                for at in bytes.indices { bytes[at] = at % 4 == 3 ? source[at] : 255 - source[at] }
            }
        }
    }
}
