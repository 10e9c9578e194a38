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
            guard let met = meetOthers(&membership) else { return state.withLock { decide(&$0) } }
            return tellOthers(&membership) { state in
                if let total = met.total { state.meet(total) }
                return decide(&state)
            }
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
                tellOthers(&membership, isLast: true) { state in
                    if let known { state.meet(known) }
                }
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
            let others = buryTheDead()
            let owner = try files.open(ownerPath, .readWrite)
            _ = try files.lock(owner, within: .zero)
            let inode = try files.status(of: usage).inode
            let strays = others.hasBuried ? findStrays() : nil
            adoptChanges()
            noteOverhead()
            state.withLock { state in
                if let strays { state.setStrays(strays) }
                state.join(total, isAlone: others.names.isEmpty)
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

    /// Who else writes to the directory.
    private struct Others {
        var names: [String] = []
        /// What they were promised together, in bytes, and what of it nobody has asked for yet.
        var promised: Int64 = 0
        var headroom: Int64 = 0
        /// Dead ones were found, whose promises are void.
        var hasBuried = false
    }

    /// Removes what dead caches have left: their marks, and the entries that they were writing. Only by who holds the
    /// common file's lock, under which marks are made.
    private func buryTheDead() -> Others {
        var (others, dead): (Others, [String]) = (Others(), [])
        for name in (try? files.names(in: layout.ownerDirectory)) ?? [] where name != ownerName {
            guard let file = try? files.open(layout.ownerDirectory + "/" + name, .read) else { continue }
            defer { files.closeLocked(file) }
            // Whoever lives holds its lock.
            if let isDead = try? files.lock(file, within: .zero), isDead {
                dead.append(name)
            } else {
                others.names.append(name)
                let promise = DiskPromise(length: (try? files.status(of: file))?.size ?? 0)
                others.promised += promise.blocks * 4096
                others.headroom += promise.headroom * 4096
            }
        }
        guard !dead.isEmpty else { return others }
        others.hasBuried = true
        for shard in existingShards() {
            let directory = layout.shardDirectory(shard)
            for name in (try? files.names(in: directory)) ?? [] where name.hasPrefix(".") {
                guard dead.contains(where: { name.hasPrefix(".\($0)-") }) else { continue }
                try? files.remove(directory + "/" + name)
            }
        }
        for name in dead { try? files.remove(layout.ownerDirectory + "/" + name) }
        return others
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
    /// - Parameter looksAtKnown: whether somebody else may have put other files in place of those that the index has.
    /// - Returns: the directory as it was before it was listed, and what it holds; nil when it is not there or cannot be
    ///   read.
    @discardableResult
    func reconcile(
        _ shard: Int, looksAtKnown: Bool = true
    ) -> (status: FileStatus, records: [DiskIndex.Record])? {
        let directory = layout.shardDirectory(shard)
        return stripes[shard & 15].lock.withLock { _ in
            let status = try? files.status(at: directory)
            let known = Set(state.withLock { $0.index.records(inShard: shard) }.map(\.id))
            var there: Set<EntryID> = []
            var found: [(EntryID, FileStatus)] = []
            if status != nil {
                let isListed: Void? = try? files.list(directory) { name, status in
                    guard let id = EntryID(name: name), id.shard == shard else { return }
                    if !looksAtKnown, known.contains(id) {
                        there.insert(id)
                    } else if let status = status() {
                        there.insert(id)
                        if status.isRegularFile { found.append((id, status)) }
                    }
                }
                guard isListed != nil else { return nil }
            }
            return state.withLock { state in
                for id in known.subtracting(there) { state.remove(id, freed: .nothing) }
                state.shardTimes[shard] = status?.modifiedNanoseconds
                for (id, status) in found { state.see(status, of: id) }
                return status.map { status in (status, state.index.records(inShard: shard)) }
            }
        }
    }

    /// Looks again at what others do: of the dead nothing is left, what nobody owns goes when it is old, what they have
    /// stored and removed is known from now on, and where the common total does not fit to that it is counted anew.
    /// - Parameter lists: whether every shard is listed for temporary files, even where nothing calls for it.
    func lookAtOthers(lists: Bool = false) {
        membership.withLock { membership in
            let met = meetOthers(&membership)
            guard let met else {
                let strays = lists || state.withLock { !$0.strays.isEmpty } ? findStrays() : [:]
                state.withLock { $0.setStrays(strays) }
                return adoptChanges()
            }
            if let total = met.total { state.withLock { $0.meet(total) } }
            let others = buryTheDead()
            let (wasShared, hadStrays) = state.withLock { ($0.hasOthers, !$0.strays.isEmpty) }
            let strays = lists || others.hasBuried || hadStrays ? findStrays() : [:]
            let promised = others.promised + bytesOfNobody(strays, others)
            adoptChanges()
            let recounts =
                wasShared
                && (others.hasBuried || others.names.isEmpty
                    || state.withLock { $0.isTotalAmiss(promised: promised) })
            if recounts { for shard in existingShards() { reconcile(shard) } }
            tellOthers(&membership) { state in
                if recounts { state.recount(promised: promised, headroom: others.headroom) }
                state.setOthers(!others.names.isEmpty)
                state.setStrays(strays)
            }
        }
    }

    /// What temporary files take whose owners do not live: those of the living are in their promises.
    private func bytesOfNobody(_ strays: [String: Int64], _ others: Others) -> Int64 {
        strays.reduce(0) { sum, stray in
            let name = stray.key.split(separator: "/").last ?? ""
            return others.names.contains { name.hasPrefix(".\($0)-") } ? sum : sum + stray.value
        }
    }

    /// Changes the state and tells the others, whose file is unlocked then.
    private func tellOthers<Result>(
        _ membership: inout DiskMembership?, isLast: Bool = false, _ decide: (inout DiskState) -> Result
    ) -> Result {
        let (result, total, promise) = state.withLock { state in
            let result = decide(&state)
            let (total, promise) = state.tellTotal(isLast: isLast)
            return (result, total, promise)
        }
        guard let current = membership else { return result }
        defer { files.unlock(current.usage) }
        do throws(FileFault) {
            if current.promise.isOutdone(by: promise) {
                try files.truncate(current.owner, to: promise.length)
                membership?.promise = promise
            }
            try total.write(to: current.usage, files)
        } catch {
            logger.notice("the caches of this directory cannot share their limit: \(error)")
        }
        return result
    }
}

extension FileStatus {
    /// What an entry's file says of itself from outside.
    func record(of id: EntryID) -> DiskIndex.Record {
        DiskIndex.Record(id: id, bytes: blockBytes, length: size, date: modified, recordedDate: modified)
    }
}
