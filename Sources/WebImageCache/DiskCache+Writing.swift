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
        let id = EntryID(key)
        unstage(id)
        let number = state.withLock { $0.writes.begin(id) }
        return try put(key, id, body, metadata, number)
    }

    /// The same for a body in one array.
    @discardableResult
    package func store(_ key: CacheKey, _ body: [UInt8], _ metadata: DiskMetadata) throws(WebImageError) -> Bool {
        var result: Result<Bool, WebImageError> = .success(false)
        body.withUnsafeBytes { body in
            do throws(WebImageError) {
                result = .success(try store(key, body, metadata))
            } catch {
                result = .failure(error)
            }
        }
        return try result.get()
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
        let id = EntryID(key)
        return try makeWriter(key, id, unstaging: true) { $0.begin(id) }
    }

    /// - Parameter begin: notes that a write begins, and says which number it has.
    func makeWriter(
        _ key: CacheKey, _ id: EntryID, unstaging: Bool, _ begin: (inout DiskWrites) -> UInt64
    ) throws(WebImageError) -> DiskWriter {
        finishScan()
        if unstaging { unstage(id) }
        let (path, file) = try openTemporary(id)
        let number = state.withLock { begin(&$0.writes) }
        return DiskWriter(key, id, number: number, cache: self, path: path, file: file)
    }

    private func openTemporary(_ id: EntryID) throws(WebImageError) -> (path: FilePath, file: Int32) {
        let name = makeTemporaryName(id.shard)
        do {
            return try makingDirectories(for: id) { () throws(FileFault) in
                let path = path(name)
                return (path, try files.open(path, .createNew))
            }
        } catch {
            throw writing(error, path(name).text)
        }
    }

    /// Writes an entry of which everything is there, as the write of that number; ends that write.
    func put(
        _ key: CacheKey, _ id: EntryID, _ body: UnsafeRawBufferPointer, _ metadata: DiskMetadata, _ number: UInt64
    ) throws(WebImageError) -> Bool {
        defer { state.withLock { $0.writes.end(id) } }
        finishScan()
        let (path, file) = try openTemporary(id)
        let trailer = makeTrailer(key, id, metadata)
        let length = Int64(body.count + trailer.bytes.count + DiskFooter.length)
        let reserved = FileStatus.blocks(length)
        guard makeRoom(reserved) else {
            files.close(file)
            try? files.remove(path)
            skip()
            return false
        }
        do throws(FileFault) {
            do throws(FileFault) {
                try write(body, trailer, to: file)
                if synchronises { try files.sync(file) }
            } catch {
                files.close(file)
                try? files.remove(path)
                throw error
            }
            files.close(file)
            let record = makeRecord(id, bytes: reserved, length: length, metadata)
            return try publish(path, as: record, reserved: reserved, number)
        } catch {
            giveBack(reserved)
            throw writing(error, path.text)
        }
    }

    private func write(
        _ body: UnsafeRawBufferPointer, _ trailer: consuming ByteWriter, to file: Int32
    ) throws(FileFault) {
        let tail = makeTail(trailer, body.count, Checksum.of(body))
        var fault: FileFault?
        tail.withUnsafeBytes { tail in
            do throws(FileFault) { try files.writeAll(file, body, tail, at: 0) } catch { fault = error }
        }
        if let fault { throw fault }
    }

    func makeTrailer(_ key: CacheKey, _ id: EntryID, _ metadata: DiskMetadata) -> ByteWriter {
        var trailer = DiskTrailer(key, id, metadata, keepsKey: configuration.keepsKeys)
        trailer.metadata.storedAt = metadata.storedAt ?? clock.wallTime
        return trailer.encoded()
    }

    /// What follows a body in its file: trailer and footer.
    func makeTail(_ trailer: consuming ByteWriter, _ bodyLength: Int, _ bodyChecksum: UInt64) -> [UInt8] {
        let footer = DiskFooter(
            bodyLength: Int64(bodyLength), bodyChecksum: bodyChecksum, trailerOffset: Int64(bodyLength),
            trailerLength: Int64(trailer.bytes.count), trailerChecksum: trailer.checksum(from: 0))
        footer.encode(to: &trailer)
        return trailer.bytes
    }

    func makeRecord(_ id: EntryID, bytes: Int64, length: Int64, _ metadata: DiskMetadata) -> DiskIndex.Record {
        let now = clock.wallTime
        return DiskIndex.Record(
            id: id, bytes: bytes, length: length, date: now, recordedDate: now,
            expires: metadata.expiresAt ?? DiskIndex.Record.endless)
    }

    /// Runs `action`; when it lacks a directory, because there never was one or someone wiped it, makes what is missing
    /// and runs it again.
    func makingDirectories<Result>(
        for id: EntryID, _ action: () throws(FileFault) -> Result
    ) throws(FileFault) -> Result {
        do throws(FileFault) {
            return try action()
        } catch  where error.isMissing {
            // Nearly always it is the shard alone.
            if (try? files.makeDirectory(path(CacheLayout.shardNames[id.shard]))) != nil {
                do throws(FileFault) { return try action() } catch  where error.isMissing {}
            }
            letDirectoryGo()
            if (try? files.status(at: layout.versionDirectory)) == nil { state.withLock { $0.removeAll() } }
            do throws(FileFault) {
                try files.makeDirectory(layout.shardDirectory(id.shard))
            } catch  where error.isMissing {
                try layout.makeDirectories(files)
                try files.makeDirectory(layout.shardDirectory(id.shard))
            }
            return try action()
        }
    }

    /// Gives a finished file its name, unless it is not wanted any more.
    /// - Returns: whether it has it now. Where not, the file is gone and the promise of room given back.
    func publish(
        _ temporary: FilePath, as record: DiskIndex.Record, reserved: Int64, _ number: UInt64
    ) throws(FileFault) -> Bool {
        let id = record.id
        let path =
            temporary.directory.map { FilePath(CacheLayout.name(of: id), in: $0) } ?? FilePath(layout.path(of: id))
        let isPublished: Bool
        do throws(FileFault) {
            isPublished = try stripe(id).lock.withLock { _ throws(FileFault) in
                guard state.withLock({ $0.writes.wants(number, id) }) else { return false }
                let freed = try put(temporary, inPlaceOf: path)
                state.withLock { state in
                    state.fulfil(reserved, record, freed: freed)
                    state.writes.didPublish(number, id)
                    state.statistics.stores += 1
                }
                return true
            }
        } catch {
            try? files.remove(temporary)
            throw error
        }
        if !isPublished {
            try? files.remove(temporary)
            giveBack(reserved)
        }
        keepHouse()
        return isPublished
    }

    /// Replaces the metadata of an entry; its body stays where it is. Blocks.
    ///
    /// - Returns: false when there is no such entry, or no room for longer metadata.
    /// - Throws: `locked` when another process is doing the same; `noSpace`, `readOnly`, `cacheIO`.
    @discardableResult
    package func updateMetadata(_ key: CacheKey, _ metadata: DiskMetadata) throws(WebImageError) -> Bool {
        let id = EntryID(key)
        let path = layout.path(of: id)
        try writeStaged(id)
        let trailer = DiskTrailer(key, id, metadata, keepsKey: configuration.keepsKeys).encoded()
        finishScan()
        let growth = FileStatus.blocks(Int64(trailer.bytes.count + DiskFooter.length))
        guard makeRoom(growth) else {
            skip()
            return false
        }
        let update: MetadataUpdate
        do throws(FileFault) {
            update = try stripe(id).lock.withLock { _ throws(FileFault) in
                try appendTrailer(trailer, id, key, metadata, reserved: growth)
            }
        } catch {
            giveBack(growth)
            throw writing(error, path)
        }
        switch update {
        case .done:
            keepHouse()
            return true
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
        _ trailer: ByteWriter, _ id: EntryID, _ key: CacheKey, _ metadata: DiskMetadata, reserved: Int64
    ) throws(FileFault) -> MetadataUpdate {
        let path = layout.path(of: id)
        // Opening for writing would make a file that is missing.
        do { _ = try files.status(at: path) } catch  where error.isMissing { return .none }
        let file = try files.open(path, .readWrite)
        defer { files.close(file) }
        guard try files.lock(file, within: .zero) else { return .locked }
        defer { files.unlock(file) }
        let status = try files.status(of: file)
        guard case .passed(let tail) = try EntryFile(files: files, file: file, path: FilePath(path)).readTail(status),
            tail.trailer.isOf(key, id)
        else { return .none }
        if status.size - tail.footer.bodyLength > Self.mostDeadBytes { return .rewrite }
        state.withLock { if $0.hasOthers { $0.see(status, of: id) } }
        var footer = tail.footer
        footer.trailerOffset = status.size
        footer.trailerLength = Int64(trailer.bytes.count)
        footer.trailerChecksum = trailer.checksum(from: 0)
        var tailBytes = trailer
        footer.encode(to: &tailBytes)
        // A file that grows leaves its directory's time as it is, by which the next process would believe the index. Changed
        // before, so that also a process that is killed right behind it leaves no wrong count.
        try? files.touch(layout.shardDirectory(id.shard), at: nil)
        try append(tailBytes.bytes, to: file, path, status, id)
        // A file that grows bit by bit is given blocks ahead.
        let grown = try files.status(of: file)
        // Another process may have put another file in its place meanwhile, and counts that one.
        if state.withLock({ $0.hasOthers }), (try? files.status(at: path))?.inode != grown.inode { return .none }
        var record = makeRecord(id, bytes: grown.blockBytes, length: grown.size, metadata)
        let keepsPlace = state.withLock { $0.ageBasis == .creation }
        if keepsPlace { record.recordedDate = status.modified }
        state.withLock { $0.fulfil(reserved, record, keepsPlace: keepsPlace) }
        if keepsPlace { try? files.touch(path, at: status.modified) }
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
        let wasStaged = unstage(id)
        do throws(FileFault) {
            return try stripe(id).lock.withLock { _ throws(FileFault) in try remove(id) } || wasStaged
        } catch {
            throw writing(error, path)
        }
    }

    /// Removes an entry's file, under its stripe's lock.
    func remove(_ id: EntryID) throws(FileFault) -> Bool {
        state.withLock { $0.writes.cancelAll(of: id) }
        var (wasThere, freed): (Bool, Freed?) = (true, .nothing)
        do {
            freed = try removeFile(of: id)
        } catch  where error.isMissing {
            wasThere = false
        }
        state.withLock { $0.remove(id, freed: freed) }
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
