#if os(Linux) && !WI_PORTABLE
    import WebImageSystem

    /// What this system tells of memory: `/proc` and the control groups.
    package enum SystemMemory {
        /// What this process may use.
        static var budget: MemoryBudget { MemoryBudget(root: "", files: PosixFileSystem()) }

        /// Where readings of the pressure come from; nil where nothing tells.
        package static var pressure: (any MemoryPressureSource)? { LinuxMemoryPressure() }
    }
#endif
