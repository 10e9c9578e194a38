#if !os(Linux) || WI_PORTABLE
    import WebImageCore
    import WebImageSystem

    /// What a system tells of memory that is not Linux: how much the machine has.
    package enum SystemMemory {
        /// What this process may use.
        static var budget: MemoryBudget { MemoryBudget(available: ProcessMemory.ofMachine ?? .gibibytes(1)) }

        /// Where readings of the pressure come from; nil where nothing tells.
        package static var pressure: (any MemoryPressureSource)? { nil }
    }
#endif
