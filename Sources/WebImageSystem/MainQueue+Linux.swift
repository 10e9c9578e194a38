#if os(Linux) && !WI_PORTABLE
    // Imported only for its library, which has the two functions below.
    import Dispatch

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    // CoreFoundation's run loop uses these functions to serve libdispatch's main queue, which runs Swift's main actor.
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
