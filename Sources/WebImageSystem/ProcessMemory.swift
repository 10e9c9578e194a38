import CShimSystem
package import WebImageCore

/// The memory of this process and of the machine.
package enum ProcessMemory {
    /// For programs, a library leaves it alone: has the allocator give large blocks back when they are freed. glibc otherwise keeps what frames and files left behind,
    /// in an arena for each thread: twice the memory for an animation.
    package static func returnEarly() { wi_return_memory_early() }

    /// How much the machine has; nil where the system does not tell.
    package static var ofMachine: ByteCount? {
        let bytes = wi_machine_memory()
        return bytes > 0 ? ByteCount(Int(bytes)) : nil
    }
}
