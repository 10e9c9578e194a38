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
        membership.withLock { membership -> Result in
            guard let met = meetOthers(&membership), let usage = membership?.usage else {
                return state.withLock { decide(&$0) }
            }
            defer { files.unlock(usage) }
            let (result, newTotal) = state.withLock { state -> (Result, DiskTotal) in
                if let total = met.total { state.meet(total) }
                let result = decide(&state)
                return (result, state.tellTotal())
            }
            tell(newTotal, usage)
            return result
        }
    }

    /// Reserves room that the others count as taken already. Not where the directory was replaced since they were told.
    func reserveHeadroom(_ bytes: Int64) -> Bool {
        let now = clock.now
        let (headroom, inode, seen) = state.withLock { ($0.headroom, $0.usageInode, $0.usageSeen) }
        guard bytes <= headroom else { return false }
        if seen.map({ now < $0 || now - $0 >= Self.replacementDelay }) ?? true {
            guard (try? files.status(at: layout.usagePath))?.inode == inode else { return false }
            state.withLock { $0.usageSeen = now }
        }
        return state.withLock { $0.reserveHeadroom(bytes) }
    }

    /// Gives up this cache's place, and the headroom that the others left it, unless they are at the total just now.
    func leaveForGood() {
        membership.withLock { membership in
            guard let usage = membership?.usage else { return }
            if state.withLock({ $0.headroom > 0 }), let isOurs = try? files.lock(usage, within: .zero), isOurs {
                let known = try? DiskTotal.read(usage, files)
                let total = state.withLock { state in
                    if let known { state.meet(known) }
                    return state.tellTotal(isLast: true)
                }
                tell(total, usage)
            }
            leave(&membership)
        }
    }

    /// What the common file says, while it is locked.
    private struct Met {
        var total: DiskTotal?
    }

    /// Nil where the directory cannot be shared, or not now.
    private func meetOthers(_ membership: inout DiskMembership?) -> Met? {
        do throws(FileFault) {
            return try meet(&membership)
        } catch {
            leave(&membership)
            return nil
        }
    }

    /// Locks the common file and reads it; joins first where that is not done, or was done with a directory that is no
    /// longer there.
    /// - Returns: nil while somebody else holds on to the common file.
    private func meet(_ membership: inout DiskMembership?) throws(FileFault) -> Met? {
        if let current = membership {
            let isThere = (try? files.status(at: layout.usagePath))?.inode == current.usageInode
            if !isThere {
                leave(&membership)
                state.withLock { $0.removeAll() }
                for shard in existingShards() { reconcile(shard) }
            }
        }
        guard let current = membership else {
            membership = try join()
            return membership.map { _ in Met(total: nil) }
        }
        guard try lockTotal(current.usage) else { return nil }
        do throws(FileFault) {
            return Met(total: try DiskTotal.read(current.usage, files))
        } catch {
            files.unlock(current.usage)
            throw error
        }
    }

    private static let patience: Duration = .seconds(2)
    private static let pause: Duration = .seconds(10)

    /// Locks the common file. Others hold it for microseconds, for as long as they look at the directory once; but one
    /// that was stopped in the middle holds it until it goes on. Then this cache goes on alone for a while.
    private func lockTotal(_ usage: Int32) throws(FileFault) -> Bool {
        if let end = state.withLock({ $0.aloneUntil }), clock.now < end { return false }
        let isOurs = try files.lock(usage, within: Self.patience)
        let end = isOurs ? nil : clock.now + Self.pause
        state.withLock { $0.aloneUntil = end }
        if !isOurs { logger.warning("another process holds on to the cache's common total: going on without it") }
        return isOurs
    }

    /// Returns with the common file locked; nil while somebody else holds on to it.
    private func join() throws(FileFault) -> DiskMembership? {
        let usage = try files.open(layout.usagePath, .readWrite)
        let ownerPath = layout.ownerDirectory + "/" + ownerName
        do throws(FileFault) {
            guard try lockTotal(usage) else {
                files.close(usage)
                return nil
            }
            let total = try DiskTotal.read(usage, files)
            let (living, buried) = buryTheDead()
            let isAlone = living == 0
            let owner = try files.open(ownerPath, .readWrite)
            _ = try files.lock(owner, within: .zero)
            let inode = try files.status(of: usage).inode
            let strays = buried ? findStrays() : nil
            adoptChanges()
            noteOverhead()
            state.withLock { state in
                if let strays { state.setStrays(strays) }
                state.join(total, isAlone: isAlone)
                (state.usageInode, state.usageSeen) = (inode, nil)
            }
            return DiskMembership(usage: usage, usageInode: inode, owner: owner, ownerPath: ownerPath)
        } catch {
            files.closeLocked(usage)
            throw error
        }
    }

    private func leave(_ membership: inout DiskMembership?) {
        membership?.close(files)
        membership = nil
        state.withLock { $0.leave() }
    }

    /// Removes what dead caches have left: their marks, and the entries that they were writing. Only by who holds the
    /// common file's lock, under which marks are made.
    /// - Returns: how many others live, and whether there were dead ones.
    private func buryTheDead() -> (living: Int, buried: Bool) {
        var (living, dead): (Int, [String]) = (0, [])
        for name in (try? files.names(in: layout.ownerDirectory)) ?? [] where name != ownerName {
            guard let file = try? files.open(layout.ownerDirectory + "/" + name, .read) else { continue }
            defer { files.closeLocked(file) }
            // Whoever lives holds its lock.
            if let isDead = try? files.lock(file, within: .zero), isDead { dead.append(name) } else { living += 1 }
        }
        guard !dead.isEmpty else { return (living, false) }
        for shard in existingShards() {
            let directory = layout.shardDirectory(shard)
            for name in (try? files.names(in: directory)) ?? [] where name.hasPrefix(".") {
                guard dead.contains(where: { name.hasPrefix(".\($0)-") }) else { continue }
                try? files.remove(directory + "/" + name)
            }
        }
        for name in dead { try? files.remove(layout.ownerDirectory + "/" + name) }
        return (living, true)
    }

    /// Learns what others have done to the directory since it was last looked at. Costs a status a shard, and a listing
    /// for each that changed.
    func adoptChanges() {
        let times = state.withLock { $0.shardTimes }
        let known = times.indices.filter { times[$0] != nil }
        let existing = existingShards()
        for shard in Set(known).subtracting(existing) { reconcile(shard) }
        for shard in existing {
            let modified = (try? files.status(at: layout.shardDirectory(shard)))?.modifiedNanoseconds
            if modified != times[shard] { reconcile(shard) }
        }
    }

    /// Holds what the index says of a shard against the directory, which is right.
    /// - Returns: the directory as it was before it was listed, and what it holds; nil when it is not there or cannot be
    ///   read.
    @discardableResult
    func reconcile(_ shard: Int) -> (status: FileStatus, records: [DiskIndex.Record])? {
        let directory = layout.shardDirectory(shard)
        return stripes[shard & 15].lock.withLock { _ in
            let status = try? files.status(at: directory)
            var ids: Set<EntryID> = []
            if status != nil {
                guard let names = try? files.names(in: directory) else { return nil }
                ids = Set(names.lazy.compactMap { EntryID(name: $0) }.filter { $0.shard == shard })
            }
            state.withLock { state in
                for record in state.index.records(inShard: shard) where ids.remove(record.id) == nil {
                    state.remove(record.id, byOthers: true)
                }
                state.shardTimes[shard] = status?.modifiedNanoseconds
            }
            for id in ids {
                guard let status = try? files.status(at: layout.path(of: id)), status.isRegularFile else { continue }
                state.withLock { $0.adopt(status.record(of: id)) }
            }
            return status.map { status in (status, state.withLock { $0.index.records(inShard: shard) }) }
        }
    }

    /// Looks again at what others were writing: of the dead nothing is left, what nobody owns goes when it is old. Finds
    /// out whether others live.
    /// - Parameter lists: whether every shard is listed, even where nothing calls for it.
    func lookAtStrays(lists: Bool = false) {
        membership.withLock { membership in
            let isMember = meetOthers(&membership) != nil
            defer { if let membership { files.unlock(membership.usage) } }
            let (living, buried) = isMember ? buryTheDead() : (0, false)
            let strays = lists || buried || state.withLock { !$0.strays.isEmpty } ? findStrays() : nil
            state.withLock { state in
                if isMember { state.setOthers(living > 0) }
                guard let strays else { return state.setStrays(state.strays) }
                state.setStrays(strays)
                if isMember { state.correct(otherTemporaryBytes: strays.values.reduce(0, +)) }
            }
        }
    }

    private func tell(_ total: DiskTotal, _ usage: Int32) {
        do throws(FileFault) {
            try total.write(to: usage, files)
        } catch {
            logger.notice("the caches of this directory cannot share their limit: \(error)")
        }
    }
}

extension FileStatus {
    /// What an entry's file says of itself from outside.
    func record(of id: EntryID) -> DiskIndex.Record {
        DiskIndex.Record(id: id, bytes: blockBytes, length: size, date: modified, recordedDate: modified)
    }
}
