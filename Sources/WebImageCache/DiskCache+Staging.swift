public import WebImageCore
import WebImageSystem

extension DiskCache {
    /// Accepts an entry for storing and returns at once. The entry is found from then on, and is written in the
    /// background. If its key is removed before that, the entry is removed; a later store replaces it.
    ///
    /// Entries that are not written yet are lost when the process ends; ``flush()`` writes them. Safe on any thread;
    /// does not block.
    ///
    /// - Parameters:
    ///   - key: the key of the entry.
    ///   - body: the bytes.
    ///   - metadata: the metadata of the entry.
    ///   - priority: the priority of the write.
    ///   - completion: called once, on the executor or on the caller's thread: with true when the entry is on disk,
    ///     with false when it was skipped for want of room, or was removed or replaced meanwhile.
    /// - Returns: false if too many bytes already wait (``DiskCacheConfiguration/maxStaged``): the entry is then not
    ///   accepted. After ``flush()`` there is room again.
    @discardableResult
    public func stage(
        _ key: CacheKey, _ body: [UInt8], _ metadata: DiskMetadata, priority: LoadPriority = .low,
        completion: @escaping @Sendable (Result<Bool, WebImageError>) -> Void = { _ in }
    ) -> Bool {
        let tellReplaced = stageUnderLock(key, body, metadata, priority: priority, completion: completion)
        tellReplaced?()
        return tellReplaced != nil
    }

    /// Like ``stage(_:_:_:priority:completion:)``, for a caller that holds a lock.
    ///
    /// - Returns: a function that calls the completion of the entry that this one replaces, to be called once the lock
    ///   is released; nil if the entry was not accepted.
    package func stageUnderLock(
        _ key: CacheKey, _ body: [UInt8], _ metadata: DiskMetadata, priority: LoadPriority = .low,
        completion: @escaping @Sendable (Result<Bool, WebImageError>) -> Void
    ) -> (@Sendable () -> Void)? {
        let id = EntryID(key)
        var metadata = metadata
        metadata.storedAt = metadata.storedAt ?? wallTime
        let staged = unwritten.stage(
            id, key, body, metadata, most: configuration.maxStaged.bytes, completion: completion)
        guard let (number, tellReplaced) = staged else { return nil }
        whenOpen { [self] in
            executor.run(priority) {
                if let entry = self.unwritten.take(id, number) { _ = self.write(entry, id) }
            }
        }
        return tellReplaced
    }

    /// Writes a staged entry, or waits until another thread has written it. Blocks; writers never wait for this caller.
    func writeStaged(_ id: EntryID) throws(WebImageError) {
        switch unwritten.turn(id) {
        case .write(let entry): _ = try write(entry, id).get()
        case .wait(let answer): _ = try answer.value().get()
        case nil: return
        }
    }

    /// Writes all staged entries, even if some fail; throws the first failure at the end. Blocks.
    func writeAllStaged() throws(WebImageError) {
        var failure: WebImageError?
        for id in unwritten.stagedIDs {
            do throws(WebImageError) { try writeStaged(id) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    private func write(_ entry: StagedEntry, _ id: EntryID) -> StagedEntry.Answer {
        var answer: StagedEntry.Answer = .success(false)
        entry.body.withUnsafeBytes { body in
            do throws(WebImageError) {
                answer = .success(try put(entry.key, id, body, entry.metadata, entry.number))
            } catch {
                answer = .failure(error)
            }
        }
        unwritten.finish(entry, id, answer)
        return answer
    }
}
