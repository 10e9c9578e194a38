package import WebImageCore
import WebImageSystem

/// The entries of a disk cache.
package struct DiskListing: Sendable {
    package var entries: [DiskEntryInfo]
    /// The first error of an entry that could not be read, and is not listed; nil if all could be read.
    package var failure: WebImageError?
}

extension DiskCache {
    /// All entries with a readable trailer, in no order. Blocks; reads the end of every file.
    ///
    /// - Throws: if a part of the directory cannot be listed.
    package func list() throws(WebImageError) -> DiskListing {
        let (found, failure) = try listed()
        return DiskListing(entries: found.map(\.entry), failure: failure)
    }

    package func entries() throws(WebImageError) -> [DiskEntryInfo] { try list().entries }

    /// The same with the file of each entry, which tells whether the entry is replaced later.
    func listed() throws(WebImageError) -> (
        found: [(entry: DiskEntryInfo, id: EntryID, file: FileStatus)], failure: WebImageError?
    ) {
        index.finishScan()
        // An entry that cannot be written is reported to the caller that staged it.
        _ = try? writeAllStaged()
        var found: [(entry: DiskEntryInfo, id: EntryID, file: FileStatus)] = []
        var failure: WebImageError?
        do throws(FileFault) {
            try folder.forEachEntryFile { id, path in
                do throws(FileFault) {
                    guard let file = try EntryFile.open(path, folder.files) else { return }
                    defer { file.close() }
                    let status = try file.status()
                    guard case .passed(let tail) = try file.readTail(status) else { return }
                    found.append((info(id, path, status, tail), id, status))
                } catch {
                    // Another process may have removed the entry.
                    if !error.isMissing { failure = failure ?? reading(error, path) }
                }
            }
        } catch {
            throw reading(error, error.path)
        }
        return (found, failure)
    }

    private func info(_ id: EntryID, _ path: String, _ status: FileStatus, _ tail: EntryFile.Tail) -> DiskEntryInfo {
        let (lastUse, age) = books.withLock { books in
            (max(books.index.record(of: id)?.date ?? .min, status.modified), books.ledger.age)
        }
        let idle = age.flatMap { age in
            let (end, overflow) = lastUse.addingReportingOverflow(age.wholeSeconds)
            return overflow ? nil : end
        }
        let trailer = tail.trailer.decoded
        let metadata = trailer?.metadata ?? DiskMetadata()
        return DiskEntryInfo(
            key: trailer?.key.map { CacheKey($0) }, path: path, bodyLength: ByteCount(Int(tail.footer.bodyLength)),
            allocated: ByteCount(Int(status.blockBytes)), lastUse: lastUse,
            expires: [idle, metadata.expiresAt].compactMap(\.self).min(), metadata: metadata)
    }
}
