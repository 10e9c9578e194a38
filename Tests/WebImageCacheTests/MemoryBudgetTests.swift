import Testing
import WebImageCache
import WebImageCore
import WebImageSystem

struct MemoryBudgetTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private var budget: MemoryBudget { MemoryBudget(root: scratch.path, files: PosixFileSystem()) }

    private func putMachine(kibibytes: Int) throws {
        try scratch.put("proc/meminfo", "MemTotal:       \(kibibytes) kB\nMemFree:         1 kB\n")
    }

    @Test func withoutGroupsTheMachinesMemoryCounts() throws {
        try putMachine(kibibytes: 1 << 20)
        #expect(budget.available == .gibibytes(1))
        #expect(budget.cacheCost == ByteCount((1 << 30) / 5))
    }

    @Test func theCacheNeverTakesMoreThanHalfAGibibyte() throws {
        try putMachine(kibibytes: 64 << 20)
        #expect(budget.cacheCost == .mebibytes(512))
    }

    @Test func theLowestCgroupV2LimitUpTheTreeCounts() throws {
        try putMachine(kibibytes: 8 << 20)
        try scratch.put("proc/self/cgroup", "0::/system/web/worker\n")
        try scratch.put("sys/fs/cgroup/system/web/worker/memory.max", "max\n")
        try scratch.put("sys/fs/cgroup/system/web/memory.max", "\(300 << 20)\n")
        try scratch.put("sys/fs/cgroup/system/memory.max", "\(900 << 20)\n")
        #expect(budget.available == .mebibytes(300))
    }

    @Test func aContainerThatSeesItsGroupAsTheRootIsLimited() throws {
        try putMachine(kibibytes: 8 << 20)
        try scratch.put("proc/self/cgroup", "0::/../../docker/abc\n")
        try scratch.put("sys/fs/cgroup/memory.max", "\(200 << 20)\n")
        #expect(budget.available == .mebibytes(200))
    }

    @Test func aCgroupV1LimitIsRead() throws {
        try putMachine(kibibytes: 8 << 20)
        try scratch.put("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n1:name=systemd:/y\n")
        try scratch.put("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "\(400 << 20)\n")
        try scratch.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
        #expect(budget.available == .mebibytes(400))
    }

    @Test(arguments: ["", "MemTotal:", "MemTotal: many kB", "MemTotal: 99999999999999999999 kB"])
    func malformedFilesGiveTheDefaultBudget(text: String) throws {
        try scratch.put("proc/meminfo", text)
        try scratch.put("proc/self/cgroup", "::::\n0\n\n4:memory\n0::/a\n")
        try scratch.put("sys/fs/cgroup/a/memory.max", "-5\n")
        #expect(budget.available == .gibibytes(1))
    }

    @Test func thisProcessHasABudget() { #expect(MemoryBudget.ofThisProcess.available > .mebibytes(1)) }
}
