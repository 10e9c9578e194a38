import Synchronization

/// Names for this cache's temporary files: they begin with the cache's name, so that others know the owner.
struct TemporaryNames: ~Copyable, Sendable {
    let owner: OwnerName
    let prefix: String
    private let number = Atomic<Int>(0)

    init(_ owner: OwnerName) { (self.owner, prefix) = (owner, owner.temporaryPrefix) }

    /// A name for a new entry's file, relative to the directory of the entries.
    func next(inShard shard: Int) -> String {
        let number = number.add(1, ordering: .relaxed).newValue
        var name = CacheLayout.shardNames[shard]
        name.reserveCapacity(64)
        name += "/"
        name += prefix
        name += String(number)
        return name
    }

    /// Whether the file at a path has such a name.
    func contain(_ path: String) -> Bool {
        path.split(separator: "/").last.map { $0.hasPrefix(prefix) } ?? false
    }
}
