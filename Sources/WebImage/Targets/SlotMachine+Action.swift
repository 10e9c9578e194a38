import WebImageCore

extension SlotMachine {
    /// What is to be done, in order. What has a `call` is done only while that is the slot's current call: an action before it
    /// may have run code that called again.
    enum Action {
        case start(load: Int, ImageRequest)
        /// Looks whether memory has what is not loaded yet because the target is not seen.
        case look(call: Int, ImageRequest)
        case stop(load: Int)
        case setPriority(load: Int, LoadPriority)
        case show(call: Int, Image?, SlotImageRole, SlotOptions)
        case run(call: Int, any ImageTransition, Image)
        /// Says after a while that the placeholder is due.
        case delayPlaceholder(call: Int, Duration)
        case startIndicator(call: Int, any LoadIndicator)
        case stopIndicator(any LoadIndicator)
        case tellIndicator(any LoadIndicator, Double?)
        /// Says that the state has changed.
        case tell(call: Int)
        /// The call's answer, whether it is the current one or not.
        case answer(call: Int, Result<ImageResponse, WebImageError>)
    }
}
