import Synchronization

/// Something that happens once, whoever is first.
final class OnceFlag: Sendable {
    private let isRaised = Atomic(false)

    /// - Returns: whether this call was the first.
    func raise() -> Bool { !isRaised.exchange(true, ordering: .acquiringAndReleasing) }
}
