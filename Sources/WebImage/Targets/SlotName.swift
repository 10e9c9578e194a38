/// Names one place on a target that holds one load: the picture of a view, the one that it shows while it is highlighted,
/// its background. A target invents names as it needs them.
///
///     slots.load(request, into: .highlighted)
///     slots.load(request, into: "badge")
public struct SlotName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    public var description: String { rawValue }

    /// The picture itself. Calls that name no slot mean this one.
    public static let image: SlotName = "image"
    /// What is shown in its place while the view is highlighted.
    public static let highlighted: SlotName = "highlighted"
    /// What is shown in its place while the view is switched on.
    public static let alternate: SlotName = "alternate"
    /// What lies behind the view's other contents.
    public static let background: SlotName = "background"
}
