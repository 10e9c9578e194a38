import WebImageCore

extension SlotMachine {
    /// A call of the slot's owner.
    struct Call {
        /// The request as the caller gave it.
        let given: ImageRequest
        /// The request as it is loaded: a retry also loads a URL that is blocked after a failure.
        var request: ImageRequest
        var options: SlotOptions
        /// The load that runs for the call; nil: none.
        var load: Int?
        /// The size of the target for which the picture was last requested.
        var askedSize: PixelSize?
        /// The size of the target for which the shown picture was requested.
        var shownSize: PixelSize?
        /// Whether the call's placeholder was shown or delayed.
        var hasBegun = false
        var isIndicating = false
        /// The picture from the caches that is shown while the origin is asked.
        var cached: ImageResponse?
        /// Why that picture could not be checked, although it is the answer.
        var checkError: WebImageError?
        /// Why a larger picture could not be loaded, although the target has become too large for the shown one.
        var growError: WebImageError?
        /// The answer of the call, once there is one.
        var result: Result<ImageResponse, WebImageError>?
        /// Whether the answer waits for the end of a transition.
        var awaitsTransition = false
        var isDemoted = false

        var isRunning: Bool { load != nil }
        /// Whether the call has its picture. A load that still runs is then for a larger one.
        var hasPicture: Bool { if case .success? = result { true } else { false } }
    }
}
