import Synchronization

/// An object that is made at its first use. If two threads make one at the same time, all threads get the same one.
///
/// Like `AtomicLazyReference`, whose look-up is not inlined and costs ten times as much.
struct LazyReference<Object: AnyObject & Sendable>: ~Copyable, @unchecked Sendable {
    /// Points to the object, which is retained by this value.
    private let pointer: Atomic<UnsafeRawPointer?>

    init(_ object: Object? = nil) {
        pointer = Atomic(object.map { UnsafeRawPointer(Unmanaged.passRetained($0).toOpaque()) })
    }

    deinit {
        if let held = pointer.load(ordering: .acquiring) { Unmanaged<Object>.fromOpaque(held).release() }
    }

    func value(_ make: () -> Object) -> Object {
        if let held = pointer.load(ordering: .acquiring) {
            return Unmanaged<Object>.fromOpaque(held).takeUnretainedValue()
        }
        let made = Unmanaged.passRetained(make())
        let (isOurs, held) = pointer.compareExchange(
            expected: nil, desired: UnsafeRawPointer(made.toOpaque()), ordering: .acquiringAndReleasing)
        if isOurs { return made.takeUnretainedValue() }
        made.release()
        return Unmanaged<Object>.fromOpaque(held!).takeUnretainedValue()
    }
}
