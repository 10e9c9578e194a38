import Synchronization
package import WebImageCore
import WebImageSystem

/// The memory that the kept frames and canvases of all animations may take together. When it is passed, the animations that were
/// looked at least lately give theirs up. Any thread may use it.
package final class FrameBudget: Sendable {
    /// For all animations of the process: 256 MiB.
    package static let shared = FrameBudget(limit: .mebibytes(256))

    fileprivate struct Member {
        weak var buffer: FrameBuffer?
        var bytes = 0
        var turn = 0
    }

    fileprivate struct State {
        var members: [ObjectIdentifier: Member] = [:]
        var bytes = 0
        var turn = 0
    }

    private let limit: ByteCount
    private let state = Guarded(State())

    package init(limit: ByteCount) { self.limit = limit }

    /// What is kept now.
    package var used: ByteCount { ByteCount(state.withLock { $0.bytes }) }

    func add(_ buffer: FrameBuffer) {
        state.withLock { $0.members[ObjectIdentifier(buffer)] = Member(buffer: buffer) }
    }

    func remove(_ buffer: FrameBuffer) {
        state.withLock { state in
            state.bytes -= state.members.removeValue(forKey: ObjectIdentifier(buffer))?.bytes ?? 0
        }
    }

    /// Says that an animation is looked at.
    func lookedAt(_ buffer: FrameBuffer) {
        state.withLock { state in
            state.turn += 1
            state.members[ObjectIdentifier(buffer)]?.turn = state.turn
        }
    }

    /// Says that an animation is looked at and keeps more, or fewer, bytes than before.
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

    /// Has animations give up what they keep, those first that were looked at least lately, until no more than so much is kept.
    package func trim(to limit: ByteCount) { free(over: limit, sparing: nil) }

    private func free(over limit: ByteCount, sparing key: ObjectIdentifier?) {
        while let victim = state.withLock({ $0.victim(over: limit.bytes, sparing: key) }) {
            // Looked at outside the lock: what was the last reference to it goes back through here.
            guard let buffer = victim.buffer else { return }
            let freed = buffer.giveUpFrames()
            state.withLock { state in
                state.members[ObjectIdentifier(buffer)]?.bytes -= freed
                state.bytes -= freed
            }
            if freed == 0 { return }
        }
    }
}

extension FrameBudget.State {
    /// The animation that gives way next; nil when there is room, or none but the spared one has anything.
    fileprivate func victim(over limit: Int, sparing key: ObjectIdentifier?) -> FrameBudget.Member? {
        guard bytes > limit else { return nil }
        return members.filter { $0.key != key && $0.value.bytes > 0 }.min { $0.value.turn < $1.value.turn }?.value
    }
}
