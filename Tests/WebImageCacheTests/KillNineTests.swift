import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Processes that write to the same cache directory are killed (SIGKILL), again and again.
struct KillNineTests {
    private static var rounds: Int { getenv("WEBIMAGE_SOAK") == nil ? 100 : 2000 }

    @Test func aKilledProcessLeavesNoWrongEntryAndNothingForGood() async throws {
        let folder = try Scratch()
        var random = SeededGenerator(seed: 2026)
        var (intact, missing, unfinished) = (0, 0, 0)
        for round in 0..<Self.rounds {
            let worker = try KillWorker(directory: folder.path, seed: random.next() >> 1)
            // The worker is killed at a random moment while it writes its first or later entries.
            let isAlive = worker.waitUntilItWrites(random.next() % 4000)
            #expect(worker.kill() && isAlive, "round \(round): the worker ended by itself")

            unfinished += worker.unfinishedCount
            let report = try CacheKillWorker.check(directory: folder.path)
            try #require(report.wrong == 0, "round \(round)")
            let onDisk = try allocatedBytes(in: folder.path + "/default/v1")
            #expect(report.used.bytes >= onDisk - report.corrupt * 200_000, "round \(round)")
            #expect(onDisk <= CacheKillWorker.limit.bytes, "round \(round)")
            intact += report.intact
            missing += report.missing
        }
        #expect(intact > Self.rounds, "hardly anything was stored, so that nothing could be wrong")
        #expect(missing > 0)
        #expect(unfinished > 0, "no worker was killed while it wrote")
        try await expectOrder(in: folder.path)
    }

    /// Two processes write to one directory and share one limit.
    @Test func twoProcessesKeepOneLimitAndReadWhatWasStored() async throws {
        let folder = try Scratch()
        let isSoak = getenv("WEBIMAGE_SOAK") != nil
        let end = SystemClock.shared.now + .seconds(isSoak ? 60 : 0)
        let workers = try [1, 2].map { try KillWorker(directory: folder.path, seed: $0) }
        for worker in workers { #expect(worker.waitUntilItWrites(100)) }
        var peak = 0
        // On a busy machine it takes longer until the cache is more than half full.
        var round = 0
        while round < 300 || SystemClock.shared.now < end
            || round < 15_000 && peak <= CacheKillWorker.limit.bytes / 2
        {
            round += 1
            peak = max(peak, try most(in: folder.path, workers))
        }
        // Room that a killed process had reserved does not count for long.
        #expect(workers[0].kill(), "it ended by itself: it read what was never stored")
        let last = round + 100
        var peakOfOne = 0
        while round < last || round < last + 15_000 && peakOfOne <= CacheKillWorker.limit.bytes / 2 {
            round += 1
            peakOfOne = max(peakOfOne, try most(in: folder.path, [workers[1]]))
        }
        #expect(workers[1].kill(), "it ended by itself: it read what was never stored")
        print("the limit is \(CacheKillWorker.limit.bytes) bytes; the most seen was \(peak), in \(round) looks")
        for peak in [peak, peakOfOne] {
            #expect(peak <= CacheKillWorker.limit.bytes)
            #expect(peak > CacheKillWorker.limit.bytes / 2)
        }
        #expect(try CacheKillWorker.check(directory: folder.path).wrong == 0)
        try await expectOrder(in: folder.path)
    }

    /// The bytes that the entries take while the workers write.
    private func most(in folder: String, _ workers: [KillWorker]) throws -> Int {
        let used = try allocatedBytes(in: folder + "/default/v1")
        guard used > CacheKillWorker.limit.bytes else { return used }
        // The sum may contain files that were removed and files that were added during the count, so it is counted
        // again while the workers stand still.
        for worker in workers { worker.stop() }
        defer { for worker in workers { worker.goOn() } }
        return try allocatedBytes(in: folder + "/default/v1")
    }

    /// Checks that after maintenance nothing is left of killed processes, and that all entries are intact.
    private func expectOrder(in directory: String) async throws {
        let cache = DiskCache(DiskCacheConfiguration(directory: directory), executor: ThreadPool(name: "t", width: 1))
        try await cache.removeExpired()
        #expect(temporaryFiles(in: directory + "/default/v1").isEmpty)
        // Only the mark of this cache is left.
        #expect(try PosixFileSystem().names(in: directory + "/default/v1/owners").count == 1)
        _ = try await cache.verify()
        let second = try await cache.verify()
        #expect(second.checked > 0)
        #expect(second.bad == 0 && second.orphans == 0)
        #expect(cache.fault() == nil)
    }
}

/// A process that runs the program of `Tests/KillWorker`, whose executable is beside the tests'.
private struct KillWorker {
    private let process: pid_t
    private let versionDirectory: String

    /// Stops the process, and returns once it stands still.
    func stop() {
        var status: Int32 = 0
        send(SIGSTOP, to: process)
        waitpid(process, &status, WUNTRACED)
    }

    func goOn() { send(SIGCONT, to: process) }

    init(directory: String, seed: UInt64) throws {
        versionDirectory = directory + "/default/v1"
        guard let tests = realpath("/proc/self/exe", nil) else { throw WebImageError(.fileNotFound, "no executable") }
        defer { free(tests) }
        let folder = String(cString: tests).split(separator: "/").dropLast().map { "/" + $0 }.joined()
        let words = ["\(folder)/kill-worker", directory, "\(seed)"]
        process = try PeerProcess.spawn(words, input: 0, output: 1, errors: 2)
    }

    /// Waits until the worker has put its mark into the directory, and for some more turns, but for a tenth of a second
    /// at most.
    ///
    /// - Returns: false if the worker has ended.
    func waitUntilItWrites(_ turns: UInt64) -> Bool {
        let files = PosixFileSystem()
        while !((try? files.names(in: versionDirectory + "/owners")) ?? []).contains(where: {
            $0.hasPrefix("\(process)-")
        }) {
            if hasEnded { return false }
            _ = sched_yield()
        }
        // On a busy machine a turn may take milliseconds.
        let end = SystemClock.shared.now + .milliseconds(100)
        for _ in 0..<turns where SystemClock.shared.now < end { _ = sched_yield() }
        return !hasEnded
    }

    private var hasEnded: Bool {
        var information = siginfo_t()
        // WNOWAIT leaves the process to be reaped later.
        let result = waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT)
        return result != 0 || information.si_signo != 0
    }

    /// - Returns: whether the signal ended the process.
    func kill() -> Bool {
        send(SIGKILL, to: process)
        var status: Int32 = 0
        while waitpid(process, &status, 0) == -1 && errno == EINTR {}
        return status & 0x7F == SIGKILL
    }

    /// The number of entries that the process was writing.
    var unfinishedCount: Int {
        temporaryFiles(in: versionDirectory).count { $0.name.hasPrefix(".\(process)-") }
    }
}

/// The system's `kill`, which methods of this name hide.
func send(_ signal: Int32, to process: pid_t) { _ = kill(process, signal) }
