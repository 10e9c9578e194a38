import Synchronization
import WebImageCore
import WebImageSystem

/// An animation's decoder, which one thread uses at a time, and the memory that it keeps between two frames.
///
/// Memory can be taken back at any time without waiting: if the decoder is in use, its user releases it afterwards.
final class FrameDecoder: Sendable {
    /// How much of its memory the decoder must release.
    private enum Release {
        case nothing, spare, all
    }

    private struct Memory {
        var bytes = 0
        var release = Release.nothing
    }

    private let decoder: Guarded<DecoderBox>
    private let memory = Guarded(Memory())
    private let deadline: FrameDeadline

    /// Returns nil if `makeDecoder` does.
    ///
    /// - Parameter options: its checkpoint is not used. `limits.time` is for each use of the decoder.
    init?(_ options: DecodeOptions, _ makeDecoder: FrameBuffer.MakeDecoder) throws(WebImageError) {
        let deadline = FrameDeadline(limit: options.limits.time)
        var options = options
        options.checkpoint = { () throws(WebImageError) in try deadline.check() }
        self.deadline = deadline
        guard let decoder = try makeDecoder(options) else { return nil }
        self.decoder = Guarded(DecoderBox(decoder))
    }

    /// The bytes that are kept for the next frame.
    var keptBytes: Int { memory.withLock { $0.bytes } }

    /// Runs `body` with exclusive use of the decoder. May wait for another user.
    ///
    /// - Returns: its result, and by how many bytes the kept memory has grown.
    func use<Result>(_ body: (any AnimationDecoder) -> Result) -> (result: Result, growth: Int) {
        let (result, growth) = decoder.withLock { box in
            // Not earlier: another frame may still be decoded.
            deadline.begin()
            let result = body(box.decoder)
            return (result, note(box.decoder.workingByteCount))
        }
        return (result, growth - releaseIfRequested())
    }

    /// Releases memory, now or when the decoder is no longer in use.
    ///
    /// - Parameter keepingPlace: whether the decoder keeps what it needs for the next frame.
    /// - Returns: how many bytes were released at once.
    func release(keepingPlace: Bool) -> Int {
        memory.withLock { memory in
            memory.release = keepingPlace && memory.release != .all ? .spare : .all
        }
        return releaseIfRequested()
    }

    /// - Returns: how many bytes were released; 0 if that was not requested, or the decoder is in use: its user then
    ///   calls this afterwards.
    private func releaseIfRequested() -> Int {
        guard memory.withLock({ $0.release != .nothing }) else { return 0 }
        return decoder.withLockIfAvailable { box in
            let release = memory.withLock { memory in
                defer { memory.release = .nothing }
                return memory.release
            }
            switch release {
            case .nothing: return 0
            case .spare: box.decoder.releaseSpareMemory()
            case .all: box.decoder.releaseWorkingMemory()
            }
            return -note(release == .all ? 0 : box.decoder.workingByteCount)
        } ?? 0
    }

    /// Notes how much memory the decoder keeps; called with the decoder's lock held.
    ///
    /// - Returns: by how many bytes that is more than before.
    private func note(_ bytes: Int) -> Int {
        memory.withLock { memory in
            defer { memory.bytes = bytes }
            return bytes - memory.bytes
        }
    }
}

/// Sendable because it is guarded by a lock.
private struct DecoderBox: @unchecked Sendable {
    let decoder: any AnimationDecoder

    init(_ decoder: any AnimationDecoder) { self.decoder = decoder }
}

/// How long the current frame may still be decoded.
private final class FrameDeadline: Sendable {
    private let limit: Duration
    private let end: Guarded<ContinuousClock.Instant>

    init(limit: Duration) {
        self.limit = limit
        end = Guarded(.now + limit)
    }

    func begin() { end.withLock { $0 = .now + limit } }

    func check() throws(WebImageError) {
        guard ContinuousClock.now > end.withLock({ $0 }) else { return }
        throw WebImageError(over: .time, "decoding a frame took longer than \(limit.inWords)")
    }
}
