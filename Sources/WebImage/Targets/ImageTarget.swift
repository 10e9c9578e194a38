public import WebImageCore

/// Anything that shows pictures: a view, a widget, a cell of a list, a square of a terminal.
///
/// A target defines how it shows a picture, and has ``ImageSlots`` that load pictures for it:
///
///     @MainActor final class Tile: ImageTarget {
///         private(set) lazy var slots = ImageSlots(of: self, manager: manager)
///
///         func setImage(_ image: Image?, in slot: SlotName) { draw(image) }
///     }
///
///     tile.slots.load("https://example.com/a.jpg") { $0.placeholder = gray }
///
/// Only ``setImage(_:in:)`` must be implemented; the other functions have defaults that call it. All functions are
/// called on the main actor, and never for a load that another load of the slot has replaced. A toolkit with its own
/// event loop must run the main actor's work in it: see <doc:BindingAToolkit>.
@MainActor public protocol ImageTarget: AnyObject {
    /// Shows a picture in a slot; nil shows nothing.
    func setImage(_ image: Image?, in slot: SlotName)

    /// Shows the placeholder of a picture that is loading; nil shows nothing. Default: ``setImage(_:in:)``.
    func setPlaceholder(_ image: Image?, in slot: SlotName)

    /// Shows the image for a picture that could not be loaded. Default: ``setPlaceholder(_:in:)``.
    func setErrorImage(_ image: Image?, in slot: SlotName)

    /// Shows an incomplete picture while the rest is loading. Default: ``setImage(_:in:)``.
    func setPreview(_ image: Image, in slot: SlotName)

    /// Changes from the current picture to a new one with a transition.
    ///
    /// The default carries out a ``CustomTransition``, and shows the picture at once for any other.
    ///
    /// - Parameters:
    ///   - transition: the transition. The target may replace one that it does not know by another one.
    ///   - image: the new picture.
    ///   - slot: the slot that shows the picture.
    ///   - completion: must be called once at the end, also if another picture interrupted the transition.
    func apply(
        _ transition: any ImageTransition, to image: Image, in slot: SlotName,
        completion: @escaping @MainActor () -> Void)

    /// Called whenever a load of a slot begins, makes progress, or ends. Default: does nothing.
    func slot(_ slot: SlotName, didChange state: SlotState)
}

extension ImageTarget {
    public func setPlaceholder(_ image: Image?, in slot: SlotName) { setImage(image, in: slot) }

    public func setErrorImage(_ image: Image?, in slot: SlotName) { setPlaceholder(image, in: slot) }

    public func setPreview(_ image: Image, in slot: SlotName) { setImage(image, in: slot) }

    public func apply(
        _ transition: any ImageTransition, to image: Image, in slot: SlotName,
        completion: @escaping @MainActor () -> Void
    ) {
        if let custom = transition as? CustomTransition {
            custom.run(to: image, in: slot, of: self, completion: completion)
        } else {
            setImage(image, in: slot)
            completion()
        }
    }

    public func slot(_ slot: SlotName, didChange state: SlotState) {}
}
