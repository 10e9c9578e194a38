import Synchronization
import Testing
import WebImageCache
import WebImageCore
import WebImageSystem
import WebImageTesting

/// On a disk whose calls take long, only the caller waits.
struct DiskDelayTests {
    private let key = CacheKey("k")

    private func makeBench() throws -> Bench {
        let bench = try Bench()
        bench.executor.runAll()
        try bench.cache.store(CacheKey("there"), [9], metadata(9))
        return bench
    }

    /// Runs `work` on a thread of its own, and returns a gate that opens when it has ended.
    private func start(_ work: @escaping @Sendable () -> Void) -> Gate {
        let done = Gate()
        startThread(named: "wi-test") {
            work()
            done.open()
        }
        return done
    }

    @Test func aStoreThatTakesLongDelaysNoOther() throws {
        let bench = try makeBench()
        let write = bench.files.delay(.write)
        let done = start { _ = try? bench.cache.store(key, [1, 2], metadata(1)) }
        write.waitUntilMade()
        #expect(try bench.cache.read(CacheKey("there"))?.body == [9])
        #expect(try bench.cache.store(CacheKey("other"), [3], metadata(3)))
        #expect(try bench.cache.read(key) == nil)
        // An entry that is being written counts against the limit.
        #expect(bench.cache.usage.bytes.bytes == 3 * 4096)
        write.release()
        done.wait()
        #expect(try bench.cache.read(key)?.body == [1, 2])
        #expect(bench.cache.fault() == nil)
    }

    @Test(arguments: [FaultyFileSystem.Call.open, .write])
    func aRemoveBeatsAStoreThatTakesLong(call: FaultyFileSystem.Call) throws {
        let bench = try makeBench()
        let delayed = bench.files.delay(call)
        let stored = Guarded<Bool?>(nil)
        let done = start {
            let result = try? bench.cache.store(key, [1, 2], metadata(1))
            stored.withLock { $0 = result }
        }
        delayed.waitUntilMade()
        _ = try bench.cache.remove(key)
        delayed.release()
        done.wait()
        #expect(stored.withLock { $0 } == false)
        #expect(try bench.cache.read(key) == nil)
        #expect(bench.cache.usage.count == 1 && bench.temporaryNames().isEmpty)
    }

    @Test func aSlowStoreThatFailsLeavesTheOldEntry() throws {
        let bench = try makeBench()
        let rename = bench.files.delay(.rename)
        bench.files.fail(.rename, at: 0, with: .error(5))
        let code = Guarded<WebImageError.Code?>(nil)
        let done = start {
            do throws(WebImageError) {
                try bench.cache.store(CacheKey("there"), [1], metadata(1))
            } catch {
                code.withLock { $0 = error.code }
            }
        }
        rename.waitUntilMade()
        #expect(try bench.cache.read(CacheKey("there"))?.body == [9])
        rename.release()
        done.wait()
        #expect(code.withLock { $0 } == .cacheIO)
        #expect(try bench.cache.read(CacheKey("there"))?.body == [9])
        #expect(bench.cache.usage.bytes.bytes == 4096 && bench.temporaryNames().isEmpty)
    }

    @Test(arguments: [FaultyFileSystem.Call.names, .space])
    func aHitWaitsForNoLookAtTheDirectory(call: FaultyFileSystem.Call) throws {
        let again = try makeBench().reopened()
        let look = again.files.delay(call)
        let done = start { again.executor.runAll() }
        look.waitUntilMade()
        #expect(try again.cache.read(CacheKey("there"))?.body == [9])
        #expect(try again.cache.read(key) == nil)
        #expect(!again.cache.usage.isComplete)
        look.release()
        done.wait()
        #expect(again.cache.usage.isComplete && again.cache.usage.count == 1)
        #expect(again.cache.fault() == nil)
    }
}
