import Synchronization
package import WebImageCore
import WebImageSystem

/// An entry that is being written, part by part, under a temporary name. All calls block.
///
/// Exactly one of ``commit(_:)`` and ``abandon()`` ends it; a writer that is released without either is abandoned. If
/// there is no room within the cache's limit, the entry is skipped: the writer then accepts bytes and discards them.
package final class DiskWriter: Sendable {
    private struct State: ~Copyable {
        /// Nil after it was committed, abandoned or skipped.
        var file: Int32?
        var length: Int64 = 0
        var reserved: Int64 = 0
        var checksum = RunningChecksum()
        var wasSkipped = false
    }

    package let key: CacheKey
    private let id: EntryID
    private let order: DiskWriteOrder
    private let cache: DiskCache
    private let path: FilePath
    // The lock ensures that only one thread uses the state; there is no contention.
    private let state: Guarded<State>

    init(_ key: CacheKey, _ id: EntryID, _ order: DiskWriteOrder, cache: DiskCache, path: FilePath, file: Int32) {
        self.key = key
        self.id = id
        self.order = order
        self.cache = cache
        self.path = path
        state = Guarded(State(file: file))
        cache.room.beginEntry()
    }

    deinit {
        abandon()
        cache.room.endEntry()
    }

    /// Writes the next part of the body.
    ///
    /// - Throws: `noSpace`, `readOnly` or `cacheIO`; the writer is then abandoned.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
        try state.withLock { state throws(WebImageError) in try append(bytes, &state) }
    }

    package func append(_ bytes: [UInt8]) throws(WebImageError) {
        try bytes.withBytes { bytes throws(WebImageError) in try append(bytes) }
    }

    /// Ends the body, appends the metadata and gives the entry its name; an older entry is replaced.
    ///
    /// - Returns: false if there was no room for the entry, or its write was cancelled: since it began, the key was
    ///   removed or a later write of the key has ended.
    /// - Throws: `noSpace`, `readOnly` or `cacheIO`; the writer is then abandoned.
    package func commit(_ metadata: DiskMetadata) throws(WebImageError) -> Bool {
        try state.withLock { state throws(WebImageError) in
            guard state.file != nil else { return false }
            let tail = cache.makeTail(
                cache.makeTrailer(key, id, metadata), Int(state.length), state.checksum.value)
            try tail.withBytes { bytes throws(WebImageError) in try append(bytes, &state) }
            guard let file = state.file else { return false }
            do throws(FileFault) {
                if cache.configuration.synchronises { try cache.folder.files.sync(file) }
                guard try cache.room.reserveBlocks(of: file, &state.reserved) else {
                    skip(&state)
                    return false
                }
                cache.folder.files.close(file)
                state.file = nil
                let record = cache.makeRecord(id, bytes: state.reserved, length: state.length, metadata)
                let isPublished = try cache.publish(path, as: record, reserved: state.reserved, order.number)
                state.reserved = 0
                return isPublished
            } catch {
                end(&state)
                throw cache.writing(error, path.text)
            }
        }
    }

    /// Whether the cache's limit left no room for the entry.
    package var wasSkipped: Bool { state.withLock { $0.wasSkipped } }

    /// Removes what was written. Does nothing after ``commit(_:)``.
    package func abandon() {
        state.withLock { end(&$0) }
    }

    private func append(_ bytes: UnsafeRawBufferPointer, _ state: inout State) throws(WebImageError) {
        guard let file = state.file else { return }
        let (length, overflow) = state.length.addingReportingOverflow(Int64(bytes.count))
        let missing = overflow ? .max : cache.room.blocks(length) - state.reserved
        if missing > 0 {
            guard cache.room.reserve(missing) else {
                return skip(&state)
            }
            state.reserved += missing
        }
        do throws(FileFault) {
            try cache.folder.files.writeAll(file, bytes, at: state.length)
            state.checksum.add(bytes)
            state.length = length
        } catch {
            end(&state)
            throw cache.writing(error, path.text)
        }
    }

    private func skip(_ state: inout State) {
        end(&state)
        state.wasSkipped = true
        cache.skip()
    }

    private func end(_ state: inout State) {
        if let file = state.file {
            cache.folder.files.close(file)
            state.file = nil
            cache.folder.removeTemporary(path)
        }
        if state.reserved > 0 {
            cache.room.release(state.reserved)
            state.reserved = 0
        }
    }
}
