#if os(Linux) && !WI_PORTABLE
    import WebImageSystem

    /// The memory of this system, by `/proc` and the control groups.
    package enum SystemMemory {
        /// The memory that this process may use.
        static var budget: MemoryBudget { MemoryBudget(root: "", files: PosixFileSystem()) }

        /// The source of pressure readings; nil if there is none.
        package static var pressure: (any MemoryPressureSource)? { LinuxMemoryPressure() }
    }
#endif
