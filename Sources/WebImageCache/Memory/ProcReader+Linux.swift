import WebImageCore

/// Reads the kernel's memory figures in `/proc` and `/sys` below a root, which is empty except in tests.
struct ProcReader: Sendable {
    /// A control group's memory files, from the process's own group to the root of the mount.
    struct Groups {
        let isVersionTwo: Bool
        let directories: [String]
    }

    let root: String
    let files: any FileSystem

    /// A field of `/proc/meminfo`, in bytes.
    func machineMemory(_ field: String) -> Int? {
        for line in text("/proc/meminfo").split(separator: "\n") where line.hasPrefix(field + ":") {
            guard let number = line.split(separator: " ").dropFirst().first, let kibibytes = Int(number) else {
                return nil
            }
            let (bytes, overflow) = kibibytes.multipliedReportingOverflow(by: 1024)
            return overflow ? nil : bytes
        }
        return nil
    }

    /// Lines are `0::/path` for version 2 and `4:memory:/path` for version 1. A container sees its own group as the
    /// root of the mount, so a missing path is not an error: the groups above it are read nevertheless.
    func groups() -> [Groups] {
        text("/proc/self/cgroup").split(separator: "\n").compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return nil }
            if parts[0] == "0", parts[1].isEmpty {
                return Groups(isVersionTwo: true, directories: directories(below: "/sys/fs/cgroup", path: parts[2]))
            }
            guard parts[1].split(separator: ",").contains("memory") else { return nil }
            return Groups(
                isVersionTwo: false, directories: directories(below: "/sys/fs/cgroup/memory", path: parts[2]))
        }
    }

    private func directories(below mount: String, path: Substring) -> [String] {
        var names = path.split(separator: "/").filter { $0 != ".." }
        var found: [String] = []
        while !names.isEmpty {
            found.append(mount + "/" + names.joined(separator: "/"))
            names.removeLast()
        }
        return found + [mount]
    }

    /// Every limit for the process: `memory.max` and `memory.high`, or `memory.limit_in_bytes`.
    func groupLimits() -> [Int] {
        groups().flatMap { groups in groups.directories.compactMap { limit(of: $0, groups.isVersionTwo) } }
    }

    /// No limit is "max" in version 2, a number close to 2^63 in version 1.
    func limit(of directory: String, _ isVersionTwo: Bool) -> Int? {
        let names = isVersionTwo ? ["/memory.max", "/memory.high"] : ["/memory.limit_in_bytes"]
        return names.compactMap { number(directory + $0) }.filter { $0 > 0 && $0 < 1 << 60 }.min()
    }

    func number(_ path: String) -> Int? { Int(text(path).prefix { $0.isNumber }) }

    /// The number after a name at the start of a line: `memory.events`, `memory.stat`.
    func field(_ name: String, of path: String) -> Int? {
        for line in text(path).split(separator: "\n") where line.hasPrefix(name + " ") {
            return Int(line.dropFirst(name.utf8.count + 1))
        }
        return nil
    }

    /// The start of a small file; empty if it cannot be read. Such files report no size.
    func text(_ path: String) -> String {
        guard let file = try? files.open(root + path, .read) else { return "" }
        defer { files.close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
            count = (try? files.readAll(file, into: UnsafeMutableRawBufferPointer(buffer), at: 0)) ?? 0
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
