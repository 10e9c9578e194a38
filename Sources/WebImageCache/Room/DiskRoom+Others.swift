import Synchronization
import WebImageCore
import WebImageSystem

// What others do to the directory is learnt from it. To read the whole directory takes long, so that no lock is held
// meanwhile that others wait for: what changes meanwhile is read again, and only the last little bit of that under the
// common file's lock.
extension DiskRoom {
    /// How many entries are read, at most, while others wait: some milliseconds' work.
    static let mostReadWhileLocked = 1000

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

    /// Learns what the other caches of the directory have done: removes what dead ones left and old temporary files that
    /// nobody owns, reads what was stored and removed, and counts the common total anew where it does not fit to that.
    /// - Parameter lists: whether every shard is listed for temporary files, even where nothing calls for it.
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
        bury(first.dead)
        let strays =
            lists || !first.dead.isEmpty
            ? folder.findStrays() : folder.checkStrays(books.withLock { $0.ledger.strays.keys })
        _ = index.adoptChanges()
        let promised = first.promised + bytesOfNobody(strays, first)
        let recounts = books.withLock { books in
            guard books.ledger.hasOthers else { return false }
            // Who has just come need not wonder that the others are gone.
            if !books.ledger.common.isStranger, !first.dead.isEmpty || first.names.isEmpty { return true }
            return !first.names.isEmpty && books.ledger.isTotalAmiss(promised: promised)
        }
        for _ in 0..<Self.mostRounds {
            let began = recounts ? folder.timeOfFiles() : nil
            if recounts { for shard in folder.existingShards() { index.reconcile(shard) } }
            if finishLearning(first, strays, recounts: recounts, since: began) { return }
        }
        membership.withLock { membership in
            guard case .total(let total) = meetOthers(&membership) else { return unlockTotal(membership) }
            updateTotal(&membership) { books in
                if let total { books.meet(total) }
                // Others changed too much meanwhile: the next time it may show that nobody else is there.
                if !first.names.isEmpty { books.ledger.setOthers(true) }
                books.ledger.setStrays(strays)
            }
        }
    }

    private static let mostRounds = 3

    /// Tells the others what was found, unless so much has changed meanwhile that it must be read again.
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
            guard index.adoptChanges(most: Self.mostReadWhileLocked, since: began) else {
                unlockTotal(membership)
                return false
            }
            // What those who died meanwhile have left is buried the next time.
            let promised = others.promised + others.promisedToTheDead + bytesOfNobody(strays, others)
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

    /// What temporary files take whose owners do not live: those of the living are in their promises.
    private func bytesOfNobody(_ strays: [String: Int64], _ others: Others) -> Int64 {
        let marks = Set(others.names + others.dead)
        return strays.reduce(0) { sum, stray in
            let owner = OwnerName(ofTemporary: stray.key.split(separator: "/").last.map(String.init) ?? "")
            return owner.map { marks.contains($0.text) } ?? false ? sum : sum + stray.value
        }
    }
}
