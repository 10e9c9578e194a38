public import WebImageCore

/// What a slot loads and shows: one value with its URL, progress and phase.
public struct SlotState: Sendable {
    public enum Phase: Sendable {
        /// Nothing was asked for, or it was cleared.
        case empty
        /// The load begins when the target has a size (``SlotOptions/fitsTarget``).
        case waitingForSize
        /// The load begins when the target is seen (``SlotOptions/HiddenLoads/paused``).
        case paused
        case loading
        /// The load has ended with a picture, which came from there.
        case loaded(ImageSource)
        case failed(WebImageError)
        case cancelled
    }

    /// What was asked for last, as the caller gave it.
    public internal(set) var request: ImageRequest?
    public internal(set) var phase = Phase.empty
    /// How far the load is; nil before its first byte.
    public internal(set) var progress: LoadProgress?
    /// The picture or preview of ``request`` that the slot has; nil for placeholders.
    public internal(set) var image: Image?

    /// The URL that was asked for last.
    public var url: String? { request?.url }

    /// How far the load is, from 0 to 1: 1 when it has ended with a picture, nil where nobody knows how much there is to come.
    public var fraction: Double? {
        if case .loaded = phase { return 1 }
        return progress?.fraction
    }

    public var isLoading: Bool {
        if case .loading = phase { true } else { false }
    }

    /// What the last load failed with.
    public var error: WebImageError? {
        if case .failed(let error) = phase { error } else { nil }
    }
}
