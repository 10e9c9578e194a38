package import WebImageCore

extension MemoryBudget {
    /// Reads `/proc/meminfo`, `/proc/self/cgroup` and the control groups' limits below `root`: `memory.max` and
    /// `memory.high` of version 2, `memory.limit_in_bytes` of version 1, of the process's own group and of all above it.
    package init(root: String, files: any FileSystem) {
        let reader = ProcReader(root: root, files: files)
        let limits = [reader.machineMemory("MemTotal")].compactMap(\.self) + reader.groupLimits()
        self.init(available: ByteCount(limits.min() ?? 1 << 30))
    }
}
