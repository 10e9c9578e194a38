import Synchronization

/// Names for this cache's temporary files: they begin with what the cache is called, so that others know whose they are.
struct TemporaryNames: ~Copyable, Sendable {
    let owner: OwnerName
    let prefix: String
    private let number = Atomic<Int>(0)

    init(_ owner: OwnerName) { (self.owner, prefix) = (owner, owner.temporaryPrefix) }

    /// A name for the file of an entry that is being written, from the directory of the entries on.
    func next(inShard shard: Int) -> String {
        let number = number.add(1, ordering: .relaxed).newValue
        var name = CacheLayout.shardNames[shard]
        name.reserveCapacity(64)
        name += "/"
        name += prefix
        name += String(number)
        return name
    }

    /// Whether a path is one of these.
    func contain(_ path: String) -> Bool {
        path.split(separator: "/").last.map { $0.hasPrefix(prefix) } ?? false
    }
}
