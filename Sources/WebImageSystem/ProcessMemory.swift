import CShimSystem
package import WebImageCore

/// The memory of the whole process, and of the machine.
package enum ProcessMemory {
    /// For programs only; a library leaves it alone. Has the allocator give large blocks back when they are freed. glibc
    /// otherwise keeps what frames and files left behind,
    /// in an arena for each thread: twice the memory for an animation.
    package static func returnEarly() { wi_return_memory_early() }

    /// Gives back to the system what is free: glibc keeps what many loads at once have left behind. It may block for some
    /// milliseconds, all other allocations with it.
    package static func returnFree() { wi_return_free_memory() }

    /// How much the machine has; nil where the system does not tell.
    package static var ofMachine: ByteCount? {
        let bytes = wi_machine_memory()
        return bytes > 0 ? ByteCount(Int(bytes)) : nil
    }
}
