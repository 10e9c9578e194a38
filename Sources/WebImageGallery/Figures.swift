import WebImage

/// The current figures of the caches and the network, as lines of a table.
struct Figures: Equatable {
    struct Line: Equatable {
        let name: String
        let value: String
    }

    let lines: [Line]

    init(_ manager: ImageManager) {
        let memory = manager.memoryCache
        let found = memory.statistics
        var lines = [
            Line(name: "Memory", value: "\(memory.count) pictures, \(memory.cost) of \(memory.limits.cost)"),
            Line(name: "Memory hits", value: Self.ratio(found.hits, of: found.hits + found.misses)),
        ]
        if let disk = manager.diskCache {
            let (usage, history) = (disk.usage, disk.statistics)
            lines.append(Line(name: "Disk", value: "\(usage.count) originals, \(usage.bytes)"))
            lines.append(Line(name: "Disk hits", value: Self.ratio(history.hits, of: history.hits + history.misses)))
        } else {
            lines.append(Line(name: "Disk", value: "no cache"))
        }
        let network = manager.downloader.counters
        lines.append(Line(name: "Loads", value: "\(manager.runningLoads) running"))
        lines.append(Line(name: "Transfers", value: "\(network.running) running, \(network.waiting) waiting"))
        lines.append(Line(name: "In all", value: "\(network.started) begun, \(network.joined) shared"))
        self.lines = lines
    }

    /// `12 of 40 (30 %)`.
    private static func ratio(_ part: Int, of whole: Int) -> String {
        whole == 0 ? "0 of 0" : "\(part) of \(whole) (\(part * 100 / whole) %)"
    }
}
