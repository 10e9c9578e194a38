import Logging
import Synchronization
package import WebImageCore
import WebImageSystem

extension DiskCache {
    /// Removes every entry, those of other processes included; not what is being written. Blocks.
    package func removeAll() throws(WebImageError) {
        finishScan()
        unwritten.cancelAll()
        var failure: FileFault?
        folder.forEachEntryFile { id, path in
            folder.withTurn(of: id) {
                do throws(FileFault) { _ = try remove(id) } catch { failure = error }
            }
        }
        if let failure { throw writing(failure, folder.layout.versionDirectory) }
        // What the index still has was stored since, or wiped by somebody else.
        for record in state.withLock({ $0.index.recordsByDate }) { forget(record.id) }
        sharing { _ in }
    }

    /// Every entry whose trailer can be read, in no order. Blocks; reads the end of every file.
    package func entries() throws(WebImageError) -> [DiskEntryInfo] {
        finishScan()
        try writeAllStaged()
        var found: [DiskEntryInfo] = []
        folder.forEachEntryFile { id, path in
            guard let file = try? EntryFile.open(path, folder.files) else { return }
            defer { file.close() }
            guard let status = try? file.status(), case .passed(let tail)? = try? file.readTail(status) else { return }
            found.append(info(id, path, status, tail))
        }
        return found
    }

    /// Removes the entries that `predicate` names; returns how many went. Blocks; reads the end of every file.
    @discardableResult
    package func remove(where predicate: (DiskEntryInfo) -> Bool) throws(WebImageError) -> Int {
        var count = 0
        for entry in try entries() where predicate(entry) {
            guard let name = entry.path.split(separator: "/").last, let id = EntryID(name: String(name)) else {
                continue
            }
            do throws(FileFault) {
                let wasThere = try folder.withTurn(of: id) { () throws(FileFault) in try remove(id) }
                if wasThere { count += 1 }
            } catch {
                throw writing(error, entry.path)
            }
        }
        return count
    }

    private func info(_ id: EntryID, _ path: String, _ status: FileStatus, _ tail: EntryFile.Tail) -> DiskEntryInfo {
        let (lastUse, age) = state.withLock { state in
            (max(state.index.record(of: id)?.date ?? .min, status.modified), state.age)
        }
        let idle = age.map { lastUse.addingReportingOverflow($0.wholeSeconds).partialValue }
        let trailer = tail.trailer.decoded
        let metadata = trailer?.metadata ?? DiskMetadata()
        return DiskEntryInfo(
            key: trailer?.key.map { CacheKey($0) }, path: path, bodyLength: ByteCount(Int(tail.footer.bodyLength)),
            allocated: ByteCount(Int(status.blockBytes)), lastUse: lastUse,
            expires: [idle, metadata.expiresAt].compactMap(\.self).min(), metadata: metadata)
    }

    /// Reads every entry in full, removes those that fail, and files that are no entries. Blocks, for long.
    package func verify() throws(WebImageError) -> DiskVerification {
        finishScan()
        try writeAllStaged()
        var report = DiskVerification()
        folder.forEachEntryFile { id, path in
            do throws(FileFault) {
                try verify(id, path, &report)
            } catch {
                folder.logger.warning("a cache entry cannot be read: \(error)", metadata: ["path": "\(path)"])
                report.unreadable += 1
            }
        }
        removeOrphans(&report)
        return report
    }

    private func verify(_ id: EntryID, _ path: String, _ report: inout DiskVerification) throws(FileFault) {
        guard let file = try EntryFile.open(path, folder.files) else { return }
        defer { file.close() }
        let status = try file.status()
        let why = try fault(id, path, file, status)
        report.checked += 1
        guard let why else { return }
        folder.logger.warning("a cache entry is damaged and dropped: \(why)", metadata: ["path": "\(path)"])
        state.withLock { $0.statistics.corruptEntries += 1 }
        report.bad += 1
        drop(id, path, status)
        if (try? folder.files.status(at: path)) == nil { report.repaired += 1 }
    }

    /// What is wrong with an entry's file, or nil.
    private func fault(
        _ id: EntryID, _ path: String, _ file: EntryFile, _ status: FileStatus
    ) throws(FileFault) -> String? {
        switch try file.readAll(status, most: longestEntry) {
        case .failed(let why):
            // While it is locked, somebody is adding a trailer to it.
            guard let locked = try folder.openLocked(path) else { return nil }
            defer { folder.files.closeLocked(locked) }
            guard case .passed = try file.readAll(file.status(), most: longestEntry) else { return why }
            return nil
        case .passed(let content):
            guard let trailer = content.trailer.decoded else { return "its trailer is damaged" }
            return trailer.id == id ? nil : "it has another key"
        }
    }

    private func removeOrphans(_ report: inout DiskVerification) {
        let strays = state.withLock { $0.strays.count }
        lookAtOthers(lists: true)
        let gone = strays - state.withLock { $0.strays.count }
        report.orphans += max(gone, 0)
        report.repaired += max(gone, 0)
        for shard in folder.existingShards() {
            let directory = folder.layout.shardDirectory(shard)
            for name in (try? folder.files.names(in: directory)) ?? [] {
                if let id = EntryID(name: name), id.shard == shard { continue }
                let path = directory + "/" + name
                // Asked now: it may be younger than every look at the directory so far.
                if name.hasPrefix("."), folder.mayBeWritten(path) { continue }
                report.orphans += 1
                if (try? folder.files.remove(path)) != nil { report.repaired += 1 }
            }
        }
    }
}
