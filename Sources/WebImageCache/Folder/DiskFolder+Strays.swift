import WebImageCore

// Temporary files that are not this cache's own: somebody writes them, or was ended while writing them.
extension DiskFolder {
    /// Temporary files of others that are older than this belong to nobody any more.
    private static let temporaryLifetime: Int64 = 3600

    /// What all of them take, by path; removes those that nobody writes to any more. Lists every shard.
    func findStrays() -> [String: Int64] {
        var strays: [String: Int64] = [:]
        for shard in existingShards() {
            let directory = layout.shardDirectory(shard)
            for name in (try? files.names(in: directory)) ?? [] where name.hasPrefix(".") {
                noteStray(directory + "/" + name, &strays)
            }
        }
        return strays
    }

    /// The same for those that are known already.
    func checkStrays(_ paths: some Sequence<String>) -> [String: Int64] {
        var strays: [String: Int64] = [:]
        for path in paths { noteStray(path, &strays) }
        return strays
    }

    private func noteStray(_ path: String, _ strays: inout [String: Int64]) {
        guard !temporaries.contain(path), let status = try? files.linkStatus(at: path), status.isRegularFile else {
            return
        }
        if !mayBeWritten(path, status), (try? files.remove(path)) != nil { return }
        strays[path] = status.blockBytes
    }

    /// Whether somebody may still be writing a temporary file.
    func mayBeWritten(_ path: String) -> Bool {
        // Where it is gone by now, somebody was.
        guard !temporaries.contain(path), let status = try? files.status(at: path) else { return true }
        return status.isRegularFile && mayBeWritten(path, status)
    }

    /// A cache may begin to write before it has made its mark, so that youth counts, too. What no cache has named stays.
    private func mayBeWritten(_ path: String, _ status: FileStatus) -> Bool {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        guard let owner = OwnerName(ofTemporary: name) else { return true }
        return clock.wallTime - status.modified <= Self.temporaryLifetime || isAlive(owner)
    }

    /// Whether the cache of that name lives: it holds its mark's lock then.
    private func isAlive(_ owner: OwnerName) -> Bool {
        guard let mark = try? files.open(layout.ownerDirectory + "/" + owner.text, .updateOwn) else { return false }
        defer { files.closeLocked(mark) }
        return (try? files.lock(mark, within: .zero)) == false
    }
}
