import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// A store of partial bodies in memory. Like the one on disk it refuses a second claim of a body, and any call after
/// the claim's end.
final class MemoryPartialStore: PartialBodyStore {
    struct Kept: Equatable {
        var metadata: [UInt8]
        var bytes: [UInt8]
    }

    private struct State {
        var kept: [CacheKey: Kept] = [:]
        var claimed: Set<CacheKey> = []
        var room = Int.max
    }

    private let state = Guarded(State())

    subscript(key: CacheKey) -> Kept? { state.withLock { $0.kept[key] } }
    var claims: Int { state.withLock { $0.claimed.count } }

    func limit(to room: Int) { state.withLock { $0.room = room } }

    func put(_ key: CacheKey, _ kept: Kept) { state.withLock { $0.kept[key] = kept } }

    func mayHave(_ key: CacheKey) -> Bool { self[key] != nil }

    func claim(_ key: CacheKey, creates: Bool) -> (any PartialBody)? {
        state.withLock { state in
            guard creates || state.kept[key] != nil, state.claimed.insert(key).inserted else { return nil }
            return Body(key, self)
        }
    }

    private final class Body: PartialBody {
        private let key: CacheKey
        private let store: MemoryPartialStore
        private let isOpen = Guarded(true)

        init(_ key: CacheKey, _ store: MemoryPartialStore) {
            self.key = key
            self.store = store
        }

        deinit { release() }

        var metadata: [UInt8]? { store[key]?.metadata }
        var length: Int { store[key]?.bytes.count ?? 0 }

        func read(at offset: Int) throws(WebImageError) -> [UInt8] {
            Array(store[key]?.bytes.dropFirst(offset).prefix(1000) ?? [])
        }

        func restart(metadata: [UInt8]) -> Bool {
            guard isOpen.withLock({ $0 }) else { return false }
            store.put(key, Kept(metadata: metadata, bytes: []))
            return true
        }

        func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
            guard isOpen.withLock({ $0 }) else { return false }
            return store.state.withLock { state in
                guard let kept = state.kept[key], kept.bytes.count + bytes.count <= state.room else { return false }
                state.kept[key]?.bytes.append(contentsOf: bytes)
                return true
            }
        }

        func release() { end(keeping: true) }
        func discard() { end(keeping: false) }

        private func end(keeping: Bool) {
            guard
                isOpen.withLock({ isOpen in
                    defer { isOpen = false }
                    return isOpen
                })
            else { return }
            store.state.withLock { state in
                state.claimed.remove(key)
                if !keeping || state.kept[key]?.bytes.isEmpty ?? true { state.kept[key] = nil }
            }
        }
    }
}

@Suite struct PartialCopyTests {
    private let executor = HeldExecutor()
    private let store = MemoryPartialStore()
    private let key = CacheKey("a")
    private let bytes = pattern(400_000)

    private func makeLog() -> ByteLog {
        ByteLog(budget: TransferMemoryBudget(limit: 64 << 20), files: FaultyFileSystem(), executor: executor)
    }

    private func append(_ range: Range<Int>, to log: ByteLog) {
        bytes[range].withUnsafeBytes { _ = log.append($0) }
        log.publish()
    }

    private func makeCopy() -> PartialCopy { PartialCopy(key, store: store, executor: executor) }

    @Test func bytesOfTheLogAreCopiedInOrder() {
        let (copy, log) = (makeCopy(), makeLog())
        append(0..<300_000, to: log)
        copy.carryOut(.begin(metadata: [1]), log)
        executor.runAll()
        #expect(store[key] == .init(metadata: [1], bytes: Array(bytes[..<300_000])))
        append(300_000..<350_000, to: log)
        for _ in 0..<5 { copy.carryOut(.append, log) }
        append(350_000..<400_000, to: log)
        copy.carryOut(.release, log)
        #expect(executor.waitingCount == 1)
        executor.runAll()
        #expect(store[key]?.bytes == bytes && store.claims == 0)
    }

    @Test func unwrittenBytesAreAnnounced() {
        let unwritten = Guarded(0)
        let log = makeLog()
        let copy = PartialCopy(key, store: store, executor: executor) {
            unwritten.withLock { $0 += 1 }
            return { unwritten.withLock { $0 -= 1 } }
        }
        append(0..<300_000, to: log)
        copy.carryOut(.begin(metadata: [1]), log)
        copy.carryOut(.append, log)
        #expect(unwritten.withLock { $0 } == 1)
        executor.runAll()
        #expect(unwritten.withLock { $0 } == 0)
    }

    /// A program that learned of an interruption once found nothing to wait for, and exited before the bytes were
    /// written.
    @Test func aPromiseLastsUntilTheBytesAreWritten() {
        let unwritten = Guarded(0)
        let log = makeLog()
        let copy = PartialCopy(key, store: store, executor: executor) {
            unwritten.withLock { $0 += 1 }
            return { unwritten.withLock { $0 -= 1 } }
        }
        append(0..<300_000, to: log)
        let end = copy.promise()
        #expect(unwritten.withLock { $0 } == 1 && executor.waitingCount == 0)
        copy.close(.begin(metadata: [1]), log)
        end()
        #expect(unwritten.withLock { $0 } == 2)
        executor.runAll()
        #expect(unwritten.withLock { $0 } == 0 && store[key]?.bytes.count == 300_000)
    }

    @Test(arguments: [300_000, 400_000]) func nothingIsStoredOfABodyThatWasRemoved(count: Int) {
        let (copy, log) = (makeCopy(), makeLog())
        append(0..<300_000, to: log)
        copy.carryOut(.begin(metadata: [1]), log) { false }
        append(300_000..<count, to: log)
        copy.carryOut(.append, log)
        executor.runAll()
        #expect(store[key] == nil && store.claims == 0)
        copy.close(.begin(metadata: [1]), log) { false }
        executor.runAll()
        #expect(store[key] == nil && store.claims == 0)
    }

    @Test func aFinishedBodyLeavesNoCopy() {
        let (copy, log) = (makeCopy(), makeLog())
        append(0..<300_000, to: log)
        copy.carryOut(.begin(metadata: [1]), log)
        executor.runAll()
        copy.carryOut(.discard, log)
        executor.runAll()
        #expect(store[key] == nil && store.claims == 0)
    }

    /// Each step is a job of its own on the executor. Several steps may be asked for before the first has run.
    @Test func stepsKeepTheirOrderHoweverLateTheyRun() {
        let (copy, log) = (makeCopy(), makeLog())
        append(0..<300_000, to: log)
        copy.carryOut(.begin(metadata: [1]), log)
        copy.forget()
        copy.carryOut(.begin(metadata: [2]), log)
        copy.close(.release, log)
        executor.runAll()
        #expect(store[key]?.metadata == [2] && store[key]?.bytes.count == 300_000 && store.claims == 0)
    }

    @Test func aFailureWithoutACopyMakesOne() {
        let (copy, log) = (makeCopy(), makeLog())
        append(0..<100_000, to: log)
        log.finish(.failed(WebImageError(.connectionLost, "")))
        copy.close(.begin(metadata: [1]), log)
        executor.runAll()
        #expect(store[key]?.bytes.count == 100_000 && store.claims == 0)
    }

    @Test func anotherTransferContinuesAKeptCopy() throws {
        store.put(key, .init(metadata: [7], bytes: Array(bytes[..<100_000])))
        let (copy, log) = (makeCopy(), makeLog())
        #expect(copy.mayFind)
        let found = try #require(copy.find())
        #expect(found.length == 100_000 && found.metadata == [7])
        append(0..<100_000, to: log)
        append(100_000..<200_000, to: log)
        copy.carryOut(.append, log)
        executor.runAll()
        #expect(store[key]?.bytes == Array(bytes[..<200_000]))
        // Between two attempts of one load the claim may be released and taken again.
        copy.carryOut(.release, log)
        executor.runAll()
        #expect(store.claims == 0)
        append(200_000..<400_000, to: log)
        copy.carryOut(.append, log)
        executor.runAll()
        #expect(store[key] == .init(metadata: [7], bytes: bytes) && store.claims == 1)
    }

    @Test func aCopyThatOthersHaveReplacedIsNotContinued() {
        let (copy, log) = (makeCopy(), makeLog())
        append(0..<300_000, to: log)
        copy.carryOut(.begin(metadata: [1]), log)
        copy.carryOut(.release, log)
        executor.runAll()
        store.put(key, .init(metadata: [9], bytes: [1, 2, 3]))
        append(300_000..<400_000, to: log)
        copy.carryOut(.append, log)
        executor.runAll()
        #expect(store[key] == .init(metadata: [9], bytes: [1, 2, 3]) && store.claims == 0)
    }

    @Test func aFullStoreKeepsTheBytesWritten() {
        store.limit(to: 250_000)
        let (copy, log) = (makeCopy(), makeLog())
        append(0..<200_000, to: log)
        copy.carryOut(.begin(metadata: [1]), log)
        executor.runAll()
        append(200_000..<400_000, to: log)
        copy.carryOut(.append, log)
        copy.carryOut(.append, log)
        copy.carryOut(.release, log)
        executor.runAll()
        let kept = store[key]?.bytes ?? []
        #expect(kept.count >= 200_000 && kept.count <= 250_000 && kept == Array(bytes[..<kept.count]))
    }

    @Test func theFirstCopyKeepsItsClaim() {
        let (log, first, second) = (makeLog(), makeCopy(), makeCopy())
        append(0..<300_000, to: log)
        first.carryOut(.begin(metadata: [1]), log)
        second.carryOut(.begin(metadata: [2]), log)
        second.carryOut(.append, log)
        executor.runAll()
        #expect(store[key]?.metadata == [1] && store.claims == 1)
        second.carryOut(.release, log)
        executor.runAll()
        #expect(store[key]?.metadata == [1] && store.claims == 1)
    }

    @Test func aCopyThatIsLetGoGivesBackItsClaim() {
        do {
            let (copy, log) = (makeCopy(), makeLog())
            append(0..<300_000, to: log)
            copy.carryOut(.begin(metadata: [1]), log)
            executor.runAll()
            #expect(store.claims == 1)
        }
        #expect(store.claims == 0 && store[key]?.bytes.count == 300_000)
    }
}
