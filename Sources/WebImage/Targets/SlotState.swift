public import WebImageCore

/// What a slot loads and shows: its URL, progress and phase.
public struct SlotState: Sendable {
    public enum Phase: Sendable {
        /// Nothing was requested, or the slot was cleared.
        case empty
        /// The load begins when the target has a size (``SlotOptions/fitsTarget``).
        case waitingForSize
        /// The load begins when the target is visible (``SlotOptions/HiddenLoads/paused``).
        case paused
        case loading
        /// The load has ended with a picture from that source.
        case loaded(ImageSource)
        case failed(WebImageError)
        case cancelled
    }

    /// The last request, as the caller gave it.
    public internal(set) var request: ImageRequest?
    public internal(set) var phase = Phase.empty
    /// The progress of the load; nil before its first byte.
    public internal(set) var progress: LoadProgress?
    /// The picture or preview of ``request`` that the slot has; nil for placeholders.
    public internal(set) var image: Image?

    /// The URL of the last request.
    public var url: String? { request?.url }

    /// The progress of the load from 0 to 1: 1 when it has ended with a picture, nil if the length is not known.
    public var fraction: Double? {
        if case .loaded = phase { return 1 }
        return progress?.fraction
    }

    public var isLoading: Bool {
        if case .loading = phase { true } else { false }
    }

    /// The error of the last load.
    public var error: WebImageError? {
        if case .failed(let error) = phase { error } else { nil }
    }
}
