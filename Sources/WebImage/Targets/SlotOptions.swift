public import WebImageCore

/// How a slot shows its picture. The ``ImageRequest`` says what is loaded, and how.
public struct SlotOptions: Sendable {
    /// What happens to a load while its target is not visible.
    public enum HiddenLoads: String, Hashable, Sendable, CaseIterable {
        /// It goes on with ``/WebImageCore/LoadPriority/veryLow``.
        case demoted
        /// It is cancelled silently, and starts again when the target is visible again. A picture that is in memory is
        /// shown anyway.
        case paused
        /// Nothing changes.
        case unchanged
    }

    /// Shown until the picture has loaded, and after a failure. Default nil: nothing is shown.
    public var placeholder: Image?
    /// How long nothing is shown before the ``placeholder``, so that it does not flash up before pictures from disk.
    /// Default 0. It has no effect if ``keepsCurrentImage`` is true.
    public var placeholderDelay = Duration.zero
    /// Whether the slot keeps showing its current picture until the new one has loaded. The ``placeholder`` is then
    /// shown only if the load fails. Default false.
    public var keepsCurrentImage = false
    /// Shown when the load fails, in place of the ``placeholder``. Default nil.
    public var errorImage: Image?
    /// Whether the slot shows the picture. If false, the caller shows the picture that the completion gets. Default
    /// true.
    public var setsImage = true
    /// Shows pictures, previews, placeholders and error images of this load in place of the target's own functions, also when
    /// ``setsImage`` is false. Default nil.
    public var setImage: (@MainActor (_ image: Image?, _ role: SlotImageRole) -> Void)?
    /// Whether previews are shown while the picture is still loading. Default true.
    public var showsPreviews = true

    /// How the picture replaces the previous one. Default nil: at once.
    public var transition: (any ImageTransition)?
    /// Whether the transition also runs for a picture that was in memory. Default false.
    public var forcesTransition = false
    /// Whether the completion is called only after the transition. Default false.
    public var waitsForTransition = false
    /// Shown while the user has to wait. Default nil.
    public var indicator: (any LoadIndicator)?

    /// Whether a new load of the slot cancels the previous one. If false, the previous load goes on and its completion
    /// is called with the result, but its picture is never shown. Default true.
    public var cancelsPrevious = true
    /// Whether a call with the request that the slot already loads or shows changes nothing. This is for cells of a
    /// list, which toolkits bind again to the same item. The completion is called as if the call had been part of the
    /// running load. Default false.
    public var keepsEqualLoad = false
    /// Whether a request without a size is loaded in the target's size (``ImageSlots/resize(to:)``), and how it fits.
    /// The load waits until the size is known, and is repeated when the target becomes larger than the picture. Default
    /// nil: the picture's own size.
    public var fitsTarget: ImageFit?
    /// What happens to the load while the target is not visible (``ImageSlots/isVisible``). Default
    /// ``HiddenLoads/demoted``.
    public var whenHidden = HiddenLoads.demoted
    /// Whether a load that failed without a network is repeated when the network is back
    /// (``ImageSlots/init(of:manager:options:connectivity:)``). Default true.
    public var reloadsWhenConnected = true

    public init() {}
}

/// The role of an image that a slot shows.
public enum SlotImageRole: String, Hashable, Sendable, CaseIterable {
    /// The picture of the load.
    case picture
    /// A preview of the picture while it is loading.
    case preview
    /// The placeholder until the picture has loaded; nil clears the slot.
    case placeholder
    /// The image for a picture that could not be loaded.
    case error
}
