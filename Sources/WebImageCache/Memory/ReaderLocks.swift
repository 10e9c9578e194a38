import Synchronization
import WebImageSystem

/// Locks for readers on different processors without contention: each processor has a lock of its own for each shard,
/// next to the counts of its readers' hits and misses. To change a shard, a thread takes all of the shard's locks.
///
/// With one lock for all, its memory would move between the processors at each hit, which takes longer than the hit
/// itself.
final class ReaderLocks: @unchecked Sendable {
    // Sendable: the memory is initialised before it is shared and freed after; the locks guard everything else.
    struct Counts {
        var hits = 0
        var misses = 0
    }

    private typealias Lock = Guarded<Counts>

    /// Further processors share the locks of these.
    private static let maxProcessors = 16
    private static let lineLength = 128

    private let base: UnsafeMutableRawPointer
    private let shardCount: Int
    private let processorMask: Int
    /// The distance in bytes between the locks of two processors.
    private let stride: Int

    init(shardCount: Int, processors: Int = Processors.count) {
        var count = 1
        while count < min(processors, Self.maxProcessors) { count *= 2 }
        self.shardCount = shardCount
        processorMask = count - 1
        let length = shardCount * MemoryLayout<Lock>.stride
        stride = (length + Self.lineLength - 1) / Self.lineLength * Self.lineLength
        base = .allocate(byteCount: stride * count, alignment: Self.lineLength)
        for processor in 0..<count {
            for shard in 0..<shardCount { lock(processor, shard).initialize(to: Lock(Counts())) }
        }
    }

    deinit {
        for processor in 0...processorMask {
            for shard in 0..<shardCount { lock(processor, shard).deinitialize(count: 1) }
        }
        base.deallocate()
    }

    @inline(__always)
    private func lock(_ processor: Int, _ shard: Int) -> UnsafeMutablePointer<Lock> {
        let start = (base + processor * stride).assumingMemoryBound(to: Lock.self)
        return start + shard
    }

    /// Runs `body` while no thread changes the shard; others may read it.
    @inline(__always)
    func read<Result>(_ shard: Int, _ body: (inout Counts) -> Result) -> Result {
        var result: Result?
        lock(Processors.current & processorMask, shard).pointee.withLock { result = body(&$0) }
        guard let result else { preconditionFailure("the body runs once") }
        return result
    }

    /// Runs `body` while no other thread reads or changes the shard.
    func change<Result>(_ shard: Int, _ body: () -> Result) -> Result {
        var result: Result?
        lockAll(shard, from: 0) { result = body() }
        guard let result else { preconditionFailure("the body runs once") }
        return result
    }

    private func lockAll(_ shard: Int, from processor: Int, _ body: () -> Void) {
        guard processor <= processorMask else { return body() }
        lock(processor, shard).pointee.withLock { _ in lockAll(shard, from: processor + 1, body) }
    }

    /// The sum of all readers' counts.
    var counts: Counts {
        var sum = Counts()
        for processor in 0...processorMask {
            for shard in 0..<shardCount {
                lock(processor, shard).pointee.withLock { counts in
                    sum.hits += counts.hits
                    sum.misses += counts.misses
                }
            }
        }
        return sum
    }
}
