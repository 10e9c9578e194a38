// Benchmarks: each claim beside what it is measured against, in one run, as ratios. Names choose some of them.
let known = ["decode", "warm", "cold", "overlap", "download"]
let arguments = Array(CommandLine.arguments.dropFirst())

switch (arguments.first, arguments.count) {
case ("draw", 2): try PeerWork.draw(into: arguments[1])
case ("work", 4): try await PeerWork.work(arguments[1], arguments[2], rounds: Int(arguments[3]) ?? 7)
default:
    for name in arguments.isEmpty ? known : arguments {
        print("\n== \(name)")
        switch name {
        case "decode": try DecodeBench.run()
        case "warm": try WarmBench.run()
        case "cold": try await ColdBench.run()
        case "overlap": try await OverlapBench.run()
        case "download": try await DownloadBench.run()
        default: print("there are \(known.joined(separator: ", "))")
        }
    }
}
