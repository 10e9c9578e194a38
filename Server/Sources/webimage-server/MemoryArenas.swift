import CShimAllocator
import Foundation

/// The arenas of glibc's malloc. By default there may be eight for each core, and each keeps memory that the others
/// cannot use: after a million requests a server of two cores held a sixth more than at the beginning.
enum MemoryArenas {
    /// Allows as many arenas as there are threads for pixels, and at least two, unless the environment sets a number.
    ///
    /// - Parameter workers: how many of those threads the settings ask for; 0: one for each core.
    static func limit(workers: Int) {
        let process = ProcessInfo.processInfo
        let (environment, threads) = (process.environment, workers > 0 ? workers : process.activeProcessorCount)
        let isSet =
            environment["MALLOC_ARENA_MAX"] != nil
            || environment["GLIBC_TUNABLES"]?.contains("glibc.malloc.arena_max") == true
        if !isSet { wi_limit_arenas(Int32(clamping: max(threads, 2))) }
    }
}
