import Synchronization

/// Something that happens once, whoever is first.
final class OnceFlag: Sendable {
    private let flag = Atomic(false)

    var isRaised: Bool { flag.load(ordering: .acquiring) }

    /// - Returns: whether this call was the first.
    func raise() -> Bool { !flag.exchange(true, ordering: .acquiringAndReleasing) }
}
