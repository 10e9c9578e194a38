/// A type with many settings, most of which stay at their defaults.
@usableFromInline package protocol HasDefault: Hashable, Sendable {
    /// The unchanged default value, which is made once.
    static var standard: MostlyDefaultBox<Self> { get }
}

/// Settings that most users leave as they are. They take memory only once one of them is changed. A copy then costs one
/// reference count, not one for each setting. Unchanged settings cost none, so that threads do not compete for a count.
@usableFromInline package struct MostlyDefault<Value: HasDefault>: Sendable {
    /// Nil while the value is unchanged.
    @usableFromInline var box: MostlyDefaultBox<Value>?

    @inlinable package init() {}

    /// The box with the settings, nil while the value is unchanged. Reading one setting through it copies no other.
    package var changed: MostlyDefaultBox<Value>? { box }

    /// Whether one is a copy of the other, and neither was changed since. Unlike `==` it compares no settings.
    package func isSame(as other: Self) -> Bool { box === other.box }

    /// True if no setting was ever changed. False does not mean that the value differs from the default.
    @inlinable package var isUntouched: Bool { box == nil }

    @inlinable package var value: Value {
        _read {
            if let box { yield box.value } else { yield Value.standard.value }
        }
        _modify {
            let owned: MostlyDefaultBox<Value>
            if isKnownUniquelyReferenced(&box), let box {
                owned = box
            } else {
                owned = MostlyDefaultBox(box?.value ?? Value.standard.value)
                box = owned
            }
            yield &owned.value
        }
    }
}

@usableFromInline package final class MostlyDefaultBox<Value: HasDefault>: @unchecked Sendable {
    /// Changed only through the only reference to the box.
    @exclusivity(unchecked) @usableFromInline package var value: Value

    @inlinable package init(_ value: Value) { self.value = value }
}

extension MostlyDefault: Hashable {
    @inlinable package static func == (one: Self, other: Self) -> Bool {
        one.box === other.box || one.value == other.value
    }

    @inlinable package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
