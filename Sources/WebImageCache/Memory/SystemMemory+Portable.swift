#if !os(Linux) || WI_PORTABLE
    import WebImageCore
    import WebImageSystem

    /// The memory of a system other than Linux, of which only the machine's total is known.
    package enum SystemMemory {
        /// The memory that this process may use.
        static var budget: MemoryBudget { MemoryBudget(available: ProcessMemory.ofMachine ?? .gibibytes(1)) }

        /// The source of pressure readings; nil if there is none.
        package static var pressure: (any MemoryPressureSource)? { nil }
    }
#endif
