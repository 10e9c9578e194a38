/// Where the events of ``ImageManager/load(_:on:onEvent:)`` are told.
public struct CallbackExecutor: Sendable {
    let run: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// - Parameter run: carries out what it is given, one after the other and in this order, on the main loop of a toolkit or
    ///   a serial queue. Called on threads of the manager, also on the caller's; it must not block.
    public init(_ run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) { self.run = run }

    /// On threads of the manager; for a picture in memory on the caller's, before the call returns. The default.
    public static let direct = CallbackExecutor { $0() }
}
