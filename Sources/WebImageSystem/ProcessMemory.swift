import CShimSystem
package import WebImageCore

/// The memory of the whole process, and of the machine.
package enum ProcessMemory {
    /// Makes the allocator return large blocks to the system when they are freed. For programs only, not for libraries.
    /// glibc otherwise keeps the memory of frames and files in an arena for each thread, which doubles the memory of an
    /// animation.
    package static func returnEarly() { wi_return_memory_early() }

    /// Returns free memory to the system: glibc keeps what many simultaneous loads have used. It may block for some
    /// milliseconds, along with all other allocations.
    package static func returnFree() { wi_return_free_memory() }

    /// The memory of the machine; nil if the system does not report it.
    package static var ofMachine: ByteCount? {
        let bytes = wi_machine_memory()
        return bytes > 0 ? ByteCount(Int(bytes)) : nil
    }
}
