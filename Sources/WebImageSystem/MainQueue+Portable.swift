#if !os(Linux) || WI_PORTABLE
    /// The work that waits for the main thread, which the system's own run loops execute.
    package enum MainQueue {
        /// Always -1: there is no descriptor.
        package static var fileDescriptor: Int32 { -1 }

        package static func run() {}
    }
#endif
