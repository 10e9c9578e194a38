/// A type of many settings, of which most users change none.
@usableFromInline package protocol HasDefault: Hashable, Sendable {
    /// What nobody has changed. Made once.
    static var standard: MostlyDefaultBox<Self> { get }
}

/// Settings that most users leave as they are. They take memory only once one of them is changed, and a copy costs one
/// reference count, not one for each setting.
@usableFromInline package struct MostlyDefault<Value: HasDefault>: Sendable {
    @usableFromInline var box: MostlyDefaultBox<Value>

    @inlinable package init() { box = Value.standard }

    /// True when nothing was ever changed; false says nothing.
    @inlinable package var isUntouched: Bool { box === Value.standard }

    @inlinable package var value: Value {
        _read { yield box.value }
        _modify {
            // The standard has a second owner.
            if !isKnownUniquelyReferenced(&box) { box = MostlyDefaultBox(box.value) }
            yield &box.value
        }
    }
}

@usableFromInline package final class MostlyDefaultBox<Value: HasDefault>: @unchecked Sendable {
    /// Changed only by the one who holds the only reference.
    @exclusivity(unchecked) @usableFromInline var value: Value

    @inlinable package init(_ value: Value) { self.value = value }
}

extension MostlyDefault: Hashable {
    @inlinable package static func == (one: Self, other: Self) -> Bool {
        one.box === other.box || one.value == other.value
    }

    @inlinable package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
