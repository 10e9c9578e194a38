import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// Bodies that are longer than their memory limit: the temporary file, a disk that fails, and the memory budget that
/// all bodies share.
@Suite struct ByteLogSpillTests {
    private let bench = ByteLogBench()

    // MARK: A disk that fails

    /// Each log once had a bound of 16 MiB of its own. Together they could exceed the memory of a process when the disk
    /// was full.
    @Test func whenTheDiskFailsAllBodiesTogetherHaveABound() {
        bench.files.failAll(.write, with: .error(28))
        let logs = (0..<4).map { _ in bench.log(memory: 64 << 10) }
        var kept = 0
        for log in logs {
            var last = "proceed"
            for _ in 0..<200 where last == "proceed" {
                last = bench.append([UInt8](repeating: 1, count: 64 << 10), to: log).name
                log.publish()
                bench.executor.runAll()
                if last == "proceed" { kept += 64 << 10 }
            }
        }
        #expect(kept > 12 << 20 && kept <= 17 << 20)
    }

    @Test(arguments: [
        (FaultyFileSystem.Call.openTemporary, 13, "cacheIO"), (.write, 28, "noSpace"), (.write, 5, "cacheIO"),
    ])
    func whenTheDiskFailsALogKeepsItsBytesUpToABound(_ call: FaultyFileSystem.Call, _ number: Int32, _ code: String) {
        bench.files.failAll(call, with: .error(number))
        let log = bench.log(memory: 64 << 10, emergency: 256 << 10)
        let body = pattern(1 << 20)
        var written = 0
        var results: Set<String> = []
        var last = "proceed"
        while last == "proceed", written < body.count {
            last = bench.append(Array(body[written..<written + (32 << 10)]), to: log).name
            written += 32 << 10
            log.publish()
            bench.executor.runAll()
            results.insert(last)
        }
        #expect(results == ["proceed", code])
        #expect(written > 256 << 10 && written < 512 << 10)
        #expect(bench.everything(in: log).0 == Array(body[..<written]))
        // The log's memory now counts against its own bound, no longer against the shared budget.
        #expect(bench.budget.used <= 192 << 10)
    }

    @Test func aFileThatCannotBeReadIsATypedFailure() {
        let log = bench.log(memory: 0)
        _ = bench.append(pattern(100_000), to: log)
        log.finish(.complete)
        bench.executor.runAll()
        bench.files.failAll(.read, with: .error(5))
        #expect(bench.everything(in: log) == ([], "cacheIO"))
        #expect(throws: WebImageError.self) { try log.collect() }
        bench.files.heal()
        #expect(bench.everything(in: log) == (pattern(100_000), "complete"))
    }

    /// Bytes that were charged to the budget before the failure was known are given back once it is known.
    @Test func noWriterWaitsForAFileThatHasFailed() {
        let budget = TransferMemoryBudget(limit: 256 << 10)
        bench.files.failAll(.openTemporary, with: .error(13))
        let log = bench.log(budget: budget)
        for _ in 0..<64 {
            let flow = bench.append(pattern(32 << 10), to: log).name
            bench.executor.runAll()
            #expect(flow != "pause" || budget.used <= 256 << 10)
        }
        log.finish(.complete)
        #expect(bench.everything(in: log).0.count == 64 * 32 << 10 && budget.used <= 256 << 10)
    }

    @Test func memoryThatNoFileCanRelieveIsGivenBackWithItsLog() {
        let budget = TransferMemoryBudget(limit: 256 << 10)
        bench.files.failAll(.openTemporary, with: .error(28))
        do {
            let log = bench.log(budget: budget)
            for _ in 0..<384 {
                _ = bench.append(pattern(32 << 10), to: log)
                bench.executor.runAll()
            }
            log.finish(.complete)
            // 12 of 16 MiB are taken.
            #expect(!budget.strand(8 << 20))
        }
        #expect(budget.strand(8 << 20))
    }

    @Test func aFailingDiskReleasesAWriterThatWaitsForIt() {
        let budget = TransferMemoryBudget(limit: 256 << 10)
        let log = bench.log(memory: 0, budget: budget)
        bench.files.failAll(.write, with: .error(28))
        var flow = "proceed"
        while flow == "proceed" { flow = bench.append(pattern(32 << 10), to: log).name }
        #expect(flow == "pause")
        let released = Counter()
        budget.whenBelow { released.increment() }
        #expect(released.value == 0)
        bench.executor.runAll()
        #expect(released.value == 1)
    }

    // MARK: The budget

    @Test func overTheBudgetALogWritesItsFileBeforeItsOwnLimit() {
        let budget = TransferMemoryBudget(limit: 400 << 10)
        let first = bench.log(budget: budget)
        let second = bench.log(budget: budget)
        _ = bench.append(pattern(300 << 10), to: first)
        first.publish()
        #expect(bench.append(pattern(200 << 10), to: second).name == "pause")
        #expect(bench.executor.waitingCount > 0)
        bench.executor.runAll()
        #expect(budget.isOver == false)
        #expect(bench.append(pattern(10), to: second).name == "proceed")
        second.finish(.complete)
        #expect(bench.everything(in: second).0.count == (200 << 10) + 10)
    }

    @Test func logsThatKeepTheirBytesDoNotBlockOthers() {
        let budget = TransferMemoryBudget(limit: 1 << 20)
        var logs: [ByteLog] = []
        for _ in 0..<200 {
            let log = bench.log(budget: budget)
            if case .pause = bench.append(pattern(50_000), to: log) { bench.executor.runAll() }
            #expect(budget.isOver == false)
            log.finish(.complete)
            logs.append(log)
        }
        bench.executor.runAll()
        #expect(logs.allSatisfy { bench.everything(in: $0) == (pattern(50_000), "complete") })
    }
}
