import Logging
import Synchronization
import WebImageCore
import WebImageSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// Several caches, of one or more processes, share a directory under one limit. A cache joins when it first requests
// room; from then on every request is decided with the common total, which is in one file.
extension DiskRoom {
    /// Runs `decide` with books that include the other caches' bytes, and publishes the changes to these caches.
    ///
    /// If the directory cannot be shared, because it is read-only or its file system has no locks, the cache decides by
    /// its own knowledge.
    func sharing<Result: Sendable>(_ decide: @Sendable (inout DiskBooks) -> Result) -> Result {
        for _ in 0..<2 {
            let result = membership.withLock { membership -> Result? in
                switch meetOthers(&membership) {
                case .nobody: return books.withLock { decide(&$0) }
                case .stranger:
                    // Changes of the directory are learnt while no one waits for a lock.
                    if let usage = membership?.usage { folder.files.unlock(usage) }
                    return nil
                case .total(let total):
                    return updateTotal(&membership) { books in
                        if let total { books.meet(total) }
                        return decide(&books)
                    }
                }
            }
            if let result { return result }
            learnOfOthers()
        }
        // The directory is being replaced again and again.
        return books.withLock { decide(&$0) }
    }

    /// Publishes this cache's changes to the other caches, and learns how many bytes these take.
    func tellOthers() { sharing { _ in } }

    /// Reserves room that the other caches count as taken already. Returns false if there is too little, or if the
    /// directory was replaced since they were told.
    func reserveHeadroom(_ bytes: Int64) -> Bool {
        let now = folder.clock.now
        let (headroom, inode, seen) = books.withLock {
            ($0.ledger.share.headroom, $0.ledger.common.inode, $0.ledger.common.seen)
        }
        guard bytes <= headroom else { return false }
        if seen.map({ now < $0 || now - $0 >= DiskFolder.replacementDelay }) ?? true {
            guard (try? folder.files.status(at: folder.layout.usagePath))?.inode == inode else { return false }
            books.withLock { $0.ledger.common.seen = now }
        }
        return books.withLock { $0.reserveHeadroom(bytes) }
    }

    /// Leaves the group and returns the headroom, unless the common file is locked right now.
    func leaveForGood() {
        membership.withLock { membership in
            guard let usage = membership?.usage else { return }
            if books.withLock({ $0.ledger.share.headroom > 0 }),
                let isOurs = try? folder.files.lock(usage, within: .zero), isOurs
            {
                let known = try? DiskTotal.read(usage, folder.files)
                updateTotal(&membership, isLast: true) { books in
                    if let known { books.meet(known) }
                }
            }
            leave(&membership)
        }
    }

    /// The result of an attempt to lock the common file.
    enum Meeting {
        /// The file is locked, and has this total; nil if its content is invalid.
        case total(DiskTotal?)
        /// The file is locked, but this cache does not know the directory's content yet.
        case stranger
        /// The directory cannot be shared at present; nothing is locked.
        case nobody
    }

    func meetOthers(_ membership: inout DiskMembership?) -> Meeting {
        do throws(FileFault) {
            return try meet(&membership)
        } catch {
            leave(&membership)
            return .nobody
        }
    }

    /// Locks and reads the common file; joins first if the cache has not joined, or the directory was replaced since.
    private func meet(_ membership: inout DiskMembership?) throws(FileFault) -> Meeting {
        try folder.check()
        if let current = membership {
            let isThere = (try? folder.files.status(at: folder.layout.usagePath))?.inode == current.usageInode
            if !isThere {
                leave(&membership)
                books.withLock { $0.removeAll() }
            }
        }
        guard let current = membership else { return try join(&membership) }
        guard try lockTotal(current.usage) else { return .nobody }
        do throws(FileFault) {
            return .total(try DiskTotal.read(current.usage, folder.files))
        } catch {
            folder.files.unlock(current.usage)
            throw error
        }
    }

    private static let patience: Duration = .seconds(2)
    private static let pause: Duration = .seconds(10)
    private static let markPatience: Duration = .milliseconds(20)

    /// Locks the common file. Others hold it for less than some milliseconds, but a process that was stopped meanwhile
    /// holds it until it continues. This cache then works alone for a while.
    private func lockTotal(_ usage: Int32) throws(FileFault) -> Bool {
        if let end = books.withLock({ $0.ledger.common.aloneUntil }), folder.clock.now < end { return false }
        let isOurs = try folder.files.lock(usage, within: Self.patience)
        let end = isOurs ? nil : folder.clock.now + Self.pause
        books.withLock { $0.ledger.common.aloneUntil = end }
        if !isOurs {
            folder.logger.warning("another process keeps the cache's shared total locked; continuing without it")
        }
        return isOurs
    }

    private func join(_ membership: inout DiskMembership?) throws(FileFault) -> Meeting {
        let usage = try folder.files.open(folder.layout.usagePath, .readWrite)
        let ownerPath = folder.layout.ownerDirectory + "/" + folder.temporaries.owner.text
        do throws(FileFault) {
            guard try lockTotal(usage) else {
                folder.files.close(usage)
                return .nobody
            }
            let total = try DiskTotal.read(usage, folder.files)
            let others = countOthers()
            let owner = try folder.files.open(ownerPath, .readWrite)
            let inode: UInt64
            do throws(FileFault) {
                // Another cache may hold the lock for a moment, to find out whether this one is alive.
                guard try folder.files.lock(owner, within: Self.markPatience) else {
                    throw FileFault("flock", ownerPath, EWOULDBLOCK)
                }
                inode = try folder.files.status(of: usage).inode
            } catch {
                // A mark without a lock would mean that this cache is dead, and other caches would remove the files
                // that it is writing.
                try? folder.files.remove(ownerPath)
                folder.files.closeLocked(owner)
                throw error
            }
            // The first store of a new cache finds only the directory that it has made itself.
            let knowsAll = others.dead.isEmpty && index.adoptChanges(most: Self.maxReadWhileLocked)
            index.measureOwnFiles()
            books.withLock { books in
                // Bytes that are not known yet count as those of other caches.
                books.join(total, isAlone: knowsAll && others.names.isEmpty)
                books.ledger.common.isStranger = !knowsAll
                (books.ledger.common.inode, books.ledger.common.seen) = (inode, nil)
            }
            membership = DiskMembership(usage: usage, usageInode: inode, owner: owner, ownerPath: ownerPath)
            return knowsAll ? .total(nil) : .stranger
        } catch {
            folder.files.closeLocked(usage)
            throw error
        }
    }

    private func leave(_ membership: inout DiskMembership?) {
        membership?.close(folder.files)
        membership = nil
        books.withLock { $0.ledger.share.leave() }
    }

    /// Changes the books, and publishes the changes to the other caches. Unlocks the common file.
    func updateTotal<Result: Sendable>(
        _ membership: inout DiskMembership?, isLast: Bool = false, _ decide: (inout DiskBooks) -> Result
    ) -> Result {
        let (result, total, promise) = books.withLock { books in
            let result = decide(&books)
            let (total, promise) = books.tellTotal(isLast: isLast)
            return (result, total, promise)
        }
        guard let current = membership else { return result }
        defer { folder.files.unlock(current.usage) }
        do throws(FileFault) {
            if current.promise.isSuperseded(by: promise) {
                try folder.files.truncate(current.owner, to: promise.length)
                membership?.promise = promise
            }
            try total.write(to: current.usage, folder.files)
        } catch {
            folder.logger.notice("the caches of this directory cannot share their limit: \(error)")
        }
        return result
    }
}
