import Logging
import Synchronization
package import WebImageCore
import WebImageSystem

extension DiskCache {
    /// Keeps a body under that key, in place of an older one. Blocks; waits for the scan of the directory, since before
    /// it nobody knows how much room there is.
    ///
    /// - Returns: false when it was skipped because the limit leaves no room for it.
    /// - Throws: `noSpace`, `readOnly`, `cacheIO`; what was there before stays.
    @discardableResult
    package func store(
        _ key: CacheKey, _ body: UnsafeRawBufferPointer, _ metadata: DiskMetadata
    ) throws(WebImageError) -> Bool {
        let writer = try makeWriter(for: key)
        try writer.append(body)
        return try writer.commit(metadata)
    }

    /// The same for a body in one array.
    @discardableResult
    package func store(_ key: CacheKey, _ body: [UInt8], _ metadata: DiskMetadata) throws(WebImageError) -> Bool {
        try store(key, [body], metadata)
    }

    /// The same for a body in parts.
    @discardableResult
    package func store(_ key: CacheKey, _ parts: [[UInt8]], _ metadata: DiskMetadata) throws(WebImageError) -> Bool {
        let writer = try makeWriter(for: key)
        for part in parts { try writer.append(part) }
        return try writer.commit(metadata)
    }

    /// Starts an entry whose body comes part by part. Blocks.
    package func makeWriter(for key: CacheKey) throws(WebImageError) -> DiskWriter {
        finishScan()
        let path = makeTemporaryPath()
        do {
            let file = try makingDirectories { () throws(FileFault) in try files.open(path, .createNew) }
            return DiskWriter(key, cache: self, path: path, file: file)
        } catch {
            throw writing(error, path)
        }
    }

    /// Runs `action`; when it lacks a directory, because there never was one or someone wiped it, makes all of them and
    /// runs it again.
    private func makingDirectories<Result>(
        _ action: () throws(FileFault) -> Result
    ) throws(FileFault) -> Result {
        do throws(FileFault) {
            return try action()
        } catch  where error.isMissing {
            if (try? files.status(at: layout.versionDirectory)) == nil { state.withLock { $0.removeAll() } }
            try layout.makeDirectories(files)
            return try action()
        }
    }

    /// Gives a finished file its name.
    func publish(_ temporary: String, as id: EntryID, reserved: Int64) throws(FileFault) {
        let path = layout.path(of: id)
        do throws(FileFault) {
            try stripe(id).lock.withLock { _ throws(FileFault) in
                do throws(FileFault) {
                    try files.rename(temporary, to: path)
                } catch  where error.isMissing {
                    try files.makeDirectory(layout.shardDirectory(id.shard))
                    try files.rename(temporary, to: path)
                }
                let now = clock.wallTime
                state.withLock { state in
                    state.fulfil(reserved, id, bytes: reserved, at: now)
                    state.statistics.stores += 1
                }
            }
        } catch {
            try? files.remove(temporary)
            throw error
        }
        evictInBackground()
    }

    /// Replaces the metadata of an entry; its body stays where it is. Blocks.
    ///
    /// - Returns: false when there is no such entry, or no room for longer metadata.
    /// - Throws: `locked` when another process is doing the same; `noSpace`, `readOnly`, `cacheIO`.
    @discardableResult
    package func updateMetadata(_ key: CacheKey, _ metadata: DiskMetadata) throws(WebImageError) -> Bool {
        let id = EntryID(key)
        let path = layout.path(of: id)
        let trailer = DiskTrailer(key: key.text, metadata: metadata).encoded()
        finishScan()
        let growth = FileStatus.blocks(Int64(trailer.count + DiskFooter.length))
        guard makeRoom(growth) else {
            skip()
            return false
        }
        let update: MetadataUpdate
        do throws(FileFault) {
            update = try stripe(id).lock.withLock { _ throws(FileFault) in
                try appendTrailer(trailer, id, key, path, reserved: growth)
            }
        } catch {
            giveBack(growth)
            throw writing(error, path)
        }
        switch update {
        case .done: return true
        case .none:
            giveBack(growth)
            return false
        case .locked:
            giveBack(growth)
            throw WebImageError(.locked, "another process is changing this entry", location: path)
        case .rewrite:
            giveBack(growth)
            guard let entry = try read(key) else { return false }
            return try store(key, entry.body, metadata)
        }
    }

    private enum MetadataUpdate {
        case done, none, locked
        /// So much of the file is metadata of the past that it is better written anew.
        case rewrite
    }

    private static let mostDeadBytes: Int64 = 64 << 10

    private func appendTrailer(
        _ trailer: [UInt8], _ id: EntryID, _ key: CacheKey, _ path: String, reserved: Int64
    ) throws(FileFault) -> MetadataUpdate {
        // Opening for writing would make a file that is missing.
        do { _ = try files.status(at: path) } catch  where error.isMissing { return .none }
        let file = try files.open(path, .readWrite)
        defer { files.close(file) }
        guard try files.lock(file, wait: false) else { return .locked }
        defer { files.unlock(file) }
        let status = try files.status(of: file)
        guard case .passed(let tail) = try EntryFile(files: files, file: file, path: path).readTail(status),
            tail.trailer.key == key.text
        else { return .none }
        if status.size - tail.footer.bodyLength > Self.mostDeadBytes { return .rewrite }
        var footer = tail.footer
        footer.trailerOffset = status.size
        footer.trailerLength = Int64(trailer.count)
        footer.trailerChecksum = Checksum.of(trailer)
        try append(trailer + footer.encoded(), to: file, path, status, id)
        // A file that grows bit by bit is given blocks ahead.
        let bytes = try files.status(of: file).blockBytes
        let now = clock.wallTime
        state.withLock { $0.fulfil(reserved, id, bytes: bytes, at: now) }
        return .done
    }

    /// All or nothing: what was added in part is cut off again, and where that fails the entry goes.
    private func append(
        _ bytes: [UInt8], to file: Int32, _ path: String, _ status: FileStatus, _ id: EntryID
    ) throws(FileFault) {
        var fault: FileFault?
        bytes.withUnsafeBytes { bytes in
            do throws(FileFault) { try files.writeAll(file, bytes, at: status.size) } catch { fault = error }
        }
        guard let fault else { return }
        do throws(FileFault) {
            try files.truncate(file, to: status.size)
        } catch {
            try? files.remove(path)
            state.withLock { $0.remove(id) }
        }
        throw fault
    }

    /// Removes the entry of that key. Blocks.
    /// - Returns: whether there was one.
    @discardableResult
    package func remove(_ key: CacheKey) throws(WebImageError) -> Bool {
        let id = EntryID(key)
        let path = layout.path(of: id)
        do throws(FileFault) {
            return try stripe(id).lock.withLock { _ throws(FileFault) in try remove(id, path) }
        } catch {
            throw writing(error, path)
        }
    }

    /// Removes an entry's file, under its stripe's lock.
    func remove(_ id: EntryID, _ path: String) throws(FileFault) -> Bool {
        var wasThere = true
        do {
            try files.remove(path)
        } catch  where error.isMissing {
            wasThere = false
        }
        state.withLock { $0.remove(id) }
        return wasThere
    }

    func writing(_ fault: FileFault, _ path: String) -> WebImageError {
        let error = fault.writeError("a cache entry cannot be written", at: path)
        logger.warning("\(error)")
        state.withLock { $0.statistics.faults += 1 }
        return error
    }

    func skip() {
        state.withLock { $0.statistics.skippedStores += 1 }
        logger.notice("a store was skipped: the cache's limit leaves no room for it")
    }
}
