/// A type of many settings, of which most users change none.
@usableFromInline package protocol HasDefault: Hashable, Sendable {
    /// The unchanged default value, which is made once.
    static var standard: MostlyDefaultBox<Self> { get }
}

/// Settings that most users leave as they are. They take memory only once one of them is changed. A copy costs one reference
/// count, not one for each setting, and none while nothing is changed: threads do not share a count either.
@usableFromInline package struct MostlyDefault<Value: HasDefault>: Sendable {
    /// Nil for an unchanged value.
    @usableFromInline var box: MostlyDefaultBox<Value>?

    @inlinable package init() {}

    /// What has the settings once one was changed: reading one of them there copies no other.
    package var changed: MostlyDefaultBox<Value>? { box }

    /// True when nothing was ever changed; false says nothing.
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
    /// Changed only by the one who holds the only reference.
    @exclusivity(unchecked) @usableFromInline package var value: Value

    @inlinable package init(_ value: Value) { self.value = value }
}

extension MostlyDefault: Hashable {
    @inlinable package static func == (one: Self, other: Self) -> Bool {
        one.box === other.box || one.value == other.value
    }

    @inlinable package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
