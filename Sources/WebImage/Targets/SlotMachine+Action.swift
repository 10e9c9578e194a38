import WebImageCore

extension SlotMachine {
    /// What the slot must do, in order. An action with a `call`, except `answer`, is carried out only while that is the
    /// slot's current call, because an action before it may have run code that called the slot again.
    enum Action {
        case start(load: Int, ImageRequest)
        /// Calls ``SlotMachine/proceed(_:)``.
        case proceed(call: Int)
        /// Looks up in memory a picture that is not loaded yet because the target is not visible.
        case look(call: Int, ImageRequest)
        case stop(load: Int)
        case setPriority(load: Int, LoadPriority)
        case show(call: Int, Image?, SlotImageRole, SlotOptions)
        case run(call: Int, any ImageTransition, Image)
        /// Calls ``SlotMachine/placeholderIsDue(_:)`` after the delay.
        case delayPlaceholder(call: Int, Duration)
        case startIndicator(call: Int, any LoadIndicator)
        case stopIndicator(any LoadIndicator)
        case tellIndicator(any LoadIndicator, Double?)
        /// Tells the target that the state has changed.
        case tell(call: Int)
        /// Answers a call, whether it is the current one or not.
        case answer(call: Int, Result<ImageResponse, WebImageError>)
    }
}
