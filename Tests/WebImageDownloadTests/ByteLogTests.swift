import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

extension ByteLog.AppendResult {
    var name: String {
        switch self {
        case .proceed: "proceed"
        case .pause: "pause"
        case .full(let error): error.code.name
        }
    }
}

extension ByteLog.End {
    var name: String {
        switch self {
        case .complete: "complete"
        case .failed(let error): error.code.name
        }
    }
}

/// Makes logs on a faulty file system. Their file work waits until the test runs it.
struct ByteLogBench {
    let executor = HeldExecutor()
    let files = FaultyFileSystem()
    let budget = TransferMemoryBudget(limit: 64 << 20)

    func log(memory: Int = 4 << 20, emergency: Int = 16 << 20, budget: TransferMemoryBudget? = nil) -> ByteLog {
        var settings = ByteLog.Settings()
        settings.memoryLimit = memory
        settings.emergencyLimit = emergency
        settings.directory = defaultTemporaryDirectory()
        return ByteLog(settings: settings, budget: budget ?? self.budget, files: files, executor: executor)
    }

    func append(_ bytes: [UInt8], to log: ByteLog) -> ByteLog.AppendResult {
        bytes.withUnsafeBytes { log.append($0) }
    }

    /// All bytes that can be read from `start` on, and what follows them: "wait", "complete" or the name of an error.
    func everything(in log: ByteLog, from start: Int = 0) -> ([UInt8], String) {
        var bytes: [UInt8] = []
        while true {
            switch log.read(at: start + bytes.count) {
            case .chunk(let chunk):
                #expect(chunk.range.lowerBound == start + bytes.count && chunk.count > 0)
                bytes += chunk.array
            case .wait: return (bytes, "wait")
            case .end(let end): return (bytes, end.name)
            }
        }
    }
}

@Suite struct ByteLogTests {
    private let bench = ByteLogBench()

    @Test func aLateReaderGetsTheSameBytes() {
        let body = pattern(300_000)
        let log = bench.log()
        #expect(bench.everything(in: log) == ([], "wait"))
        for start in stride(from: 0, to: body.count, by: 7001) {
            _ = bench.append(Array(body[start..<min(start + 7001, body.count)]), to: log)
            log.publish()
        }
        #expect(bench.everything(in: log) == (body, "wait"))
        log.finish(.complete)
        #expect(bench.everything(in: log) == (body, "complete"))
        #expect(bench.everything(in: log, from: 299_999) == ([body[299_999]], "complete"))
        #expect(bench.everything(in: log, from: 300_000) == ([], "complete"))
        #expect(bench.everything(in: log, from: .max / 2) == ([], "complete"))
    }

    @Test func readersSeeOnlyPublishedBytes() {
        let log = bench.log()
        _ = bench.append([1, 2, 3], to: log)
        #expect(log.receivedCount == 0)
        #expect(bench.everything(in: log) == ([], "wait"))
        log.publish()
        #expect(bench.everything(in: log) == ([1, 2, 3], "wait"))
    }

    @Test func aSmallBodyOfKnownLengthLiesInOnePieceOfThatSize() throws {
        let log = bench.log()
        log.setHead(ResponseHead(status: 200), expectedLength: 10_000)
        let body = pattern(10_000)
        _ = bench.append(Array(body[..<4000]), to: log)
        log.publish()
        _ = bench.append(Array(body[4000...]), to: log)
        log.finish(.complete)
        let whole = try log.contiguous()
        #expect(whole.range == 0..<10_000 && whole.array == body)
        guard case .chunk(let chunk) = log.read(at: 0) else { return #expect(Bool(false), "no chunk") }
        #expect(chunk.withUnsafeBytes { $0.baseAddress } == whole.withUnsafeBytes { $0.baseAddress })
        #expect(bench.budget.used == 10_000)
        #expect(log.head?.status == 200 && log.expectedLength == 10_000)
    }

    @Test func bytesThatAreThereAlreadyAreNotCopied() throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let log = ByteLog(bytes: bytes)
        let start = try #require(bytes.withUnsafeBytes { $0.baseAddress })
        #expect(try log.collect().withUnsafeBytes { $0.baseAddress } == start)
        for offset in [0, 1000, 99_999] {
            guard case .chunk(let chunk) = log.read(at: offset) else {
                Issue.record("nothing at \(offset)")
                continue
            }
            #expect(chunk.range == offset..<bytes.count && chunk.array == Array(bytes[offset...]))
            #expect(chunk.withUnsafeBytes { $0.baseAddress } == start + offset)
        }
        if case .end(.complete) = log.read(at: bytes.count) { return }
        Issue.record("there is no end")
    }

    /// Random appends, reads and writes to the temporary file, compared with an array.
    @Test(arguments: 1...12)
    func cursorsAgreeWithAnArrayWhereverTheBytesLie(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let body = pattern(600_000, seed: UInt64(seed))
        let budget = TransferMemoryBudget(limit: seed % 3 == 0 ? 300_000 : 64 << 20)
        var log: ByteLog? = bench.log(memory: [0, 100_000, 400_000][seed % 3], budget: budget)
        var cursors = [Int](repeating: 0, count: 4)
        var written = 0
        while let open = log, written < body.count || cursors.contains(where: { $0 < body.count }) {
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                guard written < body.count else { continue }
                let end = min(written + Int.random(in: 1...90_000, using: &random), body.count)
                if case .pause = bench.append(Array(body[written..<end]), to: open) {
                    // The writer waits until the files have been written.
                    #expect(budget.isOver)
                    bench.executor.runAll()
                    #expect(budget.isOver == false)
                }
                written = end
                if Bool.random(using: &random) { open.publish() }
                if written == body.count { open.finish(.complete) }
            case 2: bench.executor.runAll()
            default:
                let reader = Int.random(in: 0..<cursors.count, using: &random)
                let from =
                    Bool.random(using: &random) ? cursors[reader] : Int.random(in: 0...body.count, using: &random)
                switch open.read(at: from) {
                case .chunk(let chunk):
                    #expect(chunk.range.lowerBound == from && chunk.range.upperBound <= written)
                    #expect(chunk.array == Array(body[chunk.range]))
                    if from == cursors[reader] { cursors[reader] = chunk.range.upperBound }
                case .wait: #expect(from >= open.receivedCount)
                case .end: #expect(from == body.count && written == body.count)
                }
            }
        }
        #expect(try log?.collect() == body)
        bench.executor.runAll()
        log = nil
        #expect(budget.used == 0)
    }

    @Test func piecesThatLieApartAreReadTogether() {
        let body = pattern(600_000)
        let log = bench.log(memory: 200_000)
        for start in stride(from: 0, to: body.count, by: 50_000) {
            _ = bench.append(Array(body[start..<start + 50_000]), to: log)
            log.publish()
        }
        for isWritten in [false, true] {
            if isWritten { bench.executor.runAll() }
            for (start, wanted) in [(0, 150_000), (10, 599_990), (190_000, 100_000), (590_000, 50_000), (0, 1)] {
                guard case .chunk(let chunk) = log.read(at: start, together: wanted) else {
                    Issue.record("there is nothing at \(start)")
                    continue
                }
                #expect(chunk.range.lowerBound == start && chunk.array == Array(body[chunk.range]))
                #expect(chunk.count >= min(wanted, body.count - start))
            }
        }
    }

    @Test func bytesWrittenToTheFileTakeNoMemory() {
        let log = bench.log(memory: 128 << 10)
        _ = bench.append(pattern(1 << 20), to: log)
        log.finish(.complete)
        #expect(bench.budget.used >= 1 << 20)
        bench.executor.runAll()
        #expect(bench.budget.used <= 192 << 10)
        #expect(bench.files.count(of: .openTemporary) == 1)
        #expect(bench.everything(in: log) == (pattern(1 << 20), "complete"))
    }

    @Test func aWaiterIsCalledOnceWhenItsByteIsThere() {
        let log = bench.log()
        let calls = Counter()
        log.whenReadable(after: 5) { calls.increment() }
        _ = bench.append([1, 2, 3, 4, 5], to: log)
        log.publish()
        #expect(calls.value == 0)
        _ = bench.append([6], to: log)
        #expect(calls.value == 0)
        log.publish()
        #expect(calls.value == 1)
        _ = bench.append([7], to: log)
        log.finish(.complete)
        #expect(calls.value == 1)
        log.whenReadable(after: 100) { calls.increment() }
        #expect(calls.value == 2)
    }

    @Test func headAndEndCanBeWaitedFor() {
        let log = bench.log()
        let heads = Counter()
        let ends = Counter()
        log.whenHead { heads.increment() }
        log.whenEnded { ends.increment() }
        let interest = log.whenEnded { ends.increment() }
        interest.cancel()
        log.setHead(ResponseHead(status: 200), expectedLength: nil)
        log.publish()
        #expect(heads.value == 1 && ends.value == 0)
        log.finish(.failed(.cancelled))
        #expect(heads.value == 1 && ends.value == 1)
    }

    /// The waiter reads and waits again from inside its callback. This would deadlock if the log held its lock
    /// meanwhile.
    @Test func aWaiterMayUseTheLogThatCallsIt() {
        let log = bench.log()
        let seen = Guarded<[Int]>([])
        @Sendable func follow() {
            let count = log.receivedCount
            seen.withLock { $0.append(count) }
            if log.end == nil { log.whenReadable(after: count, run: follow) }
        }
        follow()
        for _ in 0..<3 {
            _ = bench.append([0], to: log)
            log.publish()
        }
        log.finish(.complete)
        #expect(seen.withLock { $0 } == [0, 1, 2, 3, 3])
    }

    @Test func anAbortKeepsOnlyPublishedBytes() {
        let budget = TransferMemoryBudget(limit: 1 << 20)
        do {
            let log = bench.log(budget: budget)
            _ = bench.append([1, 2], to: log)
            log.publish()
            _ = bench.append([3], to: log)
            log.abort(WebImageError(.idleTimeout, "too late"))
            _ = bench.append(pattern(200_000), to: log)
            log.publish()
            log.finish(.complete)
            #expect(bench.everything(in: log) == ([1, 2], "idleTimeout"))
        }
        #expect(budget.used == 0)
    }

    @Test func goodBytesComeBeforeTheFailure() {
        let log = bench.log()
        _ = bench.append([9, 8], to: log)
        log.finish(.failed(WebImageError(.truncatedBody, "cut")))
        #expect(bench.everything(in: log) == ([9, 8], "truncatedBody"))
    }

    @Test func allBytesWaitsAndReadsTheFileToo() async throws {
        let pool = ThreadPool(name: "test", width: 2)
        var settings = ByteLog.Settings()
        settings.memoryLimit = 100_000
        let log = ByteLog(settings: settings, budget: bench.budget, files: PosixFileSystem(), executor: pool)
        let body = pattern(3 << 20)
        async let whole = log.allBytes()
        for start in stride(from: 0, to: body.count, by: 65536) {
            _ = bench.append(Array(body[start..<start + 65536]), to: log)
            log.publish()
        }
        log.finish(.complete)
        #expect(try await whole.array == body)
    }

    @Test func aFailedLogThrowsItsErrorForAllBytes() async {
        let log = bench.log()
        log.finish(.failed(WebImageError(.dnsFailed, "no such host")))
        let error = await #expect(throws: WebImageError.self) { try await log.allBytes() }
        #expect(error?.code == .dnsFailed)
    }

    /// One writer and several readers on threads of their own, each at its own pace.
    @Test func readersOnOtherThreadsSeeEveryByteOnce() async {
        let pool = ThreadPool(name: "test", width: 3)
        var settings = ByteLog.Settings()
        settings.memoryLimit = 200_000
        let log = ByteLog(settings: settings, budget: bench.budget, files: PosixFileSystem(), executor: pool)
        let body = pattern(2 << 20)
        let sums = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    var offset = 0
                    while true {
                        switch log.read(at: offset) {
                        case .chunk(let chunk):
                            if chunk.array != Array(body[chunk.range]) { return -1 }
                            offset = chunk.range.upperBound
                        case .wait:
                            let from = offset
                            await withCheckedContinuation { continuation in
                                log.whenReadable(after: from) { continuation.resume() }
                            }
                        case .end: return offset
                        }
                    }
                }
            }
            group.addTask {
                var random = SeededGenerator(seed: 3)
                var start = 0
                while start < body.count {
                    let end = min(start + Int.random(in: 1...50_000, using: &random), body.count)
                    _ = body[start..<end].withUnsafeBytes { log.append($0) }
                    log.publish()
                    start = end
                }
                log.finish(.complete)
                return body.count
            }
            var sums: [Int] = []
            for await sum in group { sums.append(sum) }
            return sums
        }
        #expect(sums == [Int](repeating: body.count, count: 7))
    }
}
