import Logging
package import WebImageCore
import WebImageSystem

extension DiskCache {
    /// Stores a body under a key, and replaces an older one. Blocks, and waits for the scan of the directory, because
    /// the free room is not known before.
    ///
    /// - Returns: false when it was skipped because the limit leaves no room for it.
    /// - Throws: `noSpace`, `readOnly`, `cacheIO`; the older entry then stays.
    @discardableResult
    package func store(
        _ key: CacheKey, _ body: UnsafeRawBufferPointer, _ metadata: DiskMetadata
    ) throws(WebImageError) -> Bool {
        let id = EntryID(key)
        unwritten.unstage(id)
        let number = unwritten.begin(id)
        defer { unwritten.end(id) }
        return try put(key, id, body, metadata, number)
    }

    /// Stores a body that is one array. Blocks.
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

    /// Stores a body that consists of several parts. Blocks.
    @discardableResult
    package func store(_ key: CacheKey, _ parts: [[UInt8]], _ metadata: DiskMetadata) throws(WebImageError) -> Bool {
        let writer = try makeWriter(for: key)
        for part in parts { try writer.append(part) }
        return try writer.commit(metadata)
    }

    /// Begins an entry whose body arrives in parts. Blocks.
    package func makeWriter(for key: CacheKey) throws(WebImageError) -> DiskWriter {
        let id = EntryID(key)
        index.finishScan()
        unwritten.unstage(id)
        return try makeWriter(key, id, nil)
    }

    /// Like ``makeWriter(for:)``, for a write whose place in the order was taken before.
    package func makeWriter(for key: CacheKey, as order: DiskWriteOrder) throws(WebImageError) -> DiskWriter {
        let id = EntryID(key)
        index.finishScan()
        unwritten.unstage(id, before: order.number)
        return try makeWriter(key, id, order)
    }

    /// - Parameter order: nil: the write begins now.
    private func makeWriter(
        _ key: CacheKey, _ id: EntryID, _ order: DiskWriteOrder?
    ) throws(WebImageError) -> DiskWriter {
        let (path, file) = try makeTemporary(id)
        return DiskWriter(
            key, id, order ?? DiskWriteOrder(id, unwritten), cache: self, path: path, file: file)
    }

    /// Writes an entry that is complete in memory, as the write with that number.
    /// - Parameter replaced: the only file that it may replace; nil: any.
    func put(
        _ key: CacheKey, _ id: EntryID, _ body: UnsafeRawBufferPointer, _ metadata: DiskMetadata, _ number: UInt64,
        inPlaceOf replaced: KnownEntry? = nil
    ) throws(WebImageError) -> Bool {
        room.beginEntry()
        defer { room.endEntry() }
        index.finishScan()
        let (path, file) = try makeTemporary(id)
        let trailer = makeTrailer(key, id, metadata)
        let length = Int64(body.count + trailer.bytes.count + DiskFooter.length)
        var reserved = room.blocks(length)
        func giveUp() -> Bool {
            folder.files.close(file)
            folder.removeTemporary(path)
            skip()
            return false
        }
        guard room.reserve(reserved) else { return giveUp() }
        do throws(FileFault) {
            do throws(FileFault) {
                try write(body, trailer, to: file)
                if configuration.synchronises { try folder.files.sync(file) }
                guard try room.reserveBlocks(of: file, &reserved) else {
                    room.release(reserved)
                    return giveUp()
                }
            } catch {
                folder.files.close(file)
                folder.removeTemporary(path)
                throw error
            }
            folder.files.close(file)
            let record = makeRecord(id, bytes: reserved, length: length, metadata)
            return try publish(path, as: record, reserved: reserved, number, inPlaceOf: replaced)
        } catch {
            room.release(reserved)
            throw writing(error, path.text)
        }
    }

    private func makeTemporary(_ id: EntryID) throws(WebImageError) -> (path: FilePath, file: Int32) {
        let name = folder.temporaries.next(inShard: id.shard)
        do {
            return try folder.makeTemporary(name, for: id, whenGone: forgetEntries)
        } catch {
            throw writing(error, folder.layout.versionDirectory + "/" + name)
        }
    }

    private func write(
        _ body: UnsafeRawBufferPointer, _ trailer: consuming ByteWriter, to file: Int32
    ) throws(FileFault) {
        let tail = makeTail(trailer, body.count, Checksum.of(body))
        try tail.withBytes { tail throws(FileFault) in try folder.files.writeAll(file, body, tail, at: 0) }
    }

    func makeTrailer(_ key: CacheKey, _ id: EntryID, _ metadata: DiskMetadata) -> ByteWriter {
        var trailer = DiskTrailer(key, id, metadata, keepsKey: configuration.keepsKeys)
        trailer.metadata.storedAt = metadata.storedAt ?? folder.clock.wallTime
        return trailer.encoded()
    }

    /// The bytes that follow a body in its file: trailer and footer.
    func makeTail(_ trailer: consuming ByteWriter, _ bodyLength: Int, _ bodyChecksum: UInt64) -> [UInt8] {
        let footer = DiskFooter(
            bodyLength: Int64(bodyLength), bodyChecksum: bodyChecksum, trailerOffset: Int64(bodyLength),
            trailerLength: Int64(trailer.bytes.count), trailerChecksum: trailer.checksum(from: 0))
        footer.encode(to: &trailer)
        return trailer.bytes
    }

    func makeRecord(_ id: EntryID, bytes: Int64, length: Int64, _ metadata: DiskMetadata) -> DiskIndex.Record {
        let now = folder.clock.wallTime
        return DiskIndex.Record(
            id: id, bytes: bytes, length: length, date: now, recordedDate: now,
            expires: metadata.expiresAt ?? DiskIndex.Record.endless)
    }

    /// Gives a finished file its name, unless the write has been cancelled.
    /// - Returns: whether the file has the name now. If not, the file is removed and the reserved room is released.
    func publish(
        _ temporary: FilePath, as record: DiskIndex.Record, reserved: Int64, _ number: UInt64,
        inPlaceOf replaced: KnownEntry? = nil
    ) throws(FileFault) -> Bool {
        let isPublished: Bool
        do throws(FileFault) {
            isPublished = try folder.withTurn(of: record.id) { () throws(FileFault) in
                guard unwritten.wants(number, record.id) else { return false }
                return try replace(replaced, by: temporary, as: record, reserved: reserved, number)
            }
        } catch {
            folder.removeTemporary(temporary)
            throw error
        }
        if !isPublished {
            folder.removeTemporary(temporary)
            room.release(reserved)
        }
        room.startUpkeep()
        return isPublished
    }

    /// Puts a finished file in the place of the entry's file. Call it in the entry's turn.
    /// - Returns: false if the entry's file is no longer `replaced`.
    private func replace(
        _ replaced: KnownEntry?, by temporary: FilePath, as record: DiskIndex.Record, reserved: Int64, _ number: UInt64
    ) throws(FileFault) -> Bool {
        let id = record.id
        let path =
            temporary.directory.map { FilePath(CacheLayout.name(of: id), in: $0) }
            ?? FilePath(folder.layout.path(of: id))
        var locked: Int32?
        if let replaced {
            locked = try lock(replaced, id)
            if locked == nil { return false }
        }
        defer { if let locked { folder.files.closeLocked(locked) } }
        let freed = try room.place(temporary, at: path)
        books.withLock { books in
            books.fulfil(reserved, record, freed: freed)
            books.statistics.stores += 1
        }
        unwritten.didPublish(number, id)
        return true
    }

    /// Counts and logs a store for which there is no room.
    func skip() {
        books.withLock { $0.statistics.skippedStores += 1 }
        folder.log.note(.noSpace, .notice, "a store was skipped: the cache's limit leaves no room for it")
    }
}
