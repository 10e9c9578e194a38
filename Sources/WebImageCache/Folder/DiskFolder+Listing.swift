import WebImageCore

// What there is in the directory, as the file system tells it.
extension DiskFolder {
    /// Calls `body` with every file that is named like an entry.
    ///
    /// - Throws: where it cannot be known which there are, once all that can be listed were.
    func forEachEntryFile(_ body: (EntryID, String) -> Void) throws(FileFault) {
        var fault: FileFault?
        for shard in try listShards() {
            let directory = layout.shardDirectory(shard)
            do throws(FileFault) {
                for name in try files.names(in: directory) {
                    if let id = EntryID(name: name), id.shard == shard { body(id, directory + "/" + name) }
                }
            } catch {
                // Somebody may have wiped it meanwhile.
                if !error.isMissing { fault = error }
            }
        }
        if let fault { throw fault }
    }

    /// Which of the 256 directories there are, in order; none where that cannot be known.
    func existingShards() -> [Int] { (try? listShards()) ?? [] }

    func listShards() throws(FileFault) -> [Int] {
        try check()
        do {
            let names = try files.names(in: layout.versionDirectory)
            return names.compactMap { $0.utf8.count == 2 ? Int($0, radix: 16) : nil }.sorted()
        } catch  where error.isMissing {
            return []
        }
    }

    /// Free space on the disk that holds, or will hold, the cache, and how long its blocks are.
    func space() -> (free: Int64, block: Int64)? {
        var path = layout.versionDirectory
        while true {
            if let space = try? files.space(at: path) { return (space.free, space.block) }
            guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return nil }
            path = String(path[..<slash])
        }
    }

    /// The time by the clock that stamps this file system's directories, in nanoseconds.
    func timeOfFiles() -> Int64? {
        let path = layout.versionDirectory + "/.clock-" + temporaries.owner.text
        guard let file = try? files.open(path, .createNew) else { return nil }
        defer {
            files.close(file)
            try? files.remove(path)
        }
        return try? files.status(of: file).modifiedNanoseconds
    }
}

extension FileStatus {
    /// Whether a directory may change again within the same tick of the clock that stamps it.
    /// - Parameter now: the time by that clock.
    func isYoung(at now: Int64) -> Bool {
        // Some file systems count whole seconds.
        let tick: Int64 = modifiedNanoseconds % 1_000_000_000 == 0 ? 2_000_000_000 : 20_000_000
        return modifiedNanoseconds > now - tick
    }
}
