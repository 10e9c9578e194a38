#if os(Linux) && !WI_PORTABLE
    // Not used by name: the two functions below are in its library.
    import Dispatch

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    // CoreFoundation's run loop serves libdispatch's main queue, which runs Swift's main actor, in the same way.
    @_silgen_name("_dispatch_get_main_queue_handle_4CF") private func mainQueueHandle() -> Int32
    @_silgen_name("_dispatch_main_queue_callback_4CF") private func drainMainQueue(_ message: UnsafeMutableRawPointer?)

    /// The work that waits for the main thread.
    package enum MainQueue {
        /// Becomes readable when there is work.
        package static var fileDescriptor: Int32 { mainQueueHandle() }

        /// Runs the waiting work. Call it on the main thread.
        package static func run() {
            // Only this read resets the descriptor; it would stay readable otherwise.
            var count: UInt64 = 0
            _ = read(fileDescriptor, &count, MemoryLayout<UInt64>.size)
            drainMainQueue(nil)
        }
    }
#endif
