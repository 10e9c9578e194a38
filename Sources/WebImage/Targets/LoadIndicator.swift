/// Shows that a picture is loading: a spinner, or a progress bar. One indicator belongs to one slot.
@MainActor public protocol LoadIndicator: AnyObject, Sendable {
    /// Called when a load begins for which the user has to wait.
    func start()
    /// Shows the progress from 0 to 1; nil if the length is not known. Default: does nothing.
    func show(fraction: Double?)
    /// Called when the load has ended, once for each ``start()``.
    func stop()
}

extension LoadIndicator {
    public func show(fraction: Double?) {}
}
