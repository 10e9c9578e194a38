import WebImageTesting

// Stores into the cache at the first argument, with the second as seed, until it is killed.
let arguments = CommandLine.arguments
guard arguments.count == 3, let seed = UInt64(arguments[2]) else { fatalError("usage: kill-worker DIRECTORY SEED") }
CacheKillWorker.run(directory: arguments[1], seed: seed)
