import WebImageCore

// Lists the directory.
extension DiskFolder {
    /// Calls `body` with every file that has the name of an entry.
    ///
    /// - Throws: if some files cannot be listed, after all others were.
    func forEachEntryFile(_ body: (EntryID, String) -> Void) throws(FileFault) {
        let list = try listShards()
        var fault = list.fault
        for shard in list.numbers {
            let directory = layout.shardDirectory(shard)
            do throws(FileFault) {
                for name in try files.names(in: directory) {
                    if let id = EntryID(name: name), id.shard == shard { body(id, directory + "/" + name) }
                }
            } catch {
                // The directory may have been removed meanwhile.
                if !error.isMissing { fault = error }
            }
        }
        if let fault { throw fault }
    }

    /// The numbers of the existing shard directories, in order; empty if they cannot be listed.
    func existingShards() -> [Int] { (try? listShards())?.numbers ?? [] }

    /// The existing shard directories that are ours, in order.
    func listShards() throws(FileFault) -> CacheLayout.ShardList {
        try check()
        return try layout.shards(files)
    }

    /// The status of a shard's directory; nil if it is missing or not ours.
    func shardStatus(_ shard: Int) throws(FileFault) -> FileStatus? { try layout.shardStatus(shard, files) }

    /// Free space on the disk of the cache, and the length of its blocks.
    func space() -> (free: Int64, block: Int64)? {
        var path = layout.versionDirectory
        while true {
            if let space = try? files.space(at: path) { return (space.free, space.block) }
            guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return nil }
            path = String(path[..<slash])
        }
    }

    /// The time of the clock that sets the dates of this file system's directories, in nanoseconds.
    func timeOfFiles() -> Int64? {
        let path = layout.versionDirectory + "/" + temporaries.owner.clockName
        guard let file = try? files.open(path, .createNew) else { return nil }
        defer {
            files.close(file)
            try? files.remove(path)
        }
        return try? files.status(of: file).modifiedNanoseconds
    }
}

extension FileStatus {
    /// Whether a directory may change again within the same tick of the clock that sets its date.
    /// - Parameter now: the time of that clock.
    func isYoung(at now: Int64) -> Bool {
        // Some file systems count whole seconds.
        let tick: Int64 = modifiedNanoseconds % 1_000_000_000 == 0 ? 2_000_000_000 : 20_000_000
        return modifiedNanoseconds > now - tick
    }
}
