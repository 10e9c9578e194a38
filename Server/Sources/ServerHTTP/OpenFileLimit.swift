#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// How many files and connections the process may have open (`RLIMIT_NOFILE`).
public enum OpenFileLimit {
    /// Raises the limit to the maximum that the system allows the process: the usual 1024 are fewer than the
    /// connections of a server.
    ///
    /// - Returns: the limit from now on.
    @discardableResult
    public static func raise() -> Int {
        var limits = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limits) == 0 else { return .max }
        if limits.rlim_cur < limits.rlim_max {
            var raised = limits
            raised.rlim_cur = limits.rlim_max
            if setrlimit(resource, &raised) == 0 { limits = raised }
        }
        return Int(clamping: limits.rlim_cur)
    }
}
