/// Where the events of ``ImageManager/load(_:on:onEvent:)`` are delivered. On a queue of Dispatch, for example:
///
///     CallbackExecutor { DispatchQueue.main.async(execute: $0) }
public struct CallbackExecutor: Sendable {
    let run: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// - Parameter run: runs the closures that it is given in order, one after the other, on the main loop of a toolkit
    ///   or a serial queue. It is called on threads of the manager and on the caller's thread, and must not block.
    public init(_ run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) { self.run = run }

    /// On threads of the manager; for a picture in memory on the caller's thread, before the call returns. The default.
    public static let direct = CallbackExecutor { $0() }
}
