import Logging
package import WebImageCore
import WebImageSystem

extension DiskCache {
    /// Reads every entry completely, removes damaged ones, and files that are not entries. Blocks for a long time.
    ///
    /// - Throws: if a part of the directory cannot be listed, after all other entries were read.
    package func verify() throws(WebImageError) -> DiskVerification {
        index.finishScan()
        // An entry that cannot be written is reported to the caller that staged it.
        _ = try? writeAllStaged()
        var report = DiskVerification()
        do throws(FileFault) {
            try folder.forEachEntryFile { id, path in
                do throws(FileFault) {
                    try verify(id, path, &report)
                } catch {
                    folder.logger.warning("a cache entry cannot be read: \(error)", metadata: ["path": "\(path)"])
                    report.unreadable += 1
                }
            }
        } catch {
            throw reading(error, error.path)
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
        books.withLock { $0.statistics.corruptEntries += 1 }
        report.bad += 1
        drop(id, status)
        if (try? folder.files.status(at: path)) == nil { report.repaired += 1 }
    }

    /// The problem of an entry's file; nil if there is none.
    private func fault(
        _ id: EntryID, _ path: String, _ file: EntryFile, _ status: FileStatus
    ) throws(FileFault) -> String? {
        switch try file.readAll(status, most: longestEntry) {
        case .failed(let why):
            // While it is locked, a trailer is being appended.
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
        let strays = books.withLock { $0.ledger.strays.count }
        room.learnOfOthers(lists: true)
        let gone = strays - books.withLock { $0.ledger.strays.count }
        report.orphans += max(gone, 0)
        report.repaired += max(gone, 0)
        for shard in folder.existingShards() {
            let directory = folder.layout.shardDirectory(shard)
            for name in (try? folder.files.names(in: directory)) ?? [] {
                if let id = EntryID(name: name), id.shard == shard { continue }
                let path = directory + "/" + name
                // Checked now, because the file may have been made after the last look at the directory.
                if name.hasPrefix("."), folder.mayBeWritten(path) { continue }
                report.orphans += 1
                if (try? folder.files.remove(path)) != nil { report.repaired += 1 }
            }
        }
    }
}
