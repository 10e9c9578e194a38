import Logging
package import WebImageCore
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The result of ``DiskCache/moveEntries(from:namespace:)``.
public struct DiskMove: Hashable, Sendable {
    /// Entries that were moved into this cache.
    public var moved = 0
    /// Entries that were removed, because this cache has a younger one with the same key, or because they were damaged
    /// or too old.
    public var dropped = 0
    /// Entries that stayed in the old directory, because a file could not be read, moved or removed there, or the limit
    /// has no room for it. A part of the directory that could not be listed counts as one.
    public var left = 0

    public init() {}
}

// Moves the entries of a directory that has a new place, or merges two directories.
extension DiskCache {
    private enum Outcome {
        case moved, dropped, left
        /// Another thread or process has removed the file.
        case gone
    }

    /// Moves every entry of another directory into this cache, the least recently used first, file by file. Blocks.
    ///
    /// Each file is moved in one step, so that this process and others that use either directory meanwhile find an
    /// entry whole or not at all. For a cache that has the old directory open, moved entries are misses. Entries that
    /// are stored there later stay there. Within this process a younger entry of a key never gives way to an older one;
    /// another process may lose one that it stores within the microseconds between the check and the move.
    package func moveEntries(from directory: String, namespace: String) throws(WebImageError) -> DiskMove {
        index.finishScan()
        let source = CacheLayout(directory: directory, namespace: namespace)
        var report = DiskMove()
        do throws(FileFault) {
            try source.check(folder.files)
            try folder.check()
        } catch {
            throw error.writeError("cache entries cannot be moved", at: error.path)
        }
        guard let old = try? folder.files.status(at: source.versionDirectory) else { return report }
        let own = try? folder.files.status(at: folder.layout.versionDirectory)
        if own?.isSameFile(as: old) == true { return report }
        let (found, unread) = entryFiles(in: source)
        report.left = unread
        for (id, _) in found.sorted(by: { $0.modified < $1.modified }) {
            do throws(FileFault) {
                switch try move(id, from: source.path(of: id)) {
                case .moved: report.moved += 1
                case .dropped: report.dropped += 1
                case .left: report.left += 1
                case .gone: break
                }
            } catch {
                folder.logger.warning("a cache entry cannot be moved: \(error)")
                report.left += 1
            }
        }
        if report.left == 0 { tidy(source) }
        room.startUpkeep()
        return report
    }

    /// The entries of a directory, and how many of them, or of its parts, could not be looked at.
    private func entryFiles(in source: CacheLayout) -> (found: [(id: EntryID, modified: Int64)], unread: Int) {
        var (found, unread): ([(EntryID, Int64)], Int) = ([], 0)
        /// Returns nil if `look` fails, and counts the failure unless the file was removed meanwhile.
        func attempt<Value>(_ look: () throws(FileFault) -> Value) -> Value? {
            do throws(FileFault) { return try look() } catch {
                if !error.isMissing {
                    folder.logger.warning("cache entries cannot be moved: \(error)")
                    unread += 1
                }
                return nil
            }
        }
        let list = attempt { () throws(FileFault) in try source.shards(folder.files) }
        if let fault = list?.fault { attempt { () throws(FileFault) in throw fault } }
        for shard in list?.numbers ?? [] {
            let names = attempt { () throws(FileFault) in try folder.files.names(in: source.shardDirectory(shard)) }
            for id in (names ?? []).compactMap({ EntryID(name: $0) }) where id.shard == shard {
                let status = attempt { () throws(FileFault) in try folder.files.status(at: source.path(of: id)) }
                if let status, status.isRegularFile { found.append((id, status.modified)) }
            }
        }
        return (found, unread)
    }

    private func move(_ id: EntryID, from path: String) throws(FileFault) -> Outcome {
        // Ordered before the cache is searched, so that entries that are stored from here on take precedence.
        let order = DiskWriteOrder(id, unwritten)
        guard let file = try EntryFile.open(path, folder.files) else { return .gone }
        defer { file.close() }
        let status = folder.withoutFutureDate(try file.status(), of: path)
        guard status.size <= longestEntry, case .passed(let tail) = try file.readTail(status),
            tail.trailer.isAlive(at: folder.clock.wallTime),
            !books.withLock({ $0.ledger.isExpired(date: status.modified, at: folder.clock.wallTime) }),
            try !hasYounger(id, than: storedAt(tail, status))
        else {
            try folder.files.remove(path)
            return .dropped
        }
        if !configuration.keepsKeys, let trailer = tail.trailer.decoded, let key = trailer.key {
            return try rewrite(file, status, CacheKey(key), trailer.metadata, order)
        }
        room.beginEntry()
        defer { room.endEntry() }
        var record = status.record(of: id)
        record.expires = tail.trailer.endOfLifetime
        guard room.reserve(record.bytes) else { return .left }
        do throws(FileFault) {
            return try place(file, status, storedAt(tail, status), as: record, order)
        } catch {
            room.release(record.bytes)
            throw error
        }
    }

    /// When an entry's body was stored. The date of its file is that of its last use.
    private func storedAt(_ tail: EntryFile.Tail, _ status: FileStatus) -> Int64 {
        tail.trailer.decoded?.metadata.storedAt ?? status.modified
    }

    /// Whether this cache has, or is about to write, an entry that was stored later. Damaged entries do not count.
    private func hasYounger(_ id: EntryID, than date: Int64) throws(FileFault) -> Bool {
        if unwritten.newest(id) != nil { return true }
        guard let file = try EntryFile.open(folder.path(of: id), folder.files) else { return false }
        defer { file.close() }
        let status = try file.status()
        guard case .passed(let tail) = try file.readTail(status) else { return false }
        return storedAt(tail, status) >= date
    }

    private func place(
        _ file: EntryFile, _ status: FileStatus, _ storedAt: Int64, as record: DiskIndex.Record,
        _ order: DiskWriteOrder
    ) throws(FileFault) -> Outcome {
        let id = record.id
        return try folder.withTurn(of: id) { () throws(FileFault) -> Outcome in
            guard order.isWanted, try !hasYounger(id, than: storedAt) else {
                // The caller releases the room if this throws.
                try folder.files.remove(file.path)
                room.release(record.bytes)
                return .dropped
            }
            var wasCopied = false
            let freed = try folder.makingDirectories(for: id, whenGone: forgetEntries) { () throws(FileFault) in
                do throws(FileFault) {
                    return try room.place(file.path, at: try folder.path(of: id))
                } catch  where error.errorNumber == EXDEV {
                    wasCopied = true
                    return try copy(file, status, id)
                }
            }
            books.withLock { $0.fulfil(record.bytes, record, freed: freed) }
            return wasCopied && !removeCopied(file) ? .left : .moved
        }
    }

    /// Removes an entry's file that was copied. Returns false if that fails, as on a read-only file system.
    private func removeCopied(_ file: EntryFile) -> Bool {
        do throws(FileFault) {
            try folder.files.remove(file.path)
            return true
        } catch {
            if error.isMissing { return true }
            folder.logger.warning("a cache entry was copied, but cannot be removed from its old place: \(error)")
            return false
        }
    }

    /// Copies an entry from another file system.
    private func copy(_ file: EntryFile, _ status: FileStatus, _ id: EntryID) throws(FileFault) -> Freed? {
        let bytes = try file.readPlain(status)
        let temporary = folder.layout.versionDirectory + "/" + folder.temporaries.next(inShard: id.shard)
        let target = try folder.files.open(temporary, .createNew)
        do throws(FileFault) {
            defer { folder.files.close(target) }
            try folder.files.writeAll(target, bytes, at: 0)
            if configuration.synchronises { try folder.files.sync(target) }
            try folder.files.touch(temporary, at: status.modified)
            return try room.place(FilePath(temporary), at: try folder.path(of: id))
        } catch {
            try? folder.files.remove(temporary)
            throw error
        }
    }

    /// Rewrites an entry that holds its key if keys must not be stored.
    private func rewrite(
        _ file: EntryFile, _ status: FileStatus, _ key: CacheKey, _ metadata: DiskMetadata, _ order: DiskWriteOrder
    ) throws(FileFault) -> Outcome {
        guard case .passed(let content) = try file.readAll(status, most: longestEntry) else {
            try folder.files.remove(file.path)
            return .dropped
        }
        guard let writer = try? makeWriter(for: key, as: order), (try? writer.append(content.body)) != nil,
            (try? writer.commit(metadata)) == true
        else { return .left }
        try folder.files.remove(file.path)
        return .moved
    }

    /// Removes the rest of a directory without entries, unless a cache still has it open. What has the name of an entry
    /// stays: it was stored since, or could not be moved.
    private func tidy(_ source: CacheLayout) {
        for name in (try? folder.files.names(in: source.ownerDirectory)) ?? [] {
            guard let mark = try? folder.files.open(source.ownerDirectory + "/" + name, .updateOwn) else { return }
            defer { folder.files.closeLocked(mark) }
            guard let isDead = try? folder.files.lock(mark, within: .zero), isDead else { return }
        }
        for shard in (try? source.shards(folder.files))?.numbers ?? [] {
            removeFolder(source.shardDirectory(shard)) { OwnerName(ofTemporary: $0) != nil }
        }
        removeFolder(source.ownerDirectory) { OwnerName.isOne($0) }
        removeFolder(source.indexDirectory) { $0.utf8.count == 1 || OwnerName(ofTemporary: $0) != nil }
        removeFolder(source.partialDirectory) { PartialStore.isOwn($0) }
        removeFolder(source.versionDirectory) { $0 == "usage" || OwnerName(ofTemporary: $0) != nil }
        try? folder.files.removeDirectory(source.namespace)
        // Other namespaces still use the directory.
        let rest = try? folder.files.names(in: source.directory)
        if rest == ["CACHEDIR.TAG"] { removeFolder(source.directory) { _ in true } }
    }

    /// Removes a folder and the files in it that a cache has made; a folder with other files stays.
    private func removeFolder(_ path: String, _ isOurs: (String) -> Bool) {
        for name in (try? folder.files.names(in: path)) ?? [] where isOurs(name) {
            try? folder.files.remove(path + "/" + name)
        }
        try? folder.files.removeDirectory(path)
    }
}
