import Foundation
import Synchronization
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

struct MemoryPressureTests {
    // MARK: Readings from the kernel

    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private var kernel: LinuxMemoryPressure { LinuxMemoryPressure(root: scratch.path, files: PosixFileSystem()) }

    @Test func cgroupV2IsRead() throws {
        try scratch.put("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 10 kB\nMemAvailable: 400 kB\n")
        try scratch.put("proc/self/cgroup", "0::/app/web\n")
        try scratch.put("sys/fs/cgroup/app/web/memory.max", "max\n")
        try scratch.put("sys/fs/cgroup/app/web/memory.high", "5000\n")
        try scratch.put("sys/fs/cgroup/app/web/memory.current", "4500\n")
        try scratch.put(
            "sys/fs/cgroup/app/web/memory.stat",
            "anon 1\nfile 900\nshmem 100\ninactive_file 300\nactive_file 200\ninactive_filed 9\n")
        try scratch.put("sys/fs/cgroup/app/web/memory.events", "low 0\nhigh 3\nmax 2\noom 1\noom_kill 9\n")
        try scratch.put(
            "sys/fs/cgroup/app/web/memory.pressure", "some avg10=1.50 avg60=9.00\nfull avg10=0.25 avg60=9\n")
        try scratch.put("sys/fs/cgroup/app/memory.max", "9000\n")
        try scratch.put("sys/fs/cgroup/app/memory.current", "4600\n")
        try scratch.put("proc/pressure/memory", "some avg10=77.00\nfull avg10=77.00\n")
        let reading = kernel.read()
        #expect(reading.available == 400 << 10 && reading.total == 1000 << 10)
        #expect(reading.used == 4000 && reading.limit == 5000)
        #expect(reading.high == 3 && reading.max == 2 && reading.outOfMemory == 1)
        #expect(reading.someStalled == 1.5 && reading.allStalled == 0.25)
    }

    @Test func theGroupNearestToItsLimitCounts() throws {
        try scratch.put("proc/self/cgroup", "0::/app/web\n")
        try scratch.put("sys/fs/cgroup/app/web/memory.max", "1000\n")
        try scratch.put("sys/fs/cgroup/app/web/memory.current", "500\n")
        try scratch.put("sys/fs/cgroup/app/memory.max", "2000\n")
        try scratch.put("sys/fs/cgroup/app/memory.current", "1900\n")
        #expect(kernel.read().used == 1900 && kernel.read().limit == 2000)
    }

    @Test func cgroupV1IsRead() throws {
        try scratch.put("proc/self/cgroup", "5:cpu:/x\n4:memory:/docker/abc\n")
        try scratch.put("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "4000\n")
        try scratch.put("sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "3000\n")
        try scratch.put(
            "sys/fs/cgroup/memory/docker/abc/memory.stat",
            "inactive_file 7\ntotal_inactive_file 400\ntotal_active_file 600\n")
        try scratch.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
        try scratch.put("sys/fs/cgroup/memory/memory.usage_in_bytes", "900000\n")
        try scratch.put("proc/pressure/memory", "some avg10=2.00 avg60=1\nfull avg10=1.00\n")
        let reading = kernel.read()
        #expect(reading.used == 2000 && reading.limit == 4000 && reading.high == nil)
        #expect(reading.someStalled == 2 && reading.allStalled == 1)
    }

    @Test func missingOrMalformedFilesGiveAnEmptyReading() throws {
        #expect(kernel.read() == MemoryPressureReading())
        try scratch.put("proc/meminfo", "MemAvailable: lots\n")
        try scratch.put("proc/self/cgroup", "0::/a\n1:memory\n")
        try scratch.put("sys/fs/cgroup/a/memory.events", "high\nmax x\n")
        try scratch.put("sys/fs/cgroup/a/memory.pressure", "some\nfull avg10=\n")
        #expect(kernel.read() == MemoryPressureReading())
        // Plain files accept the trigger but never signal. Without the files there is no alarm, and a timer is used.
        #expect(LinuxMemoryPressure(root: scratch.path + "/nowhere", files: PosixFileSystem()).makeAlarm() == nil)
    }

    @Test func memoryHighLimitsTheBudgetToo() throws {
        try scratch.put("proc/meminfo", "MemTotal: 8388608 kB\n")
        try scratch.put("proc/self/cgroup", "0::/a\n")
        try scratch.put("sys/fs/cgroup/a/memory.max", "\(500 << 20)\n")
        try scratch.put("sys/fs/cgroup/a/memory.high", "\(300 << 20)\n")
        #expect(MemoryBudget(root: scratch.path, files: PosixFileSystem()).available == .mebibytes(300))
    }

    private static func openFiles(named path: String) -> Int {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return files.count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }

    @Test func anAlarmThatIsStoppedWaitsNoMore() throws {
        try scratch.put("stall", "")
        try scratch.put("events", "high 0\n")
        let alarm = try #require(
            PollAlarm(
                events: [scratch.path + "/events", scratch.path + "/none"],
                stalls: [scratch.path + "/none", scratch.path + "/stall"]))
        #expect(try readFile(scratch.path + "/stall") == Array("some 150000 2000000\0".utf8))
        #if os(Linux)
            // The alarm's file is open once, and closed at the end.
            #expect(Self.openFiles(named: scratch.path + "/stall") == 1)
        #endif
        alarm.stop()
        alarm.stop()
        #expect(!alarm.wait())
    }

    // MARK: Levels

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let level: MemoryPressureLevel
        let change: @Sendable (inout MemoryPressureReading) -> Void

        init(
            _ name: String, _ level: MemoryPressureLevel,
            _ change: @escaping @Sendable (inout MemoryPressureReading) -> Void
        ) {
            (testDescription, self.level, self.change) = (name, level, change)
        }
    }

    @Test(arguments: [
        Case("nothing is known", .none) { _ in },
        Case("half full", .none) { ($0.used, $0.limit) = (50, 100) },
        Case("nine tenths full", .low) { ($0.used, $0.limit) = (90, 100) },
        Case("nineteen twentieths full", .medium) { ($0.used, $0.limit) = (95, 100) },
        Case("full", .critical) { ($0.used, $0.limit) = (100, 100) },
        Case("a limit of nothing", .none) { ($0.used, $0.limit) = (100, 0) },
        Case("a limit alone", .none) { $0.limit = 1 },
        Case("a group outranks the machine", .none) {
            ($0.used, $0.limit, $0.available, $0.total) = (10, 20, 1, 100)
        },
        Case("a limit above what the machine has is none", .critical) {
            ($0.used, $0.limit, $0.available, $0.total) = (10, 200, 1, 100)
        },
        Case("the machine has little left", .low) { ($0.available, $0.total) = (9, 100) },
        Case("the machine has nothing left", .critical) { ($0.available, $0.total) = (1, 100) },
        Case("some work waits", .low) { $0.someStalled = 5 },
        Case("much work waits", .medium) { $0.someStalled = 20 },
        Case("all work waits now and then", .medium) { $0.allStalled = 5 },
        Case("all work waits often", .critical) { $0.allStalled = 20 },
        Case("the worst counts", .critical) { ($0.used, $0.limit, $0.allStalled) = (91, 100, 30) },
        Case("counters of the past", .none) { ($0.high, $0.max, $0.outOfMemory) = (5, 6, 7) },
    ])
    func eachReadingHasItsPressureLevel(_ one: Case) {
        var (gauge, reading) = (MemoryPressureGauge(), MemoryPressureReading())
        one.change(&reading)
        #expect(gauge.level(of: reading) == one.level)
    }

    @Test func aGrowingCounterRaisesTheLevelOnce() {
        var (gauge, reading) = (MemoryPressureGauge(), MemoryPressureReading())
        (reading.high, reading.max, reading.outOfMemory) = (5, 6, 7)
        reading.someStalled = 1
        #expect(gauge.level(of: reading) == .none)
        reading.high = 6
        #expect(gauge.level(of: reading) == .medium)
        #expect(gauge.level(of: reading) == .none)
        reading.max = 7
        #expect(gauge.level(of: reading) == .medium)
        reading.outOfMemory = 8
        #expect(gauge.level(of: reading) == .critical)
        // The process was moved to a younger group, whose counters are smaller.
        (reading.high, reading.max, reading.outOfMemory) = (0, 0, 0)
        #expect(gauge.level(of: reading) == .none)
    }

    /// In a container that reads and writes files, the page cache keeps the group at its limit all the time, and the
    /// kernel drops pages. The memory caches were once halved each time.
    @Test func thePageCacheAtTheLimitIsNoPressure() throws {
        var (gauge, reading) = (MemoryPressureGauge(), MemoryPressureReading())
        (reading.used, reading.limit, reading.max, reading.high) = (30, 100, 0, 0)
        reading.someStalled = 0.2
        for count in 1...100 {
            (reading.max, reading.high) = (count * 10, count)
            #expect(gauge.level(of: reading) == .none)
        }
        // The same without readings of stalls, unless hardly any memory is left.
        reading.someStalled = nil
        reading.max = 2000
        #expect(gauge.level(of: reading) == .none)
        (reading.max, reading.used) = (2001, 91)
        #expect(gauge.level(of: reading) == .medium)
        // The group is full of file pages that were used recently.
        try scratch.put("proc/self/cgroup", "0::/a\n")
        try scratch.put("sys/fs/cgroup/a/memory.max", "1000\n")
        try scratch.put("sys/fs/cgroup/a/memory.current", "999\n")
        try scratch.put("sys/fs/cgroup/a/memory.stat", "anon 300\ninactive_file 100\nactive_file 590\n")
        #expect(kernel.read().used == 309)
        #expect(gauge.level(of: kernel.read()) == .none)
    }

    @Test func aTrimGivesBackAsMuchAsTheLevelSays() throws {
        let cache = MemoryCache(limits: .init(cost: .mebibytes(1)), remembersHeld: false)
        for number in 0..<100 { cache.store(try makeImage(bytes: 488), for: CacheKey("\(number)")) }
        cache.trim(for: .none)
        #expect(cache.count == 100)
        cache.trim(for: .low)
        #expect(cache.count == 75)
        cache.trim(for: .medium)
        #expect(cache.count == 37)
        cache.trim(for: .critical)
        #expect(cache.count == 0 && cache.fault() == nil)
    }

    // MARK: The watcher

    @Test func withoutAnAlarmATimerLooksAndLooksOftenerWhileMemoryIsShort() {
        let (clock, source, told) = (ManualClock(), FakePressure(alarm: nil), Told())
        let watcher = MemoryPressureWatcher(source: source, clock: clock) { told.append($0) }
        watcher.start()
        clock.advance(by: .seconds(20))
        #expect(told.levels.isEmpty && source.reads == 5)
        source.set { ($0.used, $0.limit) = (95, 100) }
        clock.advance(by: .seconds(5))
        #expect(told.levels == [.medium])
        clock.advance(by: .seconds(4))
        #expect(told.levels == [.medium, .medium, .medium])
        source.set { $0.used = 10 }
        clock.advance(by: .seconds(2))
        #expect(told.levels.count == 3 && clock.waitingCount == 1)
        watcher.stop()
        #expect(clock.waitingCount == 0)
        clock.advance(by: .seconds(60))
        #expect(told.levels.count == 3)
    }

    @Test func anAlarmWakesAndBetweenAlarmsNothingRuns() {
        let (clock, alarm, told) = (ManualClock(), FakeAlarm(), Told())
        let source = FakePressure(alarm: alarm)
        let watcher = MemoryPressureWatcher(source: source, clock: clock) { told.append($0) }
        watcher.start()
        #expect(clock.waitingCount == 0)
        source.set { $0.someStalled = 30 }
        alarm.ring()
        // Once the thread is back in `wait`, it has handled the alarm.
        alarm.waitUntilIdle()
        #expect(told.levels == [.medium] && clock.waitingCount == 1)
        source.set { $0.someStalled = 0 }
        clock.advance(by: .seconds(2))
        #expect(told.levels == [.medium] && clock.waitingCount == 0)
        watcher.stop()
        alarm.waitUntilStopped()
    }

    /// If no thread could be started for the alarm, memory was once no longer watched at all.
    @Test func withoutAThreadForTheAlarmATimerLooks() {
        let (clock, alarm, told) = (ManualClock(), FakeAlarm(), Told())
        let source = FakePressure(alarm: alarm)
        let watcher = MemoryPressureWatcher(source: source, clock: clock, startThread: { _, _ in false }) {
            told.append($0)
        }
        watcher.start()
        source.set { ($0.used, $0.limit) = (95, 100) }
        clock.advance(by: .seconds(5))
        #expect(told.levels == [.medium])
        source.set { $0.used = 10 }
        clock.advance(by: .seconds(2))
        #expect(clock.waitingCount == 1)
        watcher.stop()
        #expect(clock.waitingCount == 0)
        alarm.waitUntilStopped()
    }

    @Test func aReleasedWatcherStops() {
        let (clock, alarm) = (ManualClock(), FakeAlarm())
        var watcher: MemoryPressureWatcher? = MemoryPressureWatcher(source: FakePressure(alarm: alarm), clock: clock) {
            _ in
        }
        watcher?.start()
        watcher = nil
        alarm.waitUntilStopped()
    }

    @Test func aWatcherThatWasStoppedDoesNotStart() {
        let (clock, alarm) = (ManualClock(), FakeAlarm())
        let watcher = MemoryPressureWatcher(source: FakePressure(alarm: alarm), clock: clock) { _ in }
        watcher.stop()
        watcher.start()
        alarm.waitUntilStopped()
        #expect(clock.waitingCount == 0)
    }

    @Test func thisMachineIsRead() {
        let reading = LinuxMemoryPressure().read()
        #expect((reading.total ?? 0) > 1 << 20 && (reading.available ?? .max) <= (reading.total ?? 0))
    }
}

private final class Told: Sendable {
    private let all = Guarded<[MemoryPressureLevel]>([])
    var levels: [MemoryPressureLevel] { all.withLock { $0 } }
    func append(_ level: MemoryPressureLevel) { all.withLock { $0.append(level) } }
}

private final class FakePressure: MemoryPressureSource {
    private let state = Guarded((reading: MemoryPressureReading(), reads: 0))
    private let alarm: FakeAlarm?

    init(alarm: FakeAlarm?) { self.alarm = alarm }

    var reads: Int { state.withLock { $0.reads } }
    func set(_ change: (inout MemoryPressureReading) -> Void) { state.withLock { change(&$0.reading) } }

    func read() -> MemoryPressureReading {
        state.withLock { state in
            state.reads += 1
            return state.reading
        }
    }

    func makeAlarm() -> (any MemoryPressureAlarm)? { alarm }
}

/// An alarm that the test rings. It uses a pthread condition, because a thread waits for it, not a task.
private final class FakeAlarm: MemoryPressureAlarm, @unchecked Sendable {
    // Sendable: everything mutable is guarded by `mutex`.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var rings = 0
    private var isStopped = false
    private var isWaiting = false

    init() {
        mutex.initialize(to: pthread_mutex_t())
        changed.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    func wait() -> Bool {
        locked {
            isWaiting = true
            pthread_cond_broadcast(changed)
            while rings == 0, !isStopped { pthread_cond_wait(changed, mutex) }
            isWaiting = false
            rings -= rings > 0 ? 1 : 0
            return !isStopped
        }
    }

    func ring() {
        locked {
            rings += 1
            pthread_cond_broadcast(changed)
        }
    }

    func stop() {
        locked {
            isStopped = true
            pthread_cond_broadcast(changed)
        }
    }

    func waitUntilIdle() { locked { while rings > 0 || !isWaiting { pthread_cond_wait(changed, mutex) } } }
    func waitUntilStopped() { locked { while !isStopped { pthread_cond_wait(changed, mutex) } } }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
