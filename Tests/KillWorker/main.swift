import WebImageTesting

// Works on the cache at the first argument, with the second as seed, until it is killed: on entries, or with `partial`
// as the third argument on beginnings of bodies.
let arguments = CommandLine.arguments
guard arguments.count >= 3, let seed = UInt64(arguments[2]) else {
    fatalError("usage: kill-worker DIRECTORY SEED [partial]")
}
if arguments.count > 3, arguments[3] == "partial" {
    PartialKillWorker.run(directory: arguments[1], seed: seed)
} else {
    CacheKillWorker.run(directory: arguments[1], seed: seed)
}
