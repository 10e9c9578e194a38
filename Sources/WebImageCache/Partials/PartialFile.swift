import Logging
import Synchronization
import WebImageCore
import WebImageSystem

/// The file of one claim: opened, locked and validated.
final class PartialFile: PartialBody {
    struct Frame {
        /// The position in the body.
        let offset: Int
        /// The position in the file.
        let position: Int64
        let length: Int
        let checksum: UInt64
    }

    private struct State: ~Copyable {
        /// Nil once the claim has ended.
        var file: Int32?
        var header: PartialFileFormat.Header?
        var frames: [Frame] = []
        /// The position of the next frame.
        var end: Int64 = 0
        /// The length of the file, including the room that was taken ahead.
        var size: Int64
        var isBroken = false

        var length: Int { frames.last.map { $0.offset + $0.length } ?? 0 }
    }

    private let store: PartialStore
    private let key: CacheKey
    private let path: String
    // The lock ensures that only one thread uses the state; there is no contention.
    private let state: Guarded<State>

    /// - Parameter file: open and locked.
    init(_ key: CacheKey, store: PartialStore, path: String, file: Int32, size: Int64) {
        self.store = store
        self.key = key
        self.path = path
        state = Guarded(State(file: file, size: size))
    }

    deinit { release() }

    var metadata: [UInt8]? { state.withLock { $0.header?.metadata } }
    var length: Int { state.withLock { $0.length } }

    /// Validates the content: everything before the first error is valid.
    ///
    /// - Returns: false if nothing is valid.
    func load() -> Bool {
        state.withLock { state in
            guard let file = state.file else { return false }
            do throws(FileFault) {
                guard let header = try store.readHeader(file), header.key == store.name(of: key),
                    store.isCurrent(header.beganAt)
                else { return false }
                state.header = header
                state.end = Int64(header.encoded().count)
                while let frame = try readFrame(file, at: state.end, offset: state.length) {
                    state.frames.append(frame)
                    state.end = frame.position + Int64(frame.length)
                }
                // Torn bytes must not look like a frame later.
                try store.files.truncate(file, to: state.end)
                state.size = state.end
                return true
            } catch {
                store.note(error, path)
                state.header = nil
                state.frames = []
                return false
            }
        }
    }

    private func readFrame(_ file: Int32, at position: Int64, offset: Int) throws(FileFault) -> Frame? {
        let header = try store.files.readAll(file, PartialFileFormat.frameHeaderLength, at: position)
        guard header.count == PartialFileFormat.frameHeaderLength else { return nil }
        let (length, checksum) = header.withUnsafeBytes { bytes in
            (
                Int(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))),
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt64.self))
            )
        }
        guard (1...PartialFileFormat.longestFrame).contains(length) else { return nil }
        let frame = Frame(
            offset: offset, position: position + Int64(header.count), length: length, checksum: checksum)
        return try content(of: frame, file) == nil ? nil : frame
    }

    private func content(of frame: Frame, _ file: Int32) throws(FileFault) -> [UInt8]? {
        let bytes = try store.files.readAll(file, frame.length, at: frame.position)
        guard bytes.count == frame.length else { return nil }
        let checksum = bytes.withUnsafeBytes { PartialFileFormat.frameChecksum($0, at: frame.offset) }
        return checksum == frame.checksum ? bytes : nil
    }

    // MARK: - For the transfer

    func read(at offset: Int) throws(WebImageError) -> [UInt8] {
        try state.withLock { state throws(WebImageError) in
            guard let file = state.file, offset >= 0, offset < state.length,
                let index = state.frames.lastIndex(where: { $0.offset <= offset })
            else { return [] }
            let frame = state.frames[index]
            do throws(FileFault) {
                if let bytes = try content(of: frame, file) { return Array(bytes[(offset - frame.offset)...]) }
            } catch {
                store.note(error, path)
                throw error.readError("the beginning of a body cannot be read", at: path)
            }
            throw WebImageError(.corruptEntry, "the beginning of a body has changed on disk", location: path)
        }
    }

    func restart(metadata: [UInt8]) -> Bool {
        state.withLock { state in
            guard let file = state.file else { return false }
            let header = PartialFileFormat.Header(
                key: store.name(of: key), metadata: metadata, beganAt: store.clock.wallTime)
            state.frames = []
            state.header = nil
            state.end = 0
            state.isBroken = false
            do throws(FileFault) {
                try store.files.truncate(file, to: 0)
                state.size = 0
                let encoded = header.encoded()
                guard try makeRoom(Int64(encoded.count), file, &state) else { return false }
                try write(encoded, file, &state)
                state.header = header
                store.noteBegin(key)
                return true
            } catch {
                store.note(error, path)
                return false
            }
        }
    }

    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            var rest = bytes
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest.prefix(PartialFileFormat.longestFrame))
                guard appendFrame(part, &state) else { return false }
                rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
            }
            return state.header != nil && !state.isBroken
        }
    }

    private func appendFrame(_ bytes: UnsafeRawBufferPointer, _ state: inout State) -> Bool {
        guard let file = state.file, state.header != nil, !state.isBroken else { return false }
        state.isBroken = true
        let header = PartialFileFormat.frameHeader(bytes, at: state.length)
        let frame = Frame(
            offset: state.length, position: state.end + Int64(header.count), length: bytes.count,
            checksum: PartialFileFormat.frameChecksum(bytes, at: state.length))
        do throws(FileFault) {
            guard try makeRoom(Int64(header.count + bytes.count), file, &state) else { return false }
            // The content is written first: a header without it would announce a frame that never follows.
            try store.files.writeAll(file, bytes, at: frame.position)
            try write(header, file, &state)
        } catch {
            store.note(error, path)
            return false
        }
        state.end = frame.position + Int64(frame.length)
        state.frames.append(frame)
        state.isBroken = false
        return true
    }

    private func write(_ bytes: [UInt8], _ file: Int32, _ state: inout State) throws(FileFault) {
        try store.files.writeAll(file, bytes, at: state.end)
        state.end += Int64(bytes.count)
    }

    /// Extends the file so that `bytes` more can be written, if the store has the room.
    private func makeRoom(_ bytes: Int64, _ file: Int32, _ state: inout State) throws(FileFault) -> Bool {
        let missing = state.end + bytes - state.size
        guard missing > 0 else { return true }
        guard let size = try store.grow(file, path, from: state.size, by: missing) else { return false }
        state.size = size
        return true
    }

    func release() { end(keeping: true) }

    func discard() { end(keeping: false) }

    private func end(keeping: Bool) {
        state.withLock { state in
            guard let file = state.file else { return }
            state.file = nil
            if keeping, state.length > 0 {
                // Gives back the room that was taken ahead; if that fails, the next claim does it.
                if state.size != state.end { try? store.files.truncate(file, to: state.end) }
            } else if store.isNamed(file, path) {
                try? store.files.remove(path)
                store.noteEnd(key)
            }
            // Only now may another transfer claim the file.
            store.files.closeLocked(file)
        }
    }
}
