#if os(Linux) && !WI_PORTABLE
    // Not used by name: its library has the two functions below.
    import Dispatch

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    // How CoreFoundation's run loop serves libdispatch's main queue, which Swift's main actor is.
    @_silgen_name("_dispatch_get_main_queue_handle_4CF") private func mainQueueHandle() -> Int32
    @_silgen_name("_dispatch_main_queue_callback_4CF") private func drainMainQueue(_ message: UnsafeMutableRawPointer?)

    /// What waits for the main thread.
    package enum MainQueue {
        /// Becomes readable when something waits.
        package static var fileDescriptor: Int32 { mainQueueHandle() }

        /// Runs what waits. On the main thread.
        package static func run() {
            // Nobody else takes the count out of the descriptor; it would stay readable for ever.
            var count: UInt64 = 0
            _ = read(fileDescriptor, &count, MemoryLayout<UInt64>.size)
            drainMainQueue(nil)
        }
    }
#endif
