import Logging
import Synchronization
import WebImageCore
import WebImageSystem

// Several caches, of one process or of many, share a directory under one limit. A cache joins when it first asks for
// room; from then on every wish for room is decided over the total that all of them keep in one file.
extension DiskCache {
    /// Runs `decide` with the state as it is with what the others take, and tells the others what it changed.
    ///
    /// Where the directory cannot be shared, because it cannot be written or its file system has no locks, the cache
    /// decides by what it knows itself.
    func sharing<Result: Sendable>(_ decide: @Sendable (inout DiskState) -> Result) -> Result {
        for _ in 0..<2 {
            let result = membership.withLock { membership -> Result? in
                switch meetOthers(&membership) {
                case .nobody: return state.withLock { decide(&$0) }
                case .stranger:
                    // What there is to learn of the directory is learnt while nobody waits for a lock.
                    if let usage = membership?.usage { folder.files.unlock(usage) }
                    return nil
                case .total(let total):
                    return tellOthers(&membership) { state in
                        if let total { state.meet(total) }
                        return decide(&state)
                    }
                }
            }
            if let result { return result }
            lookAtOthers()
        }
        // Somebody puts one directory after the other in its place.
        return state.withLock { decide(&$0) }
    }

    /// Reserves room that the others count as taken already. Not where the directory was replaced since they were told.
    func reserveHeadroom(_ bytes: Int64) -> Bool {
        let now = folder.clock.now
        let (headroom, inode, seen) = state.withLock { ($0.headroom, $0.usageInode, $0.usageSeen) }
        guard bytes <= headroom else { return false }
        if seen.map({ now < $0 || now - $0 >= DiskFolder.replacementDelay }) ?? true {
            guard (try? folder.files.status(at: folder.layout.usagePath))?.inode == inode else { return false }
            state.withLock { $0.usageSeen = now }
        }
        return state.withLock { $0.reserveHeadroom(bytes) }
    }

    /// Gives up this cache's place, and the headroom that the others left it, unless they are at the total just now.
    func leaveForGood() {
        membership.withLock { membership in
            guard let usage = membership?.usage else { return }
            if state.withLock({ $0.headroom > 0 }), let isOurs = try? folder.files.lock(usage, within: .zero), isOurs {
                let known = try? DiskTotal.read(usage, folder.files)
                tellOthers(&membership, isLast: true) { state in
                    if let known { state.meet(known) }
                }
            }
            leave(&membership)
        }
    }

    /// What became of a try to lock the common file.
    enum Meeting {
        /// It is locked, and says that, or nothing to be trusted.
        case total(DiskTotal?)
        /// The same, and this cache does not know yet what the directory holds.
        case stranger
        /// The directory cannot be shared, or not now; nothing is locked.
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

    /// Locks the common file and reads it; joins first where that is not done, or was done with a directory that is no
    /// longer there.
    private func meet(_ membership: inout DiskMembership?) throws(FileFault) -> Meeting {
        try folder.check()
        if let current = membership {
            let isThere = (try? folder.files.status(at: folder.layout.usagePath))?.inode == current.usageInode
            if !isThere {
                leave(&membership)
                state.withLock { $0.removeAll() }
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

    /// Locks the common file. Others hold it for less than some milliseconds; but one that was stopped in the middle holds
    /// it until it goes on. Then this cache goes on alone for a while.
    private func lockTotal(_ usage: Int32) throws(FileFault) -> Bool {
        if let end = state.withLock({ $0.aloneUntil }), folder.clock.now < end { return false }
        let isOurs = try folder.files.lock(usage, within: Self.patience)
        let end = isOurs ? nil : folder.clock.now + Self.pause
        state.withLock { $0.aloneUntil = end }
        if !isOurs {
            folder.logger.warning("another process holds on to the cache's common total: going on without it")
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
            _ = try folder.files.lock(owner, within: .zero)
            let inode = try folder.files.status(of: usage).inode
            // The first store of a new cache finds the one directory that it has made.
            let knowsAll = others.dead.isEmpty && adoptChanges(most: Self.mostLooksWhileLocked)
            noteOverhead()
            state.withLock { state in
                // What is not known yet is counted as others', whoever they are.
                state.join(total, isAlone: knowsAll && others.names.isEmpty)
                state.isStranger = !knowsAll
                (state.usageInode, state.usageSeen) = (inode, nil)
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
        state.withLock { $0.leave() }
    }

    /// Changes the state and tells the others, whose file is unlocked then.
    func tellOthers<Result>(
        _ membership: inout DiskMembership?, isLast: Bool = false, _ decide: (inout DiskState) -> Result
    ) -> Result {
        let (result, total, promise) = state.withLock { state in
            let result = decide(&state)
            let (total, promise) = state.tellTotal(isLast: isLast)
            return (result, total, promise)
        }
        guard let current = membership else { return result }
        defer { folder.files.unlock(current.usage) }
        do throws(FileFault) {
            if current.promise.isOutdone(by: promise) {
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
