/// Shows that something is being loaded: a spinner, a progress bar. One indicator belongs to one slot.
@MainActor public protocol LoadIndicator: AnyObject, Sendable {
    /// A load has begun for which the user has to wait.
    func start()
    /// How far it is, from 0 to 1; nil where nobody knows how much there is to come. Default: does nothing.
    func show(fraction: Double?)
    /// It has ended. Called once for each ``start()``.
    func stop()
}

extension LoadIndicator {
    public func show(fraction: Double?) {}
}
