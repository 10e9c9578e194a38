public import WebImageCore

/// How a slot shows what it loads. What is loaded, and how, stands in the ``ImageRequest``.
public struct SlotOptions: Sendable {
    /// What becomes of a load while its target cannot be seen.
    public enum HiddenLoads: String, Hashable, Sendable, CaseIterable {
        /// It goes on with ``/WebImageCore/LoadPriority/veryLow``.
        case demoted
        /// It is cancelled without a word, and begins anew when the target is seen again. A picture that memory has is shown
        /// all the same.
        case paused
        /// Nothing changes.
        case unchanged
    }

    /// Shown until there is a picture, and where there is none in the end. Default nil: nothing is shown.
    public var placeholder: Image?
    /// How long nothing is shown before the ``placeholder``, so that pictures from disk appear without its flashing up.
    /// Default 0. Without effect where ``keepsCurrentImage`` is true.
    public var placeholderDelay = Duration.zero
    /// Whether the slot goes on showing what it shows now until there is a new picture. The ``placeholder`` is then shown only
    /// for a load that fails. Default false.
    public var keepsCurrentImage = false
    /// Shown when the load fails, in place of the ``placeholder``. Default nil.
    public var errorImage: Image?
    /// Whether the slot shows the picture itself. With false the caller does so, with what the completion brings. Default true.
    public var setsImage = true
    /// Shows pictures, previews, placeholders and error images of this load in place of the target's own functions, also when
    /// ``setsImage`` is false. Default nil.
    public var setImage: (@MainActor (_ image: Image?, _ role: SlotImageRole) -> Void)?
    /// Whether a part of the picture is shown while the rest is still loaded. Default true.
    public var showsPreviews = true

    /// How the picture takes the place of what was shown. Default nil: at once.
    public var transition: (any ImageTransition)?
    /// Whether the transition is also run for a picture that memory had. Default false.
    public var forcesTransition = false
    /// Whether the completion is called only after the transition. Default false.
    public var waitsForTransition = false
    /// Shown while the user has to wait. Default nil.
    public var indicator: (any LoadIndicator)?

    /// Whether a new load of the slot cancels the one before. With false that one goes on, and its completion is called with
    /// what it brings, but it is never shown. Default true.
    public var cancelsPrevious = true
    /// Whether a call for the very request that the slot loads or shows already changes nothing: for cells of a list, which
    /// toolkits bind anew to what they show. Its completion is called as if it had been part of that load. Default false.
    public var keepsEqualLoad = false
    /// Whether a request without a size is loaded at the target's (``ImageSlots/resize(to:)``), and how it is made to fit. A load
    /// waits until the size is known, and is done again when the target grows beyond what was loaded. Default nil: at the size
    /// that the picture has.
    public var fitsTarget: ImageFit?
    /// What becomes of the load while the target cannot be seen (``ImageSlots/isVisible``). Default ``HiddenLoads/demoted``.
    public var whenHidden = HiddenLoads.demoted
    /// Whether a load that failed for want of a network is done again when the network is back
    /// (``ImageSlots/init(of:manager:options:connectivity:)``). Default true.
    public var reloadsWhenConnected = true

    public init() {}
}

/// What an image is to the slot that shows it.
public enum SlotImageRole: String, Hashable, Sendable, CaseIterable {
    /// What the load has brought.
    case picture
    /// A part of it.
    case preview
    /// What stands for it until then; nil clears the slot.
    case placeholder
    /// What stands for a picture that could not be loaded.
    case error
}
