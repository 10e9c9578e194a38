/// Where the events of ``ImageManager/load(_:on:onEvent:)`` are delivered. On a queue of Dispatch, for example:
///
///     CallbackExecutor { DispatchQueue.main.async(execute: $0) }
///
/// A load gives it one closure at a time, which delivers every event that has come until it runs: of the progress and the
/// previews only the newest. So a main loop that is busy is not flooded.
public struct CallbackExecutor: Sendable {
    let run: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// Whether closures run at once on the calling thread, which is one of the manager's or the caller's.
    let isDirect: Bool

    /// - Parameter run: runs the closures that it is given in order, one after the other, on the main loop of a toolkit
    ///   or a serial queue. It is called on threads of the manager and on the caller's thread, and must not block.
    public init(_ run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        self.init(isDirect: false, run)
    }

    private init(isDirect: Bool, _ run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        self.run = run
        self.isDirect = isDirect
    }

    /// On threads of the manager; for a picture in memory on the caller's thread, before the call returns. The default.
    public static let direct = CallbackExecutor(isDirect: true) { $0() }
}
