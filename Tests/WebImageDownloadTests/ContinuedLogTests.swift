import HTTPTypes
import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// One log with the beginning of a body from the disk and the rest from the network.
@Suite struct ContinuedLogTests {
    private let copying = HeldExecutor()
    private let spilling = HeldExecutor()
    private let budget = TransferMemoryBudget(limit: 1 << 20)
    private let store = MemoryPartialStore()
    private let body = pattern(5 << 20)

    private func makeLog() -> ByteLog {
        var settings = ByteLog.Settings()
        settings.memoryLimit = 256 << 10
        return ByteLog(settings: settings, budget: budget, files: PosixFileSystem(), executor: spilling)
    }

    /// A long beginning was once read into memory as a whole, however slowly the temporary file was written.
    @Test func aLongBeginningIsCopiedOnlyAsFastAsItFindsRoom() throws {
        let length = body.count - (100 << 10)
        store.put(CacheKey("a"), .init(metadata: [1], bytes: Array(body[..<length])))
        let claim = try #require(store.claim(CacheKey("a"), creates: false))
        let rest = ByteLog(bytes: Array(body[length...]))
        let target = makeLog()
        let begun = Guarded<[ByteLog?]>([])
        ContinuedLog(claim, rest: rest, into: target, executor: copying, budget: budget, limit: .max).start(
            ResponseHead(status: 200, headers: [.contentLength: "\(body.count)"])
        ) { log in begun.withLock { $0.append(log) } }
        copying.runAll()
        let taken = target.receivedCount
        #expect(taken >= 1 << 20 && taken < (1 << 20) + (256 << 10))
        #expect(budget.used < (1 << 20) + (256 << 10))
        #expect(begun.withLock { $0.isEmpty })
        while target.end == nil, copying.waitingCount + spilling.waitingCount > 0 {
            spilling.runAll()
            copying.runAll()
            #expect(budget.used < (1 << 20) + (256 << 10))
        }
        #expect(begun.withLock { $0.count == 1 && $0[0] === target })
        spilling.runAll()
        #expect(target.end?.name == "complete")
        #expect(try target.collect() == body)
    }
}
