// Runs the benchmarks: each claim with its baseline in one run, as ratios. Arguments select benchmarks by name.
import CBench

let known = [
    "formats", "warm", "memory", "eviction", "cold", "overlap", "cache", "share", "download", "crowd", "documents",
    "play", "isolation", "disk",
]
let arguments = Array(CommandLine.arguments.dropFirst())

cb_print_by_lines()

switch (arguments.first, arguments.count) {
case ("draw", 2): try PeerWork.draw(into: arguments[1])
case ("work", 5):
    try await PeerWork.work(arguments[1], arguments[2], arguments[3], seconds: Double(arguments[4]) ?? 1.5)
case ("cache-work", 5):
    try CacheWork.run(
        arguments[1], size: Int(arguments[2]) ?? 0, count: Int(arguments[3]) ?? 0, directory: arguments[4])
case ("document", 2): await DocumentBench.draw(Int(arguments[1]) ?? 0)
case ("beside-documents", 1): try await DocumentBench.drawBesideTwo()
case ("share-write", 3): try ShareBench.write(arguments[1], seconds: Double(arguments[2]) ?? 1)
default:
    for name in arguments.isEmpty ? known : arguments {
        print("\n== \(name)")
        switch name {
        case "formats": try FormatBench.run()
        case "warm": try await WarmBench.run()
        case "memory": try MemoryBench.run()
        case "eviction": EvictionBench.run()
        case "cold": try await ColdBench.run()
        case "overlap": try await OverlapBench.run()
        case "cache": try CacheBench.run()
        case "crowd": try await CrowdBench.run()
        case "documents": try await DocumentBench.run()
        case "play": try await PlayBench.run()
        case "share": try ShareBench.run()
        case "isolation": try IsolationBench.run()
        case "disk": try await DiskBench.run()
        case "download": try await DownloadBench.run()
        default: print("there are \(known.joined(separator: ", "))")
        }
    }
}
