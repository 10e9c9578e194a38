public import WebImageCore
import WebImageSystem

// The blocking operations, run on the executor. A cancelled task throws `cancelled` at once: an operation that has not
// begun is not carried out; one that has begun is completed.
extension DiskCache {
    /// Reads and verifies the entry of a key; nil if there is none, or if it is too old or damaged.
    ///
    /// - Throws: `cacheIO`, `cancelled`.
    public func read(_ key: CacheKey, priority: LoadPriority = .normal) async throws(WebImageError) -> DiskEntry? {
        try await executor.answer(priority) { () throws(WebImageError) in try self.read(key) }
    }

    /// Reads the metadata of the entry of a key, without its body.
    public func readMetadata(
        _ key: CacheKey, priority: LoadPriority = .normal
    ) async throws(WebImageError) -> DiskMetadata? {
        try await executor.answer(priority) { () throws(WebImageError) in try self.readMetadata(key) }
    }

    /// Stores a body under a key, and replaces an older one.
    /// - Returns: false when it was skipped because the limit leaves no room for it.
    /// - Throws: `noSpace`, `readOnly`, `cacheIO`, `cancelled`.
    @discardableResult
    public func store(
        _ key: CacheKey, _ body: [UInt8], _ metadata: DiskMetadata, priority: LoadPriority = .low
    ) async throws(WebImageError) -> Bool {
        try await answerWhenOpen(priority) { () throws(WebImageError) in try self.store(key, body, metadata) }
    }

    /// Stores a body that consists of several parts.
    @discardableResult
    public func store(
        _ key: CacheKey, _ parts: [[UInt8]], _ metadata: DiskMetadata, priority: LoadPriority = .low
    ) async throws(WebImageError) -> Bool {
        try await answerWhenOpen(priority) { () throws(WebImageError) in try self.store(key, parts, metadata) }
    }

    /// Replaces the metadata of an entry; its body stays.
    /// - Returns: false when there is no such entry.
    @discardableResult
    public func updateMetadata(
        _ key: CacheKey, _ metadata: DiskMetadata, priority: LoadPriority = .low
    ) async throws(WebImageError) -> Bool {
        try await answerWhenOpen(priority) { () throws(WebImageError) in try self.updateMetadata(key, metadata) }
    }

    /// Replaces the metadata of an entry by the result of `change`, in one step; see ``BytesTier/renew(_:_:)``.
    func changeMetadata(
        _ key: CacheKey, _ change: @escaping @Sendable (DiskMetadata) -> DiskMetadata?
    ) async throws(WebImageError) -> Bool {
        try await answerWhenOpen(.low) { () throws(WebImageError) in try self.changeMetadata(key, change) }
    }

    /// Removes the entry of that key; returns whether there was one.
    @discardableResult
    public func remove(_ key: CacheKey) async throws(WebImageError) -> Bool {
        try await executor.answer(.normal) { () throws(WebImageError) in try self.remove(key) }
    }

    /// Removes every entry.
    public func removeAll() async throws(WebImageError) {
        try await answerWhenOpen(.normal) { () throws(WebImageError) in try self.removeAll() }
    }

    /// Removes expired entries; returns how many were removed.
    @discardableResult
    public func removeExpired() async throws(WebImageError) -> Int {
        try await answerWhenOpen(.low) { () throws(WebImageError) in try self.removeExpired() }
    }

    /// Removes the least recently used entries until the cache takes no more than `bytes`.
    public func trim(to bytes: ByteCount) async throws(WebImageError) {
        try await answerWhenOpen(.low) { () throws(WebImageError) in try self.trim(to: bytes) }
    }

    /// Whether there is an entry of that key, without reading it.
    public func contains(_ key: CacheKey) async throws(WebImageError) -> Bool {
        try await executor.answer(.normal) { () throws(WebImageError) in try self.contains(key) }
    }

    /// The path of the entry's file, which starts with the body; nil if there is none.
    public func path(for key: CacheKey) async throws(WebImageError) -> String? {
        try await executor.answer(.normal) { () throws(WebImageError) in try self.path(for: key) }
    }

    /// Every entry, in no order. Entries that cannot be read are left out.
    public func entries() async throws(WebImageError) -> [DiskEntryInfo] { try await list().entries }

    /// Every entry that can be read, in no order, and why others cannot be read.
    package func list() async throws(WebImageError) -> DiskListing {
        try await answerWhenOpen(.low) { () throws(WebImageError) in try self.list() }
    }

    /// Removes the entries for which `predicate` is true, for example by the beginning of their keys; returns how many
    /// were removed.
    ///
    /// - Throws: `readOnly`, `cacheIO`: the first failure, after all other entries were tried; `cancelled`.
    @discardableResult
    public func remove(
        where predicate: @escaping @Sendable (DiskEntryInfo) -> Bool
    ) async throws(WebImageError) -> Int {
        try await answerWhenOpen(.low) { () throws(WebImageError) in try self.remove(where: predicate) }
    }

    /// Writes everything to disk now: staged entries (also those that are just being written), the index, the dates of
    /// last use, and ``history``. A short-lived program should call it at its end. Without this call only staged
    /// entries are lost, and the next process has to scan the directory. It scans a folder that has changed within the
    /// last clock tick in any case, because the folder might still be changing.
    /// - Throws: `noSpace`, `readOnly`, `cacheIO`: the first failure of an entry, once all the rest is done; `cancelled`.
    public func flush() async throws(WebImageError) {
        try await answerWhenOpen(.low) { () throws(WebImageError) in try self.flush() }
    }

    /// Returns when every staged entry is on disk or was skipped: then ``stage(_:_:_:priority:completion:)`` takes
    /// more.
    /// - Throws: `cancelled`. The completion of an entry gets its result.
    package func finishStaging() async throws(WebImageError) {
        try await answerWhenOpen(.low) { () throws(WebImageError) in _ = try? self.writeAllStaged() }
    }

    /// Copies pictures from a folder that SDWebImage wrote, `<caches>/com.hackemist.SDImageCache/<namespace>`. Its
    /// files do not contain their keys, so that only the given keys are found. The folder is not changed.
    /// - Returns: how many pictures were added to the cache.
    @discardableResult
    public func importSDWebImage(
        _ directory: String, keys: [CacheKey]
    ) async throws(WebImageError) -> Int {
        try await answerWhenOpen(.low) { () throws(WebImageError) in try self.importSDWebImage(directory, keys: keys) }
    }

    /// Imports pictures that SDWebImage may have stored under other keys than those of this library.
    package func importSDWebImage(
        _ directory: String, _ pictures: [SDWebImagePicture]
    ) async throws(WebImageError) -> Int {
        try await answerWhenOpen(.low) { () throws(WebImageError) in try self.importSDWebImage(directory, pictures) }
    }

    /// Moves every entry of another directory into this cache, to relocate a directory or to merge two. The limits
    /// hold. Of two entries with the same key the younger stays. The rest of the old directory is removed, unless an
    /// entry had to stay there or a cache has the directory open.
    ///
    /// Both directories may be in use, by this process and by others: each file is moved in one step, so that an entry
    /// is found whole or not at all. Between disks a file is copied first.
    /// - Throws: `cancelled`. An entry that cannot be moved is counted in the answer and stays.
    @discardableResult
    public func moveEntries(
        from directory: String, namespace: String = "default"
    ) async throws(WebImageError) -> DiskMove {
        try await answerWhenOpen(.low) { () throws(WebImageError) in
            try self.moveEntries(from: directory, namespace: namespace)
        }
    }

    /// Reads every entry in full and removes those that are damaged.
    public func verify() async throws(WebImageError) -> DiskVerification {
        try await answerWhenOpen(.low) { () throws(WebImageError) in try self.verify() }
    }

    /// Runs an operation that needs to know the content of the directory, once the directory has been scanned.
    private func answerWhenOpen<Value: Sendable>(
        _ priority: LoadPriority, _ work: @escaping @Sendable () throws(WebImageError) -> Value
    ) async throws(WebImageError) -> Value {
        if Task.isCancelled { throw .cancelled }
        let answer = CancellableAnswer<Value>()
        whenOpen { [executor] in executor.run(priority) { answer.give(from: work) } }
        return try await answer.value()
    }
}
