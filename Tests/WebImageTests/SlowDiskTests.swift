import Logging
import Synchronization
import Testing
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

@testable import WebImage

/// Stores of originals when the network is faster than the disk, or the disk stalls.
@Suite struct SlowDiskTests {
    private static let limit = 1000

    /// A tier whose writes make progress and finish when a test says so.
    private final class HeldDisk: OriginalTier {
        final class Write: TierWrite {
            private struct State {
                var progress: (@Sendable () -> Void)?
                var then: (@Sendable (Result<Duration, WebImageError>) -> Void)?
                var priority: LoadPriority?
                var hasEnded = false
            }

            private let state = Guarded(State())

            var limitsItself: Bool { false }
            var hasBegun: Bool { state.withLock { $0.then != nil } }
            var hasEnded: Bool { state.withLock { $0.hasEnded } }
            var priority: LoadPriority? { state.withLock { $0.priority } }

            func announce() {}
            func end() { state.withLock { $0.hasEnded = true } }

            func write(
                _ log: ByteLog, _ metadata: DiskMetadata, _ priority: LoadPriority,
                progress: @escaping @Sendable () -> Void,
                then: @escaping @Sendable (Result<Duration, WebImageError>) -> Void
            ) {
                state.withLock { ($0.progress, $0.then, $0.priority) = (progress, then, priority) }
            }

            func writeSome() { state.withLock { $0.progress }?() }
            func finish() { state.withLock { $0.then }?(.success(.seconds(1))) }
        }

        var source: ImageSource { .disk }

        func find(
            _ key: CacheKey, _ part: OriginalPart, for reader: any TierReader,
            _ then: @escaping @Sendable (FoundOriginal?) -> Void
        ) { then(nil) }

        func reserve(_ key: CacheKey, _ log: ByteLog?, _ metadata: DiskMetadata) -> any TierWrite { Write() }

        func renew(
            _ key: CacheKey, _ change: @escaping @Sendable (DiskMetadata) -> DiskMetadata?,
            _ then: @escaping @Sendable () -> Void
        ) { then() }

        func remove(_ key: CacheKey, _ then: @escaping @Sendable () -> Void) { then() }
    }

    /// One original that is being stored, with the outcomes that its caller was told.
    private final class Stored: Sendable {
        let write: HeldDisk.Write
        private let told = Guarded<[Result<Duration, WebImageError>]>([])

        var outcomes: [Result<Duration, WebImageError>] { told.withLock { $0 } }
        var error: WebImageError? { if case .failure(let error)? = outcomes.first { error } else { nil } }

        init(_ originals: OriginalStore, _ length: Int, isAwaited: Bool) throws {
            let kept = KeptOriginal(metadata: DiskMetadata(), tiers: [HeldDisk()])
            let log = ByteLog(bytes: [UInt8](repeating: 1, count: length))
            let pending = PendingOriginal(kept, log: log, key: CacheKey("a"))
            write = try #require(pending.writes.first as? HeldDisk.Write)
            originals.announce(pending).store(log, isAwaited: isAwaited) { outcome in
                self.told.withLock { $0.append(outcome) }
            }
        }
    }

    /// Runs work at once.
    private struct Immediately: WorkExecutor {
        func run(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void) { work() }
    }

    private let clock = ManualClock()
    private let transport = FakeTransport(.inline)
    private let downloader: ImageDownloader
    private let originals: OriginalStore

    init() {
        transport.answer("http://h/a", .bytes([1, 2, 3]))
        downloader = ImageDownloader(
            configuration: DownloadConfiguration(), transport: transport, clock: clock, executor: Immediately(),
            files: PosixFileSystem())
        originals = OriginalStore(
            observer: LoadObserver(logger: Logger(label: "test")), clock: clock, executor: Immediately(),
            brake: downloader.brake, limit: Self.limit)
    }

    private func store(_ length: Int, isAwaited: Bool = true) throws -> Stored {
        try Stored(originals, length, isAwaited: isAwaited)
    }

    /// Whether a new transfer of the lowest priority would be paused.
    private var areTransfersStanding: Bool {
        let download = downloader.download(DownloadRequest(url: "http://h/a"), priority: .veryLow)
        defer { download.cancel() }
        return download.log.end == nil
    }

    private var isFinished: Bool {
        let answer = Guarded(false)
        originals.whenStored(nil) { answer.withLock { $0 = true } }
        return answer.withLock { $0 }
    }

    /// Of a list of large pictures, those that arrived while 256 MiB waited for the disk were once not stored.
    @Test func anAwaitedStoreBeginsHoweverManyBytesWait() throws {
        let stores = try (0..<5).map { _ in try store(400) }
        #expect(stores.allSatisfy { $0.write.hasBegun && $0.outcomes.isEmpty })
        #expect(stores.last?.write.priority == .high)
        for store in stores { store.write.finish() }
        #expect(stores.allSatisfy { $0.error == nil && $0.outcomes.count == 1 && $0.write.hasEnded })
        #expect(isFinished)
    }

    @Test func anUnawaitedStoreIsSkippedWhileTooManyBytesWait() throws {
        let stores = try (0..<3).map { _ in try store(400, isAwaited: false) }
        #expect(stores[..<2].allSatisfy { $0.write.hasBegun })
        #expect(!stores[2].write.hasBegun && stores[2].error?.code == .cacheIO && stores[2].write.hasEnded)
    }

    @Test func transfersStandWhileHalfOfTheLimitIsWritten() throws {
        let first = try store(400)
        #expect(!areTransfersStanding)
        let second = try store(400)
        #expect(areTransfersStanding)
        let third = try store(400)
        first.write.finish()
        #expect(areTransfersStanding)
        second.write.finish()
        #expect(!areTransfersStanding)
        third.write.finish()
    }

    @Test func aDiskThatGoesOnSlowlyIsWaitedFor() throws {
        let stores = try [store(800), store(800)]
        for _ in 0..<10 {
            clock.advance(by: .seconds(59))
            stores[0].write.writeSome()
        }
        #expect(stores.allSatisfy { $0.outcomes.isEmpty } && areTransfersStanding)
        clock.advance(by: .seconds(59))
        stores[0].write.finish()
        clock.advance(by: .seconds(59))
        #expect(stores[1].outcomes.isEmpty)
        stores[1].write.finish()
        #expect(stores[1].error == nil && isFinished)
        // No timer is left.
        clock.advance(by: .seconds(600))
        #expect(clock.waitingCount == 0)
    }

    /// A caller that waited for a stalled disk once waited for ever.
    @Test func aStalledDiskIsGivenUpAfterAMinute() throws {
        let stores = try [store(800), store(800)]
        clock.advance(by: .seconds(59))
        #expect(stores.allSatisfy { $0.outcomes.isEmpty })
        clock.advance(by: .seconds(1))
        #expect(stores.allSatisfy { $0.error?.code == .cacheIO && $0.error?.message.contains("60 seconds") == true })
        #expect(isFinished && !areTransfersStanding)
        // The bytes can be found in memory until they are written.
        #expect(stores.allSatisfy { !$0.write.hasEnded })
        let late = try store(10)
        #expect(late.error?.message.contains("60 seconds") == true && !late.write.hasBegun)
        // The disk makes progress again.
        stores[0].write.writeSome()
        #expect(areTransfersStanding)
        let next = try store(10)
        for store in stores + [next] { store.write.finish() }
        #expect(stores.allSatisfy { $0.outcomes.count == 1 && $0.write.hasEnded } && next.error == nil)
        #expect(!areTransfersStanding && isFinished)
    }
}

/// A manager with a stalled disk.
@Suite struct StalledDiskTests {
    @Test func aPrefetchFailsWhenTheDiskStalls() async throws {
        let (folder, files, clock) = (try TemporaryFolder(), FaultyFileSystem(), ManualClock())
        let bench = TestBench(disk: folder.path, clock: clock, files: files)
        bench.answer("http://pictures.test/a.png", with: try Fixture.png(40, 30), type: "image/png")
        let write = files.delay(.write)
        async let end = ImagePrefetcher(manager: bench.manager).prefetch(["http://pictures.test/a.png"]).finished()
        await write.made()
        clock.advance(by: .seconds(60))
        #expect(await end.failed == 1)
        write.release()
        await bench.manager.finishStores()
    }
}
