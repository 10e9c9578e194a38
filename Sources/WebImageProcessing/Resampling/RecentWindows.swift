import Synchronization

/// The windows that were made last: the frames of an animation, and pictures of one size, are scaled alike.
///
/// Thread-safe. Holds a few, and none that is large.
final class RecentWindows: Sendable {
    struct Key: Hashable {
        var input: Int
        var start: Double
        var length: Double
        var output: Int
        var filter: ResampleFilter
        var bounds: Range<Int>?
    }

    private static let capacity = 8
    /// In weights; what is larger takes longer to use than to make.
    private static let longest = 32 << 10

    private let recent = Mutex<[(key: Key, windows: ResampleWindows<Double>)]>([])

    func windows(_ key: Key) -> ResampleWindows<Double> {
        let known = recent.withLock { recent in recent.first { $0.key == key }?.windows }
        if let known { return known }
        let fresh = ResampleWindows(
            input: key.input, start: key.start, length: key.length, output: key.output, filter: key.filter,
            within: key.bounds)
        if fresh.weightCount <= Self.longest {
            recent.withLock { recent in
                if recent.count >= Self.capacity { recent.removeLast() }
                recent.insert((key, fresh), at: 0)
            }
        }
        return fresh
    }
}
