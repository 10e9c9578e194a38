import Logging
import Synchronization
import WebImageCore
import WebImageSystem

// What others do to the directory is learnt from it. To look at the whole directory takes long, so that no lock is held
// meanwhile that others wait for: what changes during the look is looked at again, and only the last little bit of that
// under the common file's lock.
extension DiskCache {
    /// How many entries are looked at, at most, while others wait: some milliseconds' work.
    static let mostLooksWhileLocked = 1000

    /// Who else writes to the directory.
    struct Others {
        var names: [String] = []
        /// What they were promised together, in bytes, and what of it nobody has asked for yet.
        var promised: Int64 = 0
        var headroom: Int64 = 0
        /// Those whose processes have ended: their promises are void once what they were writing is gone.
        var dead: [String] = []
        var promisedToTheDead: Int64 = 0
    }

    /// Tells the living from the dead: whoever lives holds the lock of its mark. Under the common file's lock, under which
    /// marks are made.
    func countOthers() -> Others {
        var others = Others()
        for name in (try? folder.files.names(in: folder.layout.ownerDirectory)) ?? []
        where name != folder.temporaries.owner.text {
            guard OwnerName.isOne(name),
                let file = try? folder.files.open(folder.layout.ownerDirectory + "/" + name, .updateOwn)
            else { continue }
            defer { folder.files.closeLocked(file) }
            let promise = DiskPromise(length: (try? folder.files.status(of: file))?.size ?? 0)
            if let isDead = try? folder.files.lock(file, within: .zero), isDead {
                others.dead.append(name)
                others.promisedToTheDead += promise.blocks * 4096
            } else {
                others.names.append(name)
                others.promised += promise.blocks * 4096
                others.headroom += promise.headroom * 4096
            }
        }
        return others
    }

    /// Removes what dead caches have left: the entries that they were writing, and then their marks.
    private func bury(_ dead: [String]) {
        guard !dead.isEmpty else { return }
        let names = Set(dead)
        for directory in folder.existingShards().map(folder.layout.shardDirectory) + [folder.layout.indexDirectory] {
            for name in (try? folder.files.names(in: directory)) ?? [] {
                guard let owner = OwnerName(ofTemporary: name), names.contains(owner.text) else { continue }
                try? folder.files.remove(directory + "/" + name)
            }
        }
        for name in dead { try? folder.files.remove(folder.layout.ownerDirectory + "/" + name) }
    }

    /// Looks again at what others do: of the dead nothing is left, what nobody owns goes when it is old, what they have
    /// stored and removed is known from now on, and where the common total does not fit to that it is counted anew.
    /// - Parameter lists: whether every shard is listed for temporary files, even where nothing calls for it.
    func lookAtOthers(lists: Bool = false) {
        guard (try? folder.check()) != nil else { return }
        let first = membership.withLock { membership -> Others? in
            let meeting = meetOthers(&membership)
            if case .nobody = meeting { return nil }
            defer { if let usage = membership?.usage { folder.files.unlock(usage) } }
            if case .total(let total?) = meeting { state.withLock { $0.meet(total) } }
            return countOthers()
        }
        guard let first else {
            let strays = lists ? folder.findStrays() : folder.checkStrays(state.withLock { $0.strays.keys })
            state.withLock { $0.setStrays(strays) }
            _ = adoptChanges()
            return
        }
        bury(first.dead)
        let strays =
            lists || !first.dead.isEmpty ? folder.findStrays() : folder.checkStrays(state.withLock { $0.strays.keys })
        _ = adoptChanges()
        let promised = first.promised + bytesOfNobody(strays, first)
        let recounts = state.withLock { state in
            guard state.hasOthers else { return false }
            // Who has just come need not wonder that the others are gone.
            if !state.isStranger, !first.dead.isEmpty || first.names.isEmpty { return true }
            return !first.names.isEmpty && state.isTotalAmiss(promised: promised)
        }
        for _ in 0..<Self.mostRounds {
            let began = recounts ? folder.timeOfFiles() : nil
            if recounts { for shard in folder.existingShards() { reconcile(shard) } }
            if finishLook(first, strays, recounts: recounts, since: began) { return }
        }
        membership.withLock { membership in
            guard case .total(let total) = meetOthers(&membership) else { return unlockTotal(membership) }
            tellOthers(&membership) { state in
                if let total { state.meet(total) }
                // Not everything could be looked at in peace: the next look may tell that nobody else is there.
                if !first.names.isEmpty { state.setOthers(true) }
                state.setStrays(strays)
            }
        }
    }

    private static let mostRounds = 3

    /// Tells the others what was found, unless so much has changed meanwhile that it must be looked at again.
    /// - Parameter began: when the look at all entries began, by the file system's clock; nil: there was none.
    private func finishLook(
        _ first: Others, _ strays: [String: Int64], recounts: Bool, since began: Int64?
    ) -> Bool {
        membership.withLock { membership in
            guard case .total(let total) = meetOthers(&membership) else {
                unlockTotal(membership)
                return true
            }
            let others = countOthers()
            guard adoptChanges(most: Self.mostLooksWhileLocked, since: began) else {
                unlockTotal(membership)
                return false
            }
            // What those who died during the look have left is buried at the next one.
            let promised = others.promised + others.promisedToTheDead + bytesOfNobody(strays, others)
            tellOthers(&membership) { state in
                if let total { state.meet(total) }
                if recounts { state.recount(promised: promised, headroom: others.headroom) }
                state.setOthers(!others.names.isEmpty || !others.dead.isEmpty)
                state.isStranger = false
                state.setStrays(strays)
            }
            return true
        }
    }

    private func unlockTotal(_ membership: DiskMembership?) {
        if let usage = membership?.usage { folder.files.unlock(usage) }
    }

    /// What temporary files take whose owners do not live: those of the living are in their promises.
    private func bytesOfNobody(_ strays: [String: Int64], _ others: Others) -> Int64 {
        let marks = Set(others.names + others.dead)
        return strays.reduce(0) { sum, stray in
            let owner = OwnerName(ofTemporary: stray.key.split(separator: "/").last.map(String.init) ?? "")
            return owner.map { marks.contains($0.text) } ?? false ? sum : sum + stray.value
        }
    }

    /// Learns what others have done to the directory since it was last looked at. Costs a status a shard, and a listing
    /// for each that changed.
    /// - Parameters:
    ///   - most: nothing is learnt where that means to look at more entries than that.
    ///   - began: what has changed since then, by the file system's clock, is looked at even where the time of its
    ///     directory does not tell.
    /// - Returns: false where there is more to be learnt.
    func adoptChanges(most: Int = .max, since began: Int64? = nil) -> Bool {
        guard let existing = try? folder.listShards() else { return false }
        let times = state.withLock { $0.shardTimes }
        var changed = Array(Set(times.indices.filter { times[$0] != nil }).subtracting(existing))
        for shard in existing {
            guard let status = try? folder.files.status(at: folder.layout.shardDirectory(shard)) else { continue }
            let isYoung = began.map { status.isYoung(at: $0) } ?? false
            if isYoung || status.modifiedNanoseconds != times[shard] { changed.append(shard) }
        }
        // Of a directory that was never looked at nobody knows how much there is.
        let looks = state.withLock { state in
            changed.reduce(0) { $0 + (times[$1] == nil ? 50 : state.index.count(inShard: $1) + 4) }
        }
        guard looks <= most else { return false }
        for shard in changed { reconcile(shard) }
        return true
    }

    /// Holds what the index says of a shard against the directory, which is right.
    /// - Parameter looksAtKnown: whether somebody else may have put other files in place of those that the index has.
    /// - Returns: the directory as it was before it was listed; nil when it is not there or cannot be read.
    @discardableResult
    func reconcile(_ shard: Int, looksAtKnown: Bool = true) -> FileStatus? {
        var holdsTemporaries = false
        return reconcile(shard, looksAtKnown: looksAtKnown, &holdsTemporaries)
    }

    /// - Parameter holdsTemporaries: set when somebody writes an entry there, or was ended while writing one.
    func reconcile(_ shard: Int, looksAtKnown: Bool, _ holdsTemporaries: inout Bool) -> FileStatus? {
        guard (try? folder.check()) != nil else { return nil }
        let directory = folder.layout.shardDirectory(shard)
        return folder.withTurn(ofShard: shard) { () -> FileStatus? in
            var status: FileStatus?
            do throws(FileFault) {
                status = try folder.files.status(at: directory)
            } catch  where error.isMissing {
                status = nil
            } catch {
                return nil
            }
            let known = Set(state.withLock { $0.index.records(inShard: shard) }.map(\.id))
            var there: Set<EntryID> = []
            var found: [(EntryID, FileStatus)] = []
            if status != nil {
                let isListed: Void? = try? folder.files.list(directory) { name, status in
                    if name.first == UInt8(ascii: ".") { holdsTemporaries = true }
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
                return status
            }
        }
    }
}

extension FileStatus {
    /// What an entry's file says of itself from outside.
    func record(of id: EntryID) -> DiskIndex.Record {
        DiskIndex.Record(id: id, bytes: blockBytes, length: size, date: modified, recordedDate: modified)
    }
}
