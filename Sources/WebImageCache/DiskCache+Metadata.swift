package import WebImageCore
import WebImageSystem

// The metadata of an entry is replaced without its body: a new trailer is appended after the old one.
extension DiskCache {
    /// The state of an entry's file when it was read: a file that was changed or replaced since has another inode or
    /// footer.
    struct KnownEntry {
        let inode: UInt64
        let tail: EntryFile.Tail
    }

    /// Replaces the metadata of an entry; its body stays where it is. Blocks.
    ///
    /// - Returns: false when there is no such entry, or no room for longer metadata.
    /// - Throws: `locked` when another process is doing the same; `noSpace`, `readOnly`, `cacheIO`.
    @discardableResult
    package func updateMetadata(_ key: CacheKey, _ metadata: DiskMetadata) throws(WebImageError) -> Bool {
        try changeMetadata(key) { _ in metadata }
    }

    /// Replaces the metadata of an entry by the result of `change`. Blocks.
    ///
    /// The comparison and the change are one step: if the entry is replaced, removed or changed between the two,
    /// `change` is called again with the new state.
    /// - Parameter change: returns nil if the entry must not be changed. May be called several times, without locks
    ///   held.
    /// - Returns: false when nothing was changed: there is no such entry, `change` returned nil, or there is no room for
    ///   longer metadata.
    /// - Throws: `locked` when other threads or processes keep changing the entry; `noSpace`, `readOnly`, `cacheIO`.
    @discardableResult
    package func changeMetadata(
        _ key: CacheKey, _ change: (DiskMetadata) -> DiskMetadata?
    ) throws(WebImageError) -> Bool {
        let id = EntryID(key)
        let path = folder.layout.path(of: id)
        try writeStaged(id)
        index.finishScan()
        for _ in 0..<Self.maxTries {
            // Ordered before the entry is read, so that a removal or store from here on cancels the change.
            let order = DiskWriteOrder(id, unwritten)
            let update: MetadataUpdate
            do throws(FileFault) {
                guard let known = try findKnown(key, id), let old = known.tail.trailer.decoded,
                    let metadata = change(old.metadata)
                else { return false }
                update = try replace(known, key, id, by: metadata, order)
            } catch {
                throw writing(error, path)
            }
            switch update {
            case .done:
                room.startUpkeep()
                return true
            case .none: return false
            case .rewrite(let body, let known, let metadata): return try rewrite(key, id, body, metadata, known, order)
            case .changed: continue
            }
        }
        throw WebImageError(.locked, "others keep changing this entry", location: path)
    }

    private static let maxTries = 8

    private enum MetadataUpdate {
        case done, none
        /// The entry has changed since it was read.
        case changed
        /// The file holds so much old metadata that it should be rewritten.
        case rewrite([UInt8], KnownEntry, DiskMetadata)
    }

    private static let maxDeadBytes: Int64 = 64 << 10

    /// Nil if the key has no intact entry.
    private func findKnown(_ key: CacheKey, _ id: EntryID) throws(FileFault) -> KnownEntry? {
        try folder.check()
        try folder.checkShard(id.shard)
        guard let file = try EntryFile.open(folder.layout.path(of: id), folder.files) else { return nil }
        defer { file.close() }
        let status = try file.status()
        guard case .passed(let tail) = try file.readTail(status), tail.trailer.isOf(key, id) else { return nil }
        return KnownEntry(inode: status.inode, tail: tail)
    }

    private func replace(
        _ known: KnownEntry, _ key: CacheKey, _ id: EntryID, by metadata: DiskMetadata, _ order: DiskWriteOrder
    ) throws(FileFault) -> MetadataUpdate {
        let footer = known.tail.footer
        let length = footer.trailerOffset + footer.trailerLength + Int64(DiskFooter.length)
        if length - footer.bodyLength > Self.maxDeadBytes {
            guard let file = try EntryFile.open(folder.layout.path(of: id), folder.files) else { return .none }
            defer { file.close() }
            guard case .passed(let content) = try file.readAll(file.status(), most: longestEntry) else { return .none }
            return .rewrite(content.body, known, metadata)
        }
        let trailer = DiskTrailer(key, id, metadata, keepsKey: configuration.keepsKeys).encoded()
        let growth = room.blocks(Int64(trailer.bytes.count + DiskFooter.length))
        guard room.reserve(growth) else {
            skip()
            return .none
        }
        var isDone = false
        defer { if !isDone { room.release(growth) } }
        let update = try folder.withTurn(of: id) { () throws(FileFault) -> MetadataUpdate in
            guard order.isWanted else { return .changed }
            return try append(trailer, to: known, id, metadata, reserved: growth)
        }
        if case .done = update { isDone = true }
        return update
    }

    /// The body has been read and cannot change: another body means another file.
    private func rewrite(
        _ key: CacheKey, _ id: EntryID, _ body: [UInt8], _ metadata: DiskMetadata, _ known: KnownEntry,
        _ order: DiskWriteOrder
    ) throws(WebImageError) -> Bool {
        var result: Result<Bool, WebImageError> = .success(false)
        body.withUnsafeBytes { bytes in
            do throws(WebImageError) {
                result = .success(try put(key, id, bytes, metadata, order.number, inPlaceOf: known))
            } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }

    /// Locks an entry's file against other threads and processes that append a trailer. Call it in the entry's turn.
    /// - Returns: nil if another thread or process has the lock, or the file has been replaced.
    func lock(_ known: KnownEntry, _ id: EntryID, forWriting: Bool = false) throws(FileFault) -> Int32? {
        let path = folder.layout.path(of: id)
        guard let file = try folder.openLocked(path, forWriting: forWriting) else { return nil }
        do throws(FileFault) {
            let status = try folder.files.status(of: file)
            let entry = EntryFile(files: folder.files, file: file, path: FilePath(path))
            if status.inode == known.inode, case .passed(let tail) = try entry.readTail(status),
                tail.footer == known.tail.footer
            {
                return file
            }
        } catch {
            folder.files.closeLocked(file)
            throw error
        }
        folder.files.closeLocked(file)
        return nil
    }

    /// Appends a trailer. Call it in the entry's turn.
    private func append(
        _ trailer: ByteWriter, to known: KnownEntry, _ id: EntryID, _ metadata: DiskMetadata, reserved: Int64
    ) throws(FileFault) -> MetadataUpdate {
        let path = folder.layout.path(of: id)
        guard let file = try lock(known, id, forWriting: true) else { return .changed }
        defer { folder.files.closeLocked(file) }
        let status = try folder.files.status(of: file)
        books.withLock { if $0.ledger.hasOthers { $0.see(status, of: id) } }
        var footer = known.tail.footer
        footer.trailerOffset = status.size
        footer.trailerLength = Int64(trailer.bytes.count)
        footer.trailerChecksum = trailer.checksum(from: 0)
        var tailBytes = trailer
        footer.encode(to: &tailBytes)
        // Appending to a file does not change the date of its directory, so the next process would trust the outdated
        // index. The date is changed before, so that this holds even if the process is killed right afterwards.
        try? folder.files.touch(folder.layout.shardDirectory(id.shard), at: nil)
        try append(tailBytes.bytes, to: file, path, status, id)
        // The file system may allocate blocks ahead for a growing file.
        let grown = try folder.files.status(of: file)
        // Another process may have replaced the file meanwhile, and counts the new one.
        if books.withLock({ $0.ledger.hasOthers }), (try? folder.files.status(at: path))?.inode != grown.inode {
            return .none
        }
        var record = makeRecord(id, bytes: grown.blockBytes, length: grown.size, metadata)
        let keepsPlace = books.withLock { $0.ledger.ageBasis == .creation }
        if keepsPlace { record.recordedDate = status.modified }
        books.withLock { $0.fulfil(reserved, record, keepsPlace: keepsPlace) }
        if keepsPlace { try? folder.files.touch(path, at: status.modified) }
        return .done
    }

    /// Appends completely or not at all: a partial trailer is cut off again, and if that fails the entry is removed.
    private func append(
        _ bytes: [UInt8], to file: Int32, _ path: String, _ status: FileStatus, _ id: EntryID
    ) throws(FileFault) {
        do throws(FileFault) {
            try folder.files.writeAll(file, bytes, at: status.size)
        } catch {
            do throws(FileFault) {
                try folder.files.truncate(file, to: status.size)
            } catch {
                try? folder.files.remove(path)
                books.withLock { $0.remove(id) }
            }
            throw error
        }
    }
}
