import Logging
package import WebImageCore
import WebImageSystem

extension DiskCache {
    /// Returns the entry of a key. Blocks.
    ///
    /// - Returns: nil if there is none: it was never stored, was removed, has expired or is damaged. A damaged entry is
    ///   removed, logged and counted.
    /// - Throws: `cacheIO` if reading failed for a reason other than a missing file.
    package func read(_ key: CacheKey) throws(WebImageError) -> DiskEntry? {
        let id = EntryID(key)
        if let entry = unwrittenEntry(id) {
            let body = try entry.allBytes()
            return DiskEntry(key: key, body: body, metadata: entry.metadata, path: folder.layout.path(of: id))
        }
        if unwritten.isLeaving(id) { return miss() ?? readElsewhere(key, id) }
        if let entry = readKnown(key, id) { return entry }
        let path = folder.layout.path(of: id)
        let found: Found<[UInt8]>? = try visit(key, id, path) { (file, status) throws(FileFault) in
            switch try file.readAll(status, most: longestEntry) {
            case .failed(let why): .failed(why)
            case .passed(let content): .passed((content.trailer, content.body))
            }
        }
        guard let (trailer, body) = found else { return readElsewhere(key, id) }
        return DiskEntry(key: key, body: body, trailer: trailer, path: path)
    }

    /// Returns the entry of a key if it can be read without waiting for a disk: if it is known and not expired, and its
    /// file is in the system's memory. Takes some microseconds and does not block. Nil does not mean that there is no
    /// entry: call ``read(_:)`` then.
    ///
    /// - Parameter mayTake: called with the number of bytes before they are read; returns whether they may be read.
    package func readAtOnce(_ key: CacheKey, _ mayTake: (_ count: Int) -> Bool) -> DiskEntry? {
        let id = EntryID(key)
        guard unwritten.newest(id) == nil, !unwritten.isLeaving(id), let path = folder.knownPath(of: id),
            let length = books.withLock({ $0.index.record(of: id)?.length }), mayTake(Int(clamping: length))
        else { return nil }
        return readKnown(key, id, mayWait: false) { EntryFile.openAtOnce(path, folder.files) }
    }

    /// The fast path for a known entry that is not expired: open, read and close. Nil if anything is unusual; the slow
    /// path then determines the reason.
    private func readKnown(_ key: CacheKey, _ id: EntryID) -> DiskEntry? {
        readKnown(key, id, mayWait: true) { () throws(FileFault) in
            try EntryFile.open(folder.path(of: id), folder.files)
        }
    }

    private func readKnown(
        _ key: CacheKey, _ id: EntryID, mayWait: Bool, _ open: () throws(FileFault) -> EntryFile?
    ) -> DiskEntry? {
        let now = folder.clock.wallTime
        guard let use = books.withLock({ $0.useKnown(id, at: now) }) else { return nil }
        index.scheduleFlush(after: use.flushDelay)
        guard let file = try? open(), let (trailer, body) = readWhole(file, use.length), trailer.isOf(key, id),
            trailer.isAlive(at: now)
        else {
            books.withLock { $0.missAfterAll() }
            return nil
        }
        let expires = trailer.endOfLifetime
        if expires != use.expires { books.withLock { $0.learn(id, expires: expires) } }
        if use.isBehind {
            let (files, path) = (folder.files, file.path.text)
            // A failure only makes the entry look older after the next start.
            if mayWait {
                try? files.touch(path, at: now)
            } else {
                executor.run(.low) { try? files.touch(path, at: now) }
            }
        }
        return DiskEntry(key: key, body: body, trailer: trailer, path: file.path)
    }

    var longestEntry: Int64 { books.withLock { $0.ledger.longestEntry } }

    /// Reads an entry's file if it has the given length and is intact. Closes it.
    private func readWhole(_ file: EntryFile, _ length: Int64) -> Found<[UInt8]>? {
        defer { file.close() }
        guard case .passed(let content)? = try? file.readAll(length: length, most: .max) else { return nil }
        return content
    }

    /// The metadata of the entry of a key; its body is not read. Blocks. Counts as a use, like ``read(_:)``.
    package func readMetadata(_ key: CacheKey) throws(WebImageError) -> DiskMetadata? {
        let id = EntryID(key)
        if let entry = unwrittenEntry(id) { return entry.metadata }
        if unwritten.isLeaving(id) { return miss() ?? readElsewhere(key, id)?.metadata }
        let found: Found<DiskMetadata>? = try visit(key, id, folder.layout.path(of: id)) {
            (file, status) throws(FileFault) in
            switch try file.readTail(status) {
            case .failed(let why): .failed(why)
            case .passed(let tail):
                tail.trailer.decoded.map { .passed((tail.trailer, $0.metadata)) } ?? .failed("its trailer is damaged")
            }
        }
        return found?.body ?? readElsewhere(key, id)?.metadata
    }

    private typealias Found<Body> = (trailer: EncodedTrailer, body: Body)

    /// Opens and reads the entry, checks that it has the right key and is valid, and updates the books.
    private func visit<Body>(
        _ key: CacheKey, _ id: EntryID, _ path: String,
        _ read: (EntryFile, FileStatus) throws(FileFault) -> EntryFile.Check<Found<Body>>
    ) throws(WebImageError) -> Found<Body>? {
        do throws(FileFault) {
            // A missing file is opened even if the index has no entry, because another process may have stored it.
            guard let file = try EntryFile.open(folder.path(of: id), folder.files) else {
                forget(id)
                return miss()
            }
            defer { file.close() }
            var status = try file.status()
            if isExpired(id, status) {
                drop(id, status)
                return miss()
            }
            var result = try read(file, status)
            if case .failed = result {
                // Another thread or process may be appending a trailer; it holds the lock meanwhile.
                guard let locked = try folder.openLocked(path) else { return miss() }
                defer { folder.files.closeLocked(locked) }
                status = try file.status()
                result = try read(file, status)
            }
            switch result {
            case .failed(let why): return damaged(id, path, status, why)
            case .passed(let found):
                guard found.trailer.isOf(key, id) else { return damaged(id, path, status, "it has another key") }
                if !found.trailer.isAlive(at: folder.clock.wallTime) {
                    drop(id, status)
                    return miss()
                }
                noteUse(id, path, found.trailer.endOfLifetime)
                return found
            }
        } catch  where error.isLink {
            removeLink(id, path)
            return miss()
        } catch {
            throw reading(error, path)
        }
    }

    private func miss<Result>() -> Result? {
        let delay = books.withLock { books in
            books.statistics.misses += 1
            return books.scheduleFlush()
        }
        index.scheduleFlush(after: delay)
        return nil
    }

    private func damaged<Result>(_ id: EntryID, _ path: String, _ status: FileStatus, _ why: String) -> Result? {
        folder.logger.warning("a cache entry is damaged and dropped: \(why)", metadata: ["path": "\(path)"])
        books.withLock { $0.statistics.corruptEntries += 1 }
        drop(id, status)
        return miss()
    }

    private func noteUse(_ id: EntryID, _ path: String, _ expires: Int64) {
        let now = folder.clock.wallTime
        let (known, delay) = books.withLock { ($0.use(id, at: now, expires: expires), $0.scheduleFlush()) }
        index.scheduleFlush(after: delay)
        switch known {
        case .some(let isBehind):
            // A failure only makes the entry look older after the next start.
            if isBehind { try? folder.files.touch(path, at: now) }
        case .none:
            // Another process stored it, or the scan has not reached it yet.
            folder.withTurn(of: id) {
                guard let current = try? folder.files.status(at: path) else { return }
                var record = folder.withoutFutureDate(current, of: path).record(of: id)
                record.expires = expires
                let isBehind = books.withLock { $0.comeBack(record, usedAt: now) }
                if isBehind { try? folder.files.touch(path, at: now) }
            }
            room.startUpkeep()
        }
    }
}
