import Synchronization
import WebImageCore
import WebImageSystem

// Temporary files of other caches, which are being written or were left by a process that ended.
extension DiskFolder {
    /// Temporary files of other caches that are older than this, in seconds, are abandoned if their cache is not alive.
    private static let temporaryLifetime: Int64 = 3600

    /// The directories without entries in which caches make temporary files: for the index, and to ask for the time.
    var otherTemporaryDirectories: [String] { [layout.versionDirectory, layout.indexDirectory] }

    /// The sizes of all temporary files of other caches, by path; removes abandoned ones. Lists every shard.
    func findStrays() -> [String: Int64] {
        var strays: [String: Int64] = [:]
        for directory in otherTemporaryDirectories + existingShards().map(layout.shardDirectory) {
            for name in (try? files.names(in: directory)) ?? [] where name.hasPrefix(".") {
                noteStray(directory + "/" + name, &strays)
            }
        }
        return strays
    }

    /// Like ``findStrays()``, for the files at `paths` and for those that this cache could not remove. Lists no
    /// directory.
    func checkStrays(_ paths: some Sequence<String>) -> [String: Int64] {
        var strays: [String: Int64] = [:]
        for path in leftovers.withLock({ $0.union(paths) }) { noteStray(path, &strays) }
        return strays
    }

    private func noteStray(_ path: String, _ strays: inout [String: Int64]) {
        let isLeft = leftovers.withLock { $0.contains(path) }
        guard isLeft || !temporaries.contain(path), let status = try? files.linkStatus(at: path), status.isRegularFile
        else { return }
        if isLeft || !mayBeWritten(path, status), (try? files.remove(path)) != nil {
            return leftovers.withLock { _ = $0.remove(path) }
        }
        strays[path] = status.blockBytes
    }

    /// Whether a temporary file may still be written.
    func mayBeWritten(_ path: String) -> Bool {
        // If it is gone by now, it was being written.
        guard !temporaries.contain(path), let status = try? files.status(at: path) else { return true }
        return status.isRegularFile && mayBeWritten(path, status)
    }

    /// A cache may begin to write before its mark exists, so recent files count, too. Files with other names stay.
    private func mayBeWritten(_ path: String, _ status: FileStatus) -> Bool {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        guard let owner = OwnerName(ofTemporary: name) else { return true }
        return clock.wallTime - status.modified <= Self.temporaryLifetime || isAlive(owner)
    }

    /// Whether the cache of that name is alive: it then holds the lock of its mark.
    private func isAlive(_ owner: OwnerName) -> Bool {
        guard let mark = try? files.open(layout.ownerDirectory + "/" + owner.text, .updateOwn) else { return false }
        defer { files.closeLocked(mark) }
        return (try? files.lock(mark, within: .zero)) == false
    }
}
