import Synchronization
import Testing
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

extension TierChanges {
    /// Long after all stores have ended.
    fileprivate mutating func add(
        _ action: Action, _ key: CacheKey, number: UInt64? = nil,
        _ then: @escaping @Sendable (WebImageError?) -> Void
    ) -> Added {
        add(action, key, number: number, at: .seconds(60), then)
    }

    fileprivate mutating func end(_ key: CacheKey) { end(key, at: .zero) }
}

/// The order in which the changes of a further tier are made.
@Suite struct TierChangesTests {
    private func log(_ count: Int) -> ByteLog { ByteLog(bytes: [UInt8](repeating: 1, count: count)) }
    private let key = CacheKey("a")

    private func makeChanges(running: Int = 2, bytes: Int = 100) -> TierChanges {
        TierChanges(maxRunning: running, maxBytes: bytes)
    }

    private func next(_ changes: inout TierChanges) -> TierChanges.Change? { changes.takeNext() }

    @Test func changesOfAKeyComeOneAfterTheOther() throws {
        var changes = makeChanges()
        #expect(changes.add(.put(log(1), DiskMetadata()), key) { _ in }.beaten.isEmpty)
        let firstChange = next(&changes)
        let first = try #require(firstChange)
        #expect(changes.add(.remove, key) { _ in }.beaten.isEmpty)
        #expect(changes.takeNext() == nil && changes.isRemoving(key))
        changes.end(first.key)
        let secondChange = next(&changes)
        let second = try #require(secondChange)
        #expect(second.isRemoval && changes.isRemoving(key))
        changes.end(key)
        #expect(changes.isIdle && !changes.isRemoving(key) && changes.takeNext() == nil)
    }

    @Test func aRemovalReplacesChangesThatHaveNotBegun() throws {
        var changes = makeChanges()
        let number = changes.reserve(key)
        _ = changes.add(.put(log(10), DiskMetadata()), key) { _ in }
        _ = changes.add(.renew { $0 }, key) { _ in }
        #expect(changes.add(.remove, key) { _ in }.beaten.count == 2)
        #expect(changes.waitingBytes == 0)
        // A put that was announced before the removal is too late.
        #expect(
            changes.add(.put(log(10), DiskMetadata()), key, number: number) { _ in }.beaten.map(\.number) == [number])
        changes.endReservation(key)
        let removalChange = next(&changes)
        let removal = try #require(removalChange)
        #expect(removal.isRemoval)
        changes.end(key)
        #expect(changes.isIdle)
    }

    /// The caller of a removal that another one replaced was once told at once that it had succeeded.
    @Test func aRemovalThatIsReplacedGetsTheAnswerOfTheOther() throws {
        var changes = makeChanges()
        let answers = Guarded<[String]>([])
        func remove(_ name: String) -> TierChanges.Added {
            changes.add(.remove, key) { error in answers.withLock { $0.append("\(name) \(error?.code.name ?? "done")") }
            }
        }
        #expect(remove("first").beaten.isEmpty)
        #expect(remove("second").beaten.isEmpty)
        let removalChange = next(&changes)
        let removal = try #require(removalChange)
        #expect(remove("third").beaten.isEmpty && answers.withLock(\.isEmpty))
        removal.then(WebImageError(.cacheIO, "the tier fails"))
        #expect(answers.withLock { $0.sorted() } == ["first cacheIO", "second cacheIO"])
        changes.end(key)
        changes.takeNext()?.then(nil)
        changes.end(key)
        #expect(answers.withLock(\.last) == "third done" && changes.isIdle)
    }

    /// Another program removes an entry while this one stores it.
    @Test func storesAreUndone() throws {
        var changes = makeChanges()
        func undo() -> TierChanges.Added { changes.add(.undo, key) { _ in } }
        #expect(undo().beaten.count == 1 && changes.isIdle, "there is nothing to undo")
        _ = changes.add(.put(log(10), DiskMetadata()), key) { _ in }
        #expect(next(&changes)?.isStore == true)
        _ = changes.add(.put(log(20), DiskMetadata()), key) { _ in }
        #expect(undo().beaten.map(\.length) == [20] && changes.waitingBytes == 0 && changes.isRemoving(key))
        changes.end(key)
        let undoChange = next(&changes)
        let change = try #require(undoChange)
        #expect(change.isRemoval)
        // A newer store stays.
        _ = changes.add(.put(log(30), DiskMetadata()), key) { _ in }
        changes.end(key)
        #expect(next(&changes)?.length == 30)
        changes.end(key)
        // A store that was announced comes too late.
        let number = changes.reserve(key)
        #expect(undo().beaten.count == 1 && changes.takeNext() == nil)
        #expect(changes.add(.put(log(1), DiskMetadata()), key, number: number) { _ in }.beaten.count == 1)
        changes.endReservation(key)
        #expect(changes.isIdle)
        // A removal that waits is still made.
        _ = changes.add(.remove, key) { _ in }
        _ = changes.add(.put(log(1), DiskMetadata()), key) { _ in }
        #expect(undo().beaten.count == 1)
        for isAnnounced in [true, false] {
            let change = changes.takeNext()
            #expect(change.map { if case .remove = $0.action { true } else { false } } == isAnnounced)
            changes.end(key)
        }
        #expect(changes.isIdle)
    }

    /// The tier once kept the older entry, which was then served after the newer one had left the disk.
    @Test func anEntryWhoseNewerStoreIsRefusedForItsBytesIsRemoved() throws {
        var changes = makeChanges(running: 1, bytes: 100)
        let other = CacheKey("b")
        func add(_ count: Int, _ key: CacheKey) -> TierChanges.Added {
            changes.add(.put(log(count), DiskMetadata()), key) { _ in }
        }
        _ = add(60, other)
        _ = add(30, key)
        let refused = add(50, key)
        #expect(refused.isRefused && refused.beaten.count == 1 && changes.waitingBytes == 60)
        // The bytes that a store replaces make room for it.
        #expect(!add(90, other).isRefused && changes.isRemoving(key))
        #expect(next(&changes)?.key == other)
        changes.end(other)
        let removal = next(&changes)
        #expect(removal?.key == key && removal?.isRemoval == true)
        changes.end(key)
        #expect(changes.isIdle && !changes.isRemoving(key) && changes.takeNext() == nil)
    }

    /// A change that never ended once held up all later ones of its key, and everyone who waited for their end.
    @Test func nobodyWaitsBehindAChangeThatHangs() throws {
        var changes = makeChanges()
        func add(_ action: TierChanges.Action) -> TierChanges.Added { changes.add(action, key) { _ in } }
        _ = add(.put(log(10), DiskMetadata()))
        let hangingChange = next(&changes)
        let hanging = try #require(hangingChange)
        _ = add(.renew { $0 })
        _ = add(.remove)
        _ = add(.put(log(20), DiskMetadata()))
        #expect(!changes.isIdle)
        let late = changes.hang(hanging)
        #expect(late.map(\.isRemoval) == [false, true] && changes.waitingBytes == 0)
        #expect(changes.isIdle && changes.hang(hanging).isEmpty)
        #expect(add(.put(log(1), DiskMetadata())).isRefused && add(.renew { $0 }).isRefused)
        let again = add(.remove)
        #expect(again.late.count == 1 && changes.isIdle && changes.takeNext() == nil)
        // Other keys go on.
        let other = CacheKey("b")
        #expect(!changes.add(.put(log(1), DiskMetadata()), other) { _ in }.isRefused)
        #expect(changes.takeNext()?.key == other && !changes.isIdle)
        changes.end(other)
        // Two newer stores were refused: the one that hangs is undone, by the removal that waits anyway. It is made when
        // the call has ended after all, and stores are possible again.
        changes.end(key)
        #expect(next(&changes)?.isRemoval == true && !changes.isIdle)
        #expect(!add(.put(log(1), DiskMetadata())).isRefused)
        changes.end(key)
        #expect(next(&changes)?.isStore == true)
        changes.end(key)
        #expect(changes.isIdle && !changes.isRemoving(key))
    }

    /// The bytes of a store that hangs once kept all other changes from beginning.
    @Test func aLargeStoreThatHangsKeepsNoOtherKeyFromBeginning() throws {
        var changes = makeChanges()
        _ = changes.add(.put(log(500), DiskMetadata()), key) { _ in }
        let hangingChange = next(&changes)
        let hanging = try #require(hangingChange)
        let other = CacheKey("b")
        _ = changes.add(.remove, other) { _ in }
        #expect(changes.takeNext() == nil)
        #expect(changes.hang(hanging).isEmpty && changes.runningBytes == 0)
        #expect(next(&changes)?.key == other)
        changes.end(other)
        changes.end(key)
        #expect(changes.isIdle && changes.runningBytes == 0 && changes.runningCount == 0)
    }

    /// Otherwise the older store would end after all, and stay.
    @Test(arguments: [true, false]) func aStoreThatHangsIsUndoneIfANewerOneWasRefused(waits: Bool) throws {
        var changes = makeChanges()
        _ = changes.add(.put(log(1), DiskMetadata()), key) { _ in }
        let hangingChange = next(&changes)
        let hanging = try #require(hangingChange)
        if waits { _ = changes.add(.put(log(2), DiskMetadata()), key) { _ in } }
        #expect(changes.hang(hanging).count == (waits ? 1 : 0))
        if !waits { #expect(changes.add(.put(log(2), DiskMetadata()), key) { _ in }.isRefused) }
        #expect(changes.isIdle && changes.isRemoving(key))
        changes.end(key)
        #expect(next(&changes)?.isRemoval == true)
        changes.end(key)
        #expect(changes.isIdle && changes.takeNext() == nil && !changes.isRemoving(key))
    }

    @Test func nobodyWaitsForATierOfWhichEveryCallHangs() throws {
        var changes = makeChanges(running: 2, bytes: 1000)
        let keys = (0..<4).map { CacheKey("\($0)") }
        for key in keys { _ = changes.add(.put(log(10), DiskMetadata()), key) { _ in } }
        let (firstChange, secondChange) = (next(&changes), next(&changes))
        let (first, second) = (try #require(firstChange), try #require(secondChange))
        #expect(changes.hang(first).isEmpty && !changes.isIdle)
        #expect(Set(changes.hang(second).map(\.key)) == Set(keys[2...]) && changes.isIdle)
        #expect(changes.add(.put(log(1), DiskMetadata()), keys[3]) { _ in }.isRefused)
        #expect(changes.add(.remove, keys[3]) { _ in }.late.count == 1)
        changes.end(first.key)
        #expect(next(&changes)?.key == keys[3] && changes.takeNext() == nil)
        changes.end(keys[3])
        changes.end(second.key)
        #expect(changes.isIdle && changes.runningCount == 0 && changes.waitingBytes == 0)
    }

    /// Another program's removal was once without effect if the store ended just before this program learned of it.
    @Test func aStoreThatHasJustEndedIsUndone() throws {
        var changes = makeChanges()
        func undo(_ key: CacheKey, at now: Duration) -> Bool {
            !changes.add(.undo, key, at: now) { _ in }.beaten.isEmpty
        }
        _ = changes.add(.put(log(10), DiskMetadata()), key) { _ in }
        #expect(next(&changes)?.isStore == true)
        changes.end(key, at: .seconds(10))
        #expect(!undo(key, at: .seconds(11)) && next(&changes)?.isRemoval == true)
        changes.end(key, at: .seconds(11))
        #expect(undo(key, at: .seconds(13)) && undo(CacheKey("b"), at: .seconds(11)) && changes.isIdle)
        // Only so many are remembered.
        for number in 0..<300 {
            _ = changes.add(.put(log(1), DiskMetadata()), CacheKey("\(number)")) { _ in }
            #expect(next(&changes) != nil)
            changes.end(CacheKey("\(number)"), at: .seconds(20))
        }
        #expect(undo(CacheKey("0"), at: .seconds(20)) && !undo(CacheKey("299"), at: .seconds(20)))
    }

    @Test func anEarlierPutThatComesLateIsBeatenByALaterOne() throws {
        var changes = makeChanges()
        let number = changes.reserve(key)
        _ = changes.add(.put(log(10), DiskMetadata()), key) { _ in }
        let laterChange = next(&changes)
        let later = try #require(laterChange)
        changes.end(later.key)
        #expect(changes.add(.put(log(10), DiskMetadata()), key, number: number) { _ in }.beaten.count == 1)
        changes.endReservation(key)
        #expect(changes.isIdle && changes.takeNext() == nil)
    }

    @Test func theBytesAndNumberOfWaitingChangesAreLimited() {
        var changes = makeChanges(running: 0)
        let other = CacheKey("b")
        #expect(!changes.add(.put(log(500), DiskMetadata()), key) { _ in }.isRefused, "one may always wait")
        #expect(changes.add(.put(log(1), DiskMetadata()), other) { _ in }.isRefused)
        #expect(!changes.add(.remove, other) { _ in }.isRefused)
        for _ in 0..<9_998 { _ = changes.add(.renew { $0 }, other) { _ in } }
        #expect(changes.add(.remove, other) { _ in }.isRefused)
    }

    /// The bodies of 32 stores, of the greatest length, were once in memory at a time.
    @Test func theBytesOfRunningChangesAreLimited() {
        var changes = makeChanges(running: 8)
        let keys = (0..<4).map { CacheKey("\($0)") }
        func add(_ length: Int, _ key: CacheKey) { _ = changes.add(.put(log(length), DiskMetadata()), key) { _ in } }
        add(60, keys[0])
        #expect(changes.takeNext()?.key == keys[0] && changes.runningBytes == 60)
        add(60, keys[1])
        add(40, keys[2])
        #expect(changes.takeNext() == nil, "the first that waits does not fit")
        changes.end(keys[0])
        #expect(changes.takeNext()?.key == keys[1] && changes.takeNext()?.key == keys[2])
        #expect(changes.runningBytes == 100)
        _ = changes.add(.remove, keys[3]) { _ in }
        #expect(changes.takeNext()?.key == keys[3], "removals take no room")
        for key in keys[1...] { changes.end(key) }
        add(500, keys[0])
        #expect(changes.takeNext()?.key == keys[0], "one may always run")
        changes.end(keys[0])
        #expect(changes.runningBytes == 0 && changes.isIdle)
    }

    @Test(arguments: [UInt64(1), 2, 3]) func everyChangeIsAnsweredAndChangesOfAKeyNeverOverlap(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var changes = makeChanges(running: 3, bytes: 200)
        let keys = (0..<4).map { CacheKey("\($0)") }
        var (given, running) = (0, [TierChanges.Change]())
        var hanging: Set<UInt64> = []
        // How often each change was answered.
        let answers = Guarded<[Int: Int]>([:])
        var reserved: [(CacheKey, UInt64)] = []
        for turn in 0..<5000 {
            let answer: @Sendable (WebImageError?) -> Void = { _ in answers.withLock { $0[turn, default: 0] += 1 } }
            let key = keys[Int.random(in: 0..<4, using: &random)]
            var added: TierChanges.Added?
            switch Int.random(in: 0..<10, using: &random) {
            case 0: added = changes.add(.put(log(Int.random(in: 0..<90, using: &random)), DiskMetadata()), key, answer)
            case 1: added = changes.add(.renew { $0 }, key, answer)
            case 2: added = changes.add(.remove, key, answer)
            case 3: reserved.append((key, changes.reserve(key)))
            case 4:
                guard let (key, number) = reserved.popLast() else { continue }
                added = changes.add(.put(log(5), DiskMetadata()), key, number: number, answer)
                changes.endReservation(key)
            case 5: added = changes.add(.undo, key, answer)
            case 6, 7:
                if let change = changes.takeNext() {
                    #expect(!running.contains { $0.key == change.key })
                    running.append(change)
                }
            case 8:
                guard let change = running.randomElement(using: &random) else { continue }
                hanging.insert(change.number)
                for late in changes.hang(change) { late.then(nil) }
            default:
                guard !running.isEmpty else { continue }
                let change = running.remove(at: Int.random(in: 0..<running.count, using: &random))
                changes.end(change.key)
                change.then(nil)
            }
            if let added {
                given += 1
                for change in added.beaten + added.late { change.then(nil) }
                if added.isRefused { answer(nil) }
            }
            #expect(running.count == changes.runningCount && running.count <= 3)
            #expect(changes.waitingBytes >= 0 && changes.waitingBytes <= 200)
            let timely = running.filter { !hanging.contains($0.number) }
            #expect(changes.runningBytes == timely.reduce(0) { $0 + $1.length } && changes.runningBytes <= 200)
        }
        for (key, _) in reserved { changes.endReservation(key) }
        while !running.isEmpty || !changes.isIdle {
            for change in running {
                changes.end(change.key)
                change.then(nil)
            }
            running = []
            while let change = changes.takeNext() { running.append(change) }
        }
        #expect(given == answers.withLock(\.count) && answers.withLock { $0.values.allSatisfy { $0 == 1 } })
        #expect(changes.waitingBytes == 0 && changes.runningBytes == 0)
    }
}
