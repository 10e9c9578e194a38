#if GTK
    @MainActor enum ScrollScript { static func run() async -> String? { nil } }
#endif
