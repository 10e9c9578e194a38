#if !os(Linux) || WI_PORTABLE
    /// What waits for the main thread: served by the system's own run loops.
    package enum MainQueue {
        /// There is none.
        package static var fileDescriptor: Int32 { -1 }

        package static func run() {}
    }
#endif
