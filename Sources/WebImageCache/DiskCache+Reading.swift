import Logging
public import WebImageCore
import Synchronization
import WebImageSystem

extension DiskCache {
    /// The entry of that key. Blocks.
    ///
    /// - Returns: nil when there is none: never stored, gone, unused for too long, over its own lifetime or damaged.
    ///   A damaged one is removed, logged and counted.
    /// - Throws: `cacheIO` when the file system refused for a reason other than that there is no such file.
    package func read(_ key: CacheKey) throws(WebImageError) -> DiskEntry? {
        let id = EntryID(key)
        if let entry = unwrittenEntry(id) {
            let body = try entry.allBytes()
            return DiskEntry(key: key, body: body, metadata: entry.metadata, path: layout.path(of: id))
        }
        if let entry = readKnown(key, id) { return entry }
        let path = layout.path(of: id)
        let found: Found<[UInt8]>? = try visit(key, id, path) { (file, status) throws(FileFault) in
            switch try file.readAll(status, most: self.longestEntry) {
            case .failed(let why): .failed(why)
            case .passed(let content): .passed((content.trailer, content.body))
            }
        }
        guard let (trailer, body) = found else { return readElsewhere(key, id) }
        return DiskEntry(key: key, body: body, trailer: trailer, path: path)
    }

    /// The short way to an entry that is known and young: an open, a read and a close. Nil wherever something is not as
    /// it should be: then the long way finds out what it is.
    private func readKnown(_ key: CacheKey, _ id: EntryID) -> DiskEntry? {
        let now = clock.wallTime
        guard let use = state.withLock({ $0.useKnown(id, at: now) }) else { return nil }
        scheduleFlush(after: use.flushDelay)
        guard let path = try? path(of: id), let (trailer, body) = readWhole(path, use.length), trailer.isOf(key, id),
            trailer.isAlive(at: now)
        else {
            state.withLock { $0.missAfterAll() }
            return nil
        }
        let expires = trailer.endOfLifetime
        if expires != use.expires { state.withLock { $0.learn(id, expires: expires) } }
        // A failure only makes the entry look older after the next start.
        if use.isBehind { try? files.touch(path.text, at: now) }
        return DiskEntry(key: key, body: body, trailer: trailer, path: path)
    }

    var longestEntry: Int64 { state.withLock { $0.longestEntry } }

    /// An entry's file, if it has that length and is sound.
    private func readWhole(_ path: FilePath, _ length: Int64) -> Found<[UInt8]>? {
        guard let file = try? EntryFile.open(path, files) else { return nil }
        defer { file.close() }
        guard case .passed(let content)? = try? file.readAll(length: length, most: .max) else { return nil }
        return content
    }

    /// What is known of the entry of that key; its body is not looked at. Blocks. Counts as a use, as ``read(_:)`` does.
    package func readMetadata(_ key: CacheKey) throws(WebImageError) -> DiskMetadata? {
        let id = EntryID(key)
        if let entry = unwrittenEntry(id) { return entry.metadata }
        let found: Found<DiskMetadata>? = try visit(key, id, layout.path(of: id)) { (file, status) throws(FileFault) in
            switch try file.readTail(status) {
            case .failed(let why): .failed(why)
            case .passed(let tail):
                tail.trailer.decoded.map { .passed((tail.trailer, $0.metadata)) } ?? .failed("its trailer is damaged")
            }
        }
        return found?.body ?? readElsewhere(key, id)?.metadata
    }

    /// How long the file of that key's entry is: what reading it takes in memory, without looking into it. 0 when there is
    /// none. Blocks.
    package func fileLength(of key: CacheKey) -> Int {
        let id = EntryID(key)
        if let known = state.withLock({ $0.index.record(of: id)?.length }), known > 0 { return Int(clamping: known) }
        return (try? files.status(at: layout.path(of: id))).map { Int(clamping: $0.size) } ?? 0
    }

    /// Whether there is an entry of that key, without reading its body. Blocks.
    package func contains(_ key: CacheKey) throws(WebImageError) -> Bool {
        if unwrittenEntry(EntryID(key), counts: false) != nil { return true }
        return try path(for: key) != nil || pathElsewhere(key, EntryID(key)) != nil
    }

    /// Where that key's entry is or would be, in this cache. Does not look.
    public func defaultPath(for key: CacheKey) -> String { layout.path(of: EntryID(key)) }

    /// The file of that key's entry in this cache; nil when there is none. Blocks; what is staged is written first.
    package func path(for key: CacheKey) throws(WebImageError) -> String? {
        let id = EntryID(key)
        try writeStaged(id)
        let path = layout.path(of: id)
        do {
            try checkDirectory()
            let status = try files.status(at: path)
            if isExpired(id, status) { return nil }
            return try hasOutlived(id, path, status) ? nil : path
        } catch  where error.isMissing {
            forget(id)
            return nil
        } catch {
            throw reading(error, path)
        }
    }

    private typealias Found<Body> = (trailer: EncodedTrailer, body: Body)

    /// Opens the entry, has it read, checks that it is the right one and still valid, and keeps the books.
    private func visit<Body>(
        _ key: CacheKey, _ id: EntryID, _ path: String,
        _ read: (EntryFile, FileStatus) throws(FileFault) -> EntryFile.Check<Found<Body>>
    ) throws(WebImageError) -> Found<Body>? {
        do throws(FileFault) {
            try checkDirectory()
            // A missing file is opened in vain even when the index does not have it: another process may have stored it.
            guard let file = try EntryFile.open(path, files) else {
                forget(id)
                return miss()
            }
            defer { file.close() }
            var status = try file.status()
            if isExpired(id, status) {
                drop(id, path, status)
                return miss()
            }
            var result = try read(file, status)
            if case .failed = result {
                // Another thread or process may be adding a new trailer: it holds the lock while it does.
                guard let locked = try openLocked(path) else { return miss() }
                defer { files.closeLocked(locked) }
                status = try file.status()
                result = try read(file, status)
            }
            switch result {
            case .failed(let why): return damaged(id, path, status, why)
            case .passed(let found):
                guard found.trailer.isOf(key, id) else { return damaged(id, path, status, "it has another key") }
                if !found.trailer.isAlive(at: clock.wallTime) {
                    drop(id, path, status)
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

    /// Opens an entry's file once more and locks it, as whoever adds a trailer does. File systems of other machines lock
    /// only what is open for writing.
    /// - Returns: nil while somebody else has the lock, or when the file has gone.
    func openLocked(_ path: String) throws(FileFault) -> Int32? {
        let file: Int32
        do {
            file = try files.open(path, .updateOwn)
        } catch  where error.isMissing {
            return nil
        } catch {
            // Where nothing can be written, nobody adds anything.
            file = try files.open(path, .readOwn)
        }
        do throws(FileFault) {
            if try files.lock(file, within: .zero) { return file }
        } catch {
            files.close(file)
            throw error
        }
        files.close(file)
        return nil
    }

    /// Nothing of ours is a link.
    private func removeLink(_ id: EntryID, _ path: String) {
        stripe(id).lock.withLock { _ in
            guard let status = try? files.linkStatus(at: path), status.isLink else { return }
            state.withLock { $0.statistics.corruptEntries += 1 }
            if (try? files.remove(path)) != nil { state.withLock { $0.remove(id, freed: .nothing) } }
        }
    }

    private func miss<Result>() -> Result? {
        let delay = state.withLock { state in
            state.statistics.misses += 1
            return state.scheduleFlush()
        }
        scheduleFlush(after: delay)
        return nil
    }

    private func damaged<Result>(_ id: EntryID, _ path: String, _ status: FileStatus, _ why: String) -> Result? {
        logger.warning("a cache entry is damaged and dropped: \(why)", metadata: ["path": "\(path)"])
        state.withLock { $0.statistics.corruptEntries += 1 }
        drop(id, path, status)
        return miss()
    }

    func reading(_ fault: FileFault, _ path: String) -> WebImageError {
        let error = fault.readError("a cache entry cannot be read", at: path)
        // Whoever gets the error says so.
        logger.debug("\(error)")
        state.withLock { $0.statistics.faults += 1 }
        return error
    }

    /// The date is what the index says or what the file says, whichever is later: another process may have used it.
    func isExpired(_ id: EntryID, _ status: FileStatus) -> Bool {
        let now = clock.wallTime
        return state.withLock { state in
            state.isExpired(date: max(state.index.record(of: id)?.date ?? .min, status.modified), at: now)
        }
    }

    /// Whether an entry has outlived its own lifetime. Reads the end of its file where the index does not know.
    private func hasOutlived(_ id: EntryID, _ path: String, _ status: FileStatus) throws(FileFault) -> Bool {
        let record = state.withLock { $0.index.record(of: id) }
        if let record, record.expires != 0, record.length == status.size, record.date >= status.modified {
            return clock.wallTime >= record.expires
        }
        guard let expires = try endOfLifetime(path) else { return false }
        if record?.length == status.size { state.withLock { $0.learn(id, expires: expires) } }
        return clock.wallTime >= expires
    }

    /// What an entry's file says of the end of its lifetime; nil where it says nothing.
    func endOfLifetime(_ path: String) throws(FileFault) -> Int64? {
        guard let file = try EntryFile.open(path, files) else { return nil }
        defer { file.close() }
        guard case .passed(let tail) = try file.readTail(file.status()) else { return nil }
        return tail.trailer.endOfLifetime
    }

    private func noteUse(_ id: EntryID, _ path: String, _ expires: Int64) {
        let now = clock.wallTime
        let (known, delay) = state.withLock { ($0.use(id, at: now, expires: expires), $0.scheduleFlush()) }
        scheduleFlush(after: delay)
        switch known {
        case .some(let isBehind):
            // A failure only makes the entry look older after the next start.
            if isBehind { try? files.touch(path, at: now) }
        case .none:
            // Another process stored it, or the scan has not come to it yet.
            stripe(id).lock.withLock { _ in
                guard let current = try? files.status(at: path) else { return }
                var record = current.record(of: id)
                record.expires = expires
                let isBehind = state.withLock { $0.comeBack(record, usedAt: now) }
                if isBehind { try? files.touch(path, at: now) }
            }
            keepHouse()
        }
    }

    /// The file is not there: the index must not say otherwise.
    func forget(_ id: EntryID) {
        guard state.withLock({ $0.index.contains(id) }) else { return }
        stripe(id).lock.withLock { _ in
            // A store may have come in between.
            let isGone = (try? files.status(at: layout.path(of: id))) == nil
            if isGone { state.withLock { $0.remove(id, freed: .nothing) } }
        }
    }

    /// Removes an entry's file, unless it is another one by now.
    func drop(_ id: EntryID, _ path: String, _ status: FileStatus) {
        stripe(id).lock.withLock { _ in
            guard let current = try? files.status(at: path), current.inode == status.inode else { return }
            do throws(FileFault) {
                let freed = try removeFile(of: id)
                state.withLock { $0.remove(id, freed: freed) }
            } catch {
                say(.cacheIO, .warning, "a cache entry cannot be removed: \(error)")
            }
        }
    }
}
