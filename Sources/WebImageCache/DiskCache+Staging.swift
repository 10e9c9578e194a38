import Synchronization
public import WebImageCore
import WebImageSystem

extension DiskCache {
    /// Takes an entry for storing and returns at once. It is found from this moment on, and written in the background;
    /// what happens to its key before that decides over it: a remove beats it, a later store replaces it.
    ///
    /// What waits so is lost when the process ends; ``flush()`` writes it. Safe on any thread; does not block.
    ///
    /// - Parameters:
    ///   - key: what it is found by.
    ///   - body: the bytes.
    ///   - metadata: what is known of them.
    ///   - priority: of the write.
    ///   - completion: called once, on the executor or here: true when it is on disk, false when it was skipped for want of
    ///     room or is not wanted any more.
    /// - Returns: false when too much waits already (``DiskCacheConfiguration/mostStaged``): nothing is done then. After
    ///   ``flush()`` there is room again.
    @discardableResult
    public func stage(
        _ key: CacheKey, _ body: [UInt8], _ metadata: DiskMetadata, priority: LoadPriority = .low,
        completion: @escaping @Sendable (Result<Bool, WebImageError>) -> Void = { _ in }
    ) -> Bool {
        let id = EntryID(key)
        let most = configuration.mostStaged.bytes
        var metadata = metadata
        metadata.storedAt = metadata.storedAt ?? folder.clock.wallTime
        let (staged, old): (DiskStaging.Entry?, DiskStaging.Entry?) = staging.withLock { staging in
            guard staging.bytes == 0 || staging.bytes + body.count <= most else { return (nil, nil) }
            let number = state.withLock { $0.writes.begin(id) }
            let entry = DiskStaging.Entry(
                key: key, body: body, metadata: metadata, number: number, completion: completion)
            let old = staging.add(entry, id)
            stagedCount.store(staging.entries.count, ordering: .releasing)
            return (entry, old)
        }
        if let old { giveUp(old, id) }
        guard let staged else { return false }
        whenOpen { [self] in executor.run(priority) { self.writeStaged(id, staged.number) } }
        return true
    }

    /// The entry of that name that waits to be written.
    func stagedEntry(_ id: EntryID) -> DiskStaging.Entry? {
        guard stagedCount.load(ordering: .acquiring) > 0, let entry = staging.withLock({ $0[id] }) else { return nil }
        return entry.metadata.isAlive(at: folder.clock.wallTime) ? entry : nil
    }

    /// Lets an entry that waits go unwritten; returns whether there was one.
    @discardableResult
    func unstage(_ id: EntryID) -> Bool {
        guard stagedCount.load(ordering: .acquiring) > 0 else { return false }
        let entry = staging.withLock { staging in
            let entry = staging.remove(id)
            stagedCount.store(staging.entries.count, ordering: .releasing)
            return entry
        }
        if let entry { giveUp(entry, id) }
        return entry != nil
    }

    func unstageAll() {
        let entries = staging.withLock { staging in
            stagedCount.store(0, ordering: .releasing)
            return staging.removeAll()
        }
        for (id, entry) in entries { giveUp(entry, id) }
    }

    /// One that is being written already is told by its writer.
    private func giveUp(_ entry: DiskStaging.Entry, _ id: EntryID) {
        guard !entry.isTaken else { return }
        state.withLock { $0.writes.end(id) }
        entry.completion(.success(false))
    }

    /// Writes an entry that waits, or waits until who is writing it has. Blocks: no writer waits for anybody who comes
    /// here.
    func writeStaged(_ id: EntryID) throws(WebImageError) {
        guard stagedCount.load(ordering: .acquiring) > 0 else { return }
        switch staging.withLock({ $0.turn(id) }) {
        case .write(let entry): _ = try write(entry, id).get()
        case .wait(let answer): _ = try answer.value().get()
        case nil: return
        }
    }

    /// The same for all, whatever becomes of any; throws the first failure when it is through. Blocks.
    func writeAllStaged() throws(WebImageError) {
        guard stagedCount.load(ordering: .acquiring) > 0 else { return }
        var failure: WebImageError?
        for id in staging.withLock({ Array($0.entries.keys) }) {
            do throws(WebImageError) { try writeStaged(id) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    private func writeStaged(_ id: EntryID, _ number: UInt64) {
        guard let entry = staging.withLock({ $0.take(id, number: number) }) else { return }
        _ = write(entry, id)
    }

    private func write(_ entry: DiskStaging.Entry, _ id: EntryID) -> Result<Bool, WebImageError> {
        var result: Result<Bool, WebImageError> = .success(false)
        entry.body.withUnsafeBytes { body in
            do throws(WebImageError) {
                result = .success(try put(entry.key, id, body, entry.metadata, entry.number))
            } catch {
                result = .failure(error)
            }
        }
        let waiting = staging.withLock { staging in
            let waiting = staging.finish(id, number: entry.number)
            stagedCount.store(staging.entries.count, ordering: .releasing)
            return waiting
        }
        entry.completion(result)
        for answer in waiting { answer.give(result) }
        return result
    }
}
