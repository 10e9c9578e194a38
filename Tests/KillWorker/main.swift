import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// Works on the cache in the directory of the first argument, with the second as seed, until it is killed. It works on
// entries, or, with `partial` as the third argument, on partial bodies. With the arguments `network` and the path of
// the program `ip`, it watches the network instead.
let arguments = CommandLine.arguments
if arguments.count == 3, arguments[1] == "network" {
    try NetworkWorker.run(ip: arguments[2])
    exit(0)
}
guard arguments.count >= 3, let seed = UInt64(arguments[2]) else {
    fatalError("usage: kill-worker DIRECTORY SEED [partial]")
}
if arguments.count > 3, arguments[3] == "partial" {
    PartialKillWorker.run(directory: arguments[1], seed: seed)
} else {
    CacheKillWorker.run(directory: arguments[1], seed: seed)
}
