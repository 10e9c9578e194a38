import Synchronization
import WebImageSystem

/// The most recently computed weights, because the frames of an animation, and pictures of one size, are scaled alike.
///
/// Thread-safe. It keeps a few sets of weights, and no long ones.
final class RecentAxes: Sendable {
    struct Key: Hashable {
        var input: Int
        var start: Double
        var length: Double
        var output: Int
        var filter: ResampleFilter
        var bounds: Range<Int>?
    }

    private static let capacity = 8
    /// The most weights of a set that is kept. A larger set takes longer to use than to compute.
    private static let longest = 32 << 10

    private let recent = Guarded<[(key: Key, axis: ResampleAxis)]>([])

    func axis(_ key: Key) -> ResampleAxis {
        let known = recent.withLock { recent in recent.first { $0.key == key }?.axis }
        if let known { return known }
        let fresh = ResampleAxis(
            ResampleWindows(
                input: key.input, start: key.start, length: key.length, output: key.output, filter: key.filter,
                within: key.bounds))
        if fresh.windows.weightCount <= Self.longest {
            recent.withLock { recent in
                if recent.count >= Self.capacity { recent.removeLast() }
                recent.insert((key, fresh), at: 0)
            }
        }
        return fresh
    }
}
