package import WebImageCore
import WebImageSystem

extension MemoryBudget {
    /// What the kernel says of this process, read once; 1 GiB where it says nothing.
    public static let ofThisProcess = MemoryBudget(root: "", files: PosixFileSystem())

    /// Reads `/proc/meminfo`, `/proc/self/cgroup` and the control groups' limits below `root`: `memory.max` of version 2,
    /// `memory.limit_in_bytes` of version 1, of the process's own group and of all above it.
    package init(root: String, files: any FileSystem) {
        let reader = ProcReader(root: root, files: files)
        let limits = [reader.machineMemory()].compactMap(\.self) + reader.groupLimits()
        self.init(available: ByteCount(limits.min() ?? 1 << 30))
    }
}

private struct ProcReader {
    let root: String
    let files: any FileSystem

    func machineMemory() -> Int? {
        for line in text("/proc/meminfo").split(separator: "\n") where line.hasPrefix("MemTotal:") {
            guard let number = line.split(separator: " ").dropFirst().first, let kibibytes = Int(number) else {
                return nil
            }
            let (bytes, overflow) = kibibytes.multipliedReportingOverflow(by: 1024)
            return overflow ? nil : bytes
        }
        return nil
    }

    /// Lines are `0::/path` for version 2 and `4:memory:/path` for version 1. A container sees its own group as the root
    /// of the mount, so a path that is not there is no fault: the groups above it are asked all the same.
    func groupLimits() -> [Int] {
        text("/proc/self/cgroup").split(separator: "\n").flatMap { line -> [Int] in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return [] }
            if parts[0] == "0", parts[1].isEmpty {
                return limits(below: "/sys/fs/cgroup", path: parts[2], file: "memory.max")
            }
            if parts[1].split(separator: ",").contains("memory") {
                return limits(below: "/sys/fs/cgroup/memory", path: parts[2], file: "memory.limit_in_bytes")
            }
            return []
        }
    }

    private func limits(below mount: String, path: Substring, file: String) -> [Int] {
        var names = path.split(separator: "/").filter { $0 != ".." }
        var found: [Int] = []
        while true {
            let directory = names.isEmpty ? mount : mount + "/" + names.joined(separator: "/")
            // No limit is "max" in version 2, a number close to 2^63 in version 1.
            if let limit = Int(text(directory + "/" + file).prefix { $0.isNumber }), limit > 0 { found.append(limit) }
            if names.isEmpty { return found }
            names.removeLast()
        }
    }

    /// The start of a small file, or nothing when it cannot be read. Such files have no size to ask for.
    private func text(_ path: String) -> String {
        guard let file = try? files.open(root + path, .read) else { return "" }
        defer { files.close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
            count = (try? files.readAll(file, into: UnsafeMutableRawBufferPointer(buffer), at: 0)) ?? 0
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
