import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// A cache removes files by itself. In a directory that another user made, or can change, these may be anyone's files: a
// link can lead anywhere, and a name can be replaced between a check and a removal.
extension CacheLayout {
    /// The directories of entries that are ours.
    struct ShardList {
        var shards: [(number: Int, status: FileStatus)] = []
        /// The paths of temporary files beside them.
        var temporaries: [String] = []
        /// Why some of the directories could not be examined.
        var fault: FileFault?

        var numbers: [Int] { shards.map(\.number) }
    }

    private static let writableByOthers: UInt32 = 0o022
    private static let sticky: UInt32 = 0o1000
    private static let administrator: UInt32 = 0

    /// Refuses directories that other users can change. A missing directory is not an error.
    /// - Returns: whether there is a directory for entries.
    @discardableResult
    func check(_ files: some FileSystem) throws(FileFault) -> Bool {
        guard try checkRoot(files) else { return false }
        for path in [namespace, versionDirectory] {
            guard try checkInner(path, files) else { return false }
        }
        for path in [ownerDirectory, indexDirectory, partialDirectory] { _ = try checkInner(path, files) }
        return true
    }

    /// The cache's directory may be a link that the user has made, and it may belong to an administrator. If it is
    /// shared like `/tmp`, other users must not be able to remove this user's files.
    /// - Returns: false if it does not exist.
    func checkRoot(_ files: some FileSystem) throws(FileFault) -> Bool {
        guard let link = try status(directory, files) else { return false }
        var target = link
        if link.isLink {
            guard isTrusted(link.owner) else { throw .untrusted(directory) }
            target = try files.status(at: directory)
        }
        let isKept = target.permissions & Self.writableByOthers == 0 || target.permissions & Self.sticky != 0
        guard target.isDirectory else { throw FileFault("open", directory, ENOTDIR) }
        guard isTrusted(target.owner), isKept else { throw .untrusted(directory) }
        return true
    }

    /// Checks a directory that the cache itself makes.
    /// - Returns: false if it does not exist.
    func checkInner(_ path: String, _ files: some FileSystem) throws(FileFault) -> Bool {
        guard let status = try status(path, files) else { return false }
        guard status.isDirectory || status.isLink else { throw FileFault("open", path, ENOTDIR) }
        guard Self.isOurs(status) else { throw .untrusted(path) }
        return true
    }

    /// Whether a file is a directory of this user that no other user can change.
    static func isOurs(_ status: FileStatus) -> Bool {
        status.isDirectory && !status.isLink && status.owner == ThisProcess.user
            && status.permissions & writableByOthers == 0
    }

    /// The existing directories of entries, in order, without those that are links or that other users can change:
    /// their content is not ours.
    func shards(_ files: some FileSystem) throws(FileFault) -> ShardList {
        var list = ShardList()
        let names: [String]
        do { names = try files.names(in: versionDirectory) } catch  where error.isMissing { return list }
        list.temporaries = names.filter { $0.hasPrefix(".") }.map { versionDirectory + "/" + $0 }
        for shard in names.compactMap({ Self.shard(named: $0) }).sorted() {
            do throws(FileFault) {
                if let status = try shardStatus(shard, files) { list.shards.append((shard, status)) }
            } catch {
                list.fault = error
            }
        }
        return list
    }

    /// The status of one of the directories of entries; nil if it is missing or not ours.
    func shardStatus(_ shard: Int, _ files: some FileSystem) throws(FileFault) -> FileStatus? {
        guard let status = try status(shardDirectory(shard), files), Self.isOurs(status) else { return nil }
        return status
    }

    private func isTrusted(_ owner: UInt32) -> Bool { owner == ThisProcess.user || owner == Self.administrator }

    private func status(_ path: String, _ files: some FileSystem) throws(FileFault) -> FileStatus? {
        do { return try files.linkStatus(at: path) } catch  where error.isMissing { return nil }
    }
}
