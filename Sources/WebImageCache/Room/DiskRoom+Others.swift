import Synchronization
import WebImageCore
import WebImageSystem

// Learns the changes of other caches from the directory. Reading the whole directory takes long, so no lock is held
// meanwhile that others wait for: changes during the reading are read again, and only the last few of them under the
// common file's lock.
extension DiskRoom {
    /// How many entries are read, at most, while other caches wait: some milliseconds of work.
    static let maxReadWhileLocked = 1000

    /// The other caches that write to the directory.
    struct Others {
        var names: [String] = []
        /// The bytes that they have reserved together, and the part of them that is headroom.
        var promised: Int64 = 0
        var headroom: Int64 = 0
        /// The caches whose processes have ended: their reserved bytes are released when the files that they were
        /// writing are removed.
        var dead: [String] = []
        var promisedToDead: Int64 = 0
    }

    /// Distinguishes living from dead caches: a living one holds the lock of its mark. Called under the common file's
    /// lock, under which marks are made.
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
                others.promisedToDead += promise.blocks * 4096
            } else {
                others.names.append(name)
                others.promised += promise.blocks * 4096
                others.headroom += promise.headroom * 4096
            }
        }
        return others
    }

    /// Removes the files of dead caches: entries that they were writing, and then their marks.
    private func removeDead(_ dead: [String]) {
        guard !dead.isEmpty else { return }
        let names = Set(dead)
        for directory in folder.existingShards().map(folder.layout.shardDirectory) + folder.otherTemporaryDirectories {
            for name in (try? folder.files.names(in: directory)) ?? [] {
                guard let owner = OwnerName(ofTemporary: name), names.contains(owner.text) else { continue }
                try? folder.files.remove(directory + "/" + name)
            }
        }
        for name in dead { try? folder.files.remove(folder.layout.ownerDirectory + "/" + name) }
    }

    /// Learns the changes of the other caches: removes the files of dead ones and old temporary files without an owner,
    /// reads what was stored and removed, and recounts the common total if it is wrong.
    /// - Parameter lists: whether every shard is listed for temporary files, even without a reason.
    func learnOfOthers(lists: Bool = false) {
        guard (try? folder.check()) != nil else { return }
        let first = membership.withLock { membership -> Others? in
            let meeting = meetOthers(&membership)
            if case .nobody = meeting { return nil }
            defer { if let usage = membership?.usage { folder.files.unlock(usage) } }
            if case .total(let total?) = meeting { books.withLock { $0.meet(total) } }
            return countOthers()
        }
        guard let first else {
            let strays = lists ? folder.findStrays() : folder.checkStrays(books.withLock { $0.ledger.strays.keys })
            books.withLock { $0.ledger.setStrays(strays) }
            _ = index.adoptChanges()
            return
        }
        removeDead(first.dead)
        let strays =
            lists || !first.dead.isEmpty
            ? folder.findStrays() : folder.checkStrays(books.withLock { $0.ledger.strays.keys })
        _ = index.adoptChanges()
        let promised = first.promised + unownedBytes(strays, first)
        let recounts = books.withLock { books in
            guard books.ledger.hasOthers else { return false }
            // If other caches died, or none are left, the total is recounted. A cache that has just joined may find
            // none: that is no reason.
            if !books.ledger.common.isStranger, !first.dead.isEmpty || first.names.isEmpty { return true }
            return !first.names.isEmpty && books.ledger.isTotalWrong(promised: promised)
        }
        for _ in 0..<Self.maxRounds {
            let began = recounts ? folder.timeOfFiles() : nil
            if recounts { for shard in folder.existingShards() { index.reconcile(shard) } }
            if finishLearning(first, strays, recounts: recounts, since: began) { return }
        }
        membership.withLock { membership in
            guard case .total(let total) = meetOthers(&membership) else { return unlockTotal(membership) }
            updateTotal(&membership) { books in
                if let total { books.meet(total) }
                // Other caches changed too much meanwhile; the next attempt may show that there are none.
                if !first.names.isEmpty { books.ledger.setOthers(true) }
                books.ledger.setStrays(strays)
            }
        }
    }

    private static let maxRounds = 3

    /// Publishes the result to the other caches, unless so much has changed meanwhile that the directory must be read
    /// again.
    /// - Parameter began: when the reading of all entries began, by the file system's clock; nil: there was none.
    private func finishLearning(
        _ first: Others, _ strays: [String: Int64], recounts: Bool, since began: Int64?
    ) -> Bool {
        membership.withLock { membership in
            guard case .total(let total) = meetOthers(&membership) else {
                unlockTotal(membership)
                return true
            }
            let others = countOthers()
            guard index.adoptChanges(most: Self.maxReadWhileLocked, since: began) else {
                unlockTotal(membership)
                return false
            }
            // The files of caches that died meanwhile are removed the next time.
            let promised = others.promised + others.promisedToDead + unownedBytes(strays, others)
            updateTotal(&membership) { books in
                if let total { books.meet(total) }
                if recounts { books.ledger.share.recount(promised: promised, headroom: others.headroom) }
                books.ledger.setOthers(!others.names.isEmpty || !others.dead.isEmpty)
                books.ledger.common.isStranger = false
                books.ledger.setStrays(strays)
            }
            return true
        }
    }

    private func unlockTotal(_ membership: DiskMembership?) {
        if let usage = membership?.usage { folder.files.unlock(usage) }
    }

    /// The bytes of temporary files without a living owner; those of living ones are in their reserved bytes.
    private func unownedBytes(_ strays: [String: Int64], _ others: Others) -> Int64 {
        let marks = Set(others.names + others.dead)
        return strays.reduce(0) { sum, stray in
            let owner = OwnerName(ofTemporary: stray.key.split(separator: "/").last.map(String.init) ?? "")
            return owner.map { marks.contains($0.text) } ?? false ? sum : sum + stray.value
        }
    }
}
