import Synchronization

/// A flag that can be raised once; only the first call succeeds.
final class OnceFlag: Sendable {
    private let flag = Atomic(false)

    var isRaised: Bool { flag.load(ordering: .acquiring) }

    /// - Returns: whether this call was the first.
    func raise() -> Bool { !flag.exchange(true, ordering: .acquiringAndReleasing) }
}
