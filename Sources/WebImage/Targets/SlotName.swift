/// The name of a place on a target that holds one load: a view's picture, its picture while it is highlighted, its
/// background. A target can define further names.
///
///     slots.load(request, into: .highlighted)
///     slots.load(request, into: "badge")
public struct SlotName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    public var description: String { rawValue }

    /// The picture itself. This is the default slot.
    public static let image: SlotName = "image"
    /// The picture that is shown instead while the view is highlighted.
    public static let highlighted: SlotName = "highlighted"
    /// The picture that is shown instead while the view is switched on.
    public static let alternate: SlotName = "alternate"
    /// The picture behind the view's other contents.
    public static let background: SlotName = "background"
}
