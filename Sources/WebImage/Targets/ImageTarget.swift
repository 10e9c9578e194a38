public import WebImageCore

/// Anything that shows pictures: a view, a widget, a cell of a list, a square of a terminal.
///
/// A target says how it shows a picture, and has ``ImageSlots`` that load for it:
///
///     @MainActor final class Tile: ImageTarget {
///         private(set) lazy var slots = ImageSlots(of: self, manager: manager)
///
///         func setImage(_ image: Image?, in slot: SlotName) { draw(image) }
///     }
///
///     tile.slots.load("https://example.com/a.jpg") { $0.placeholder = gray }
///
/// Only ``setImage(_:in:)`` must be written; the rest has defaults that call it. Everything is called on the main actor, and
/// never for a load whose slot has moved on to another one. Toolkits with a loop of their own serve the main actor from it:
/// see <doc:BindingAToolkit>.
@MainActor public protocol ImageTarget: AnyObject {
    /// Shows a picture in a slot; nil: nothing.
    func setImage(_ image: Image?, in slot: SlotName)

    /// Shows what stands for a picture that is still loaded, or nothing. Default: ``setImage(_:in:)``.
    func setPlaceholder(_ image: Image?, in slot: SlotName)

    /// Shows what stands for a picture that could not be loaded. Default: ``setPlaceholder(_:in:)``.
    func setErrorImage(_ image: Image?, in slot: SlotName)

    /// Shows a picture of which a part is missing while the rest is loaded. Default: ``setImage(_:in:)``.
    func setPreview(_ image: Image, in slot: SlotName)

    /// Goes over to a picture from what is shown now.
    ///
    /// The default carries out a ``CustomTransition``, and shows the picture at once for any other.
    ///
    /// - Parameters:
    ///   - transition: how to go over. One that the target does not know may be done in another way.
    ///   - image: what is to be seen at the end.
    ///   - slot: where.
    ///   - completion: must be called once at the end; also when the transition was cut short by another picture.
    func apply(
        _ transition: any ImageTransition, to image: Image, in slot: SlotName,
        completion: @escaping @MainActor () -> Void)

    /// Called whenever a slot begins to load, comes further, or ends. Default: does nothing.
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
