import Synchronization
package import WebImageCore
import WebImageSystem

/// The limit for the memory of the kept frames and canvases of all animations. When it is exceeded, the least recently
/// used animations release theirs: first those that nobody watches, then the others, which keep the canvas for their
/// next frame. Any thread may use it.
package final class FrameBudget: Sendable {
    /// For all animations of the process: 256 MiB.
    package static let shared = FrameBudget(limit: .mebibytes(256))

    fileprivate struct Member {
        weak var buffer: FrameBuffer?
        var bytes = 0
        var turn = 0
        /// Whether a player shows it.
        var isWatched = false
    }

    fileprivate struct State {
        var members: [ObjectIdentifier: Member] = [:]
        var bytes = 0
        var turn = 0
    }

    private let limit: ByteCount
    private let state = Guarded(State())

    package init(limit: ByteCount) { self.limit = limit }

    /// The bytes that are kept now.
    package var used: ByteCount { ByteCount(state.withLock { $0.bytes }) }

    func add(_ buffer: FrameBuffer) {
        state.withLock { $0.members[ObjectIdentifier(buffer)] = Member(buffer: buffer) }
    }

    func remove(_ buffer: FrameBuffer) {
        state.withLock { state in
            state.bytes -= state.members.removeValue(forKey: ObjectIdentifier(buffer))?.bytes ?? 0
        }
    }

    /// Records whether a player shows an animation.
    func note(_ buffer: FrameBuffer, isWatched: Bool) {
        state.withLock { $0.members[ObjectIdentifier(buffer)]?.isWatched = isWatched }
    }

    /// Records that an animation is used.
    func lookedAt(_ buffer: FrameBuffer) {
        state.withLock { state in
            state.turn += 1
            state.members[ObjectIdentifier(buffer)]?.turn = state.turn
        }
    }

    /// Records that an animation is used and now keeps more, or fewer, bytes.
    func changed(_ buffer: FrameBuffer, by change: Int) {
        let key = ObjectIdentifier(buffer)
        guard change != 0 else { return }
        let isOver = state.withLock { state in
            state.turn += 1
            state.members[key]?.turn = state.turn
            state.members[key]?.bytes += change
            state.bytes += change
            return state.bytes > limit.bytes
        }
        if isOver { free(over: limit, sparing: key) }
    }

    /// Makes animations release what they keep, the least recently used ones first, until the total is within the
    /// limit.
    package func trim(to limit: ByteCount) { free(over: limit, sparing: nil) }

    private func free(over limit: ByteCount, sparing key: ObjectIdentifier?) {
        // If that is not enough, animations in view give up their canvases, too.
        if key != nil { free(over: limit, sparing: key, keepingPlaces: true) }
        free(over: limit, sparing: key, keepingPlaces: false)
    }

    /// - Parameter keepingPlaces: whether animations in view keep the canvas for their next frame.
    private func free(over limit: ByteCount, sparing key: ObjectIdentifier?, keepingPlaces: Bool) {
        // Each animation is asked once: one that is decoding a frame keeps its canvas until the frame is done.
        var asked = Set([key].compactMap { $0 })
        while let (id, victim) = state.withLock({ $0.victim(over: limit.bytes, sparing: asked) }) {
            asked.insert(id)
            // Done without the lock, because releasing the last reference calls this object.
            guard let buffer = victim.buffer else { continue }
            let freed = buffer.giveUpFrames(keepingPlace: keepingPlaces && victim.isWatched)
            state.withLock { state in
                state.members[id]?.bytes -= freed
                state.bytes -= freed
            }
        }
    }
}

extension FrameBudget.State {
    /// The next animation that must release memory; nil if the total is within the limit, or only the spared animations
    /// keep memory.
    fileprivate func victim(
        over limit: Int, sparing spared: Set<ObjectIdentifier>
    ) -> (ObjectIdentifier, FrameBudget.Member)? {
        guard bytes > limit else { return nil }
        let least = members.filter { $0.value.bytes > 0 && !spared.contains($0.key) }
            .min { ($0.value.isWatched ? 1 : 0, $0.value.turn) < ($1.value.isWatched ? 1 : 0, $1.value.turn) }
        return least.map { ($0.key, $0.value) }
    }
}
