import CShimSystem

/// What a program may say of its own memory; a library leaves it alone.
package enum ProcessMemory {
    /// Has the allocator give large blocks back when they are freed. glibc otherwise keeps what frames and files left behind,
    /// in an arena for each thread: twice the memory for an animation.
    package static func returnEarly() { wi_return_memory_early() }
}
