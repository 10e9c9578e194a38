package import WebImageCore
import WebImageSystem

/// Memory pressure as reported by Linux: control groups of both versions, PSI, `MemAvailable`.
package struct LinuxMemoryPressure: MemoryPressureSource {
    private let reader: ProcReader

    package init(root: String = "", files: any FileSystem = PosixFileSystem()) {
        reader = ProcReader(root: root, files: files)
    }

    package func read() -> MemoryPressureReading {
        var reading = MemoryPressureReading()
        reading.available = reader.machineMemory("MemAvailable")
        reading.total = reader.machineMemory("MemTotal")
        var stalls = "/proc/pressure/memory"
        for groups in reader.groups() {
            if let limited = fullest(groups) { (reading.used, reading.limit) = limited }
            guard groups.isVersionTwo else { continue }
            let own = groups.directories.first { !reader.text($0 + "/memory.events").isEmpty }
            guard let own else { continue }
            reading.high = reader.field("high", of: own + "/memory.events")
            reading.max = reader.field("max", of: own + "/memory.events")
            reading.outOfMemory = reader.field("oom", of: own + "/memory.events")
            if !reader.text(own + "/memory.pressure").isEmpty { stalls = own + "/memory.pressure" }
        }
        let pressure = reader.text(stalls)
        reading.someStalled = stalled("some", pressure)
        reading.allStalled = stalled("full", pressure)
        return reading
    }

    /// Of the groups with a limit, the one that is nearest to it. Pages of files do not count, even recently used ones,
    /// because the kernel drops them first. Shared memory and `tmpfs` are not such pages.
    private func fullest(_ groups: ProcReader.Groups) -> (used: Int, limit: Int)? {
        let (usage, prefix) = groups.isVersionTwo ? ("/memory.current", "") : ("/memory.usage_in_bytes", "total_")
        let filled = groups.directories.compactMap { directory -> (used: Int, limit: Int)? in
            guard let limit = reader.limit(of: directory, groups.isVersionTwo),
                let used = reader.number(directory + usage)
            else { return nil }
            let filePages = ["inactive_file", "active_file"].reduce(0) { sum, name in
                sum &+ max(reader.field(prefix + name, of: directory + "/memory.stat") ?? 0, 0)
            }
            return (max(used - max(filePages, 0), 0), limit)
        }
        return filled.max { Double($0.used) / Double($0.limit) < Double($1.used) / Double($1.limit) }
    }

    /// `some avg10=1.23 avg60=...` gives 1.23.
    private func stalled(_ kind: String, _ text: String) -> Double? {
        for line in text.split(separator: "\n") where line.hasPrefix(kind + " ") {
            for part in line.split(separator: " ") where part.hasPrefix("avg10=") { return Double(part.dropFirst(6)) }
        }
        return nil
    }

    package func makeAlarm() -> (any MemoryPressureAlarm)? {
        let groups = reader.groups().filter(\.isVersionTwo).flatMap(\.directories)
        let events = groups.map { reader.root + $0 + "/memory.events" }
        let stalls = (groups.map { $0 + "/memory.pressure" } + ["/proc/pressure/memory"]).map { reader.root + $0 }
        return PollAlarm(events: events, stalls: stalls)
    }
}
