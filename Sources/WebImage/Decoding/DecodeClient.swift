import WebImageCore
import WebImageDownload

/// A picture that somebody wants made of some bytes.
protocol PictureOrder: Sendable {
    var recipe: PictureRecipe { get }
    /// What errors call it.
    var place: String { get }
    /// True when nobody waits for it any more.
    var isAbandoned: Bool { get }
    /// Whether somebody looks at the way, not only at the end.
    var isWatched: Bool { get }
}

/// On whose behalf bytes are decoded: it knows who wants which pictures of them, and what becomes of these. Its calls come
/// from any thread; none may block.
protocol DecodeClient: Sendable {
    associatedtype Order: PictureOrder
    associatedtype Delivery: PictureDelivery where Delivery.Order == Order

    /// All orders agree with it in what a decoder is made by: limits, page, depth, coder and hint.
    var recipe: PictureRecipe { get }
    /// What errors call the bytes.
    var place: String { get }
    /// Whose urgency may change while something waits.
    var owner: AnyObject { get }
    var priority: LoadPriority { get }
    /// True when nobody wants any picture of the bytes any more.
    var isAbandoned: Bool { get }
    var isWatched: Bool { get }
    /// Whether this thread is one of Swift's own, of a task that waits for nothing else: it may decode a small picture itself.
    var mayDecodeHere: Bool { get }
    /// Whether it may take long until all bytes are there, so that there is something to show on the way.
    var showsPreviews: Bool { get }

    /// Hands over every order that no session has taken on. Each is finished once, by the session that took it.
    ///
    /// - Parameter header: what the session plans by; nil: it ends without a plan.
    func takeOrders(_ header: ImageHeader?) -> [Order]
    /// Tells those who look at the way how far the bytes are.
    ///
    /// - Parameter orders: of these only; nil: of those that no session has taken on.
    func tell(_ progress: LoadProgress, to orders: [Order]?)
    func showPreview(_ image: Image, of order: Order)

    /// Asks for something in place of bytes that broke off.
    ///
    /// - Returns: whether there is; the client then finishes what `orders` gives.
    func standsIn(for error: WebImageError, _ orders: () -> [Order]) -> Bool
    /// Ends orders without a picture.
    func refuse(_ orders: [Order], _ error: WebImageError)
    /// Ends the orders of a session whose bytes could not be decoded.
    ///
    /// - Parameter span: when it was tried; nil: there was nothing to decode.
    func fail(_ orders: [Order], _ error: WebImageError, _ span: DecodeSpan?)
    /// The bytes are decoded, as far as they came. Pictures are made of them now, and handed to the result.
    ///
    /// - Parameters:
    ///   - log: of the bytes that were decoded.
    ///   - failure: what is wrong when only a part is there.
    func deliver(_ log: ByteLog, _ header: ImageHeader?, failure: WebImageError?) -> Delivery
}

extension DecodeClient {
    var mayDecodeHere: Bool { false }
}

/// Takes the pictures that one session made. On threads that may block.
protocol PictureDelivery: Sendable {
    associatedtype Order: PictureOrder

    func finish(_ order: Order, _ result: Result<DecodedPicture, WebImageError>)
    /// Follows the last order's end.
    ///
    /// - Parameter isWhole: whether every picture was made, and whole.
    func end(isWhole: Bool)
}

/// A picture that a session made.
struct DecodedPicture: Sendable {
    var image: Image
    /// Whether it is the first picture of an animation.
    var isAnimated = false
    /// What was wrong with bytes of which only a part came.
    var partialError: WebImageError?
    /// Work of the decoder, scaling and turning included; nil for a picture that was there.
    var decode: DecodeSpan?
    /// Steps of a chain that were taken since.
    var steps: [StepSpan] = []

    /// Nil without transformers.
    var transformTime: Duration? {
        steps.isEmpty ? nil : steps.reduce(.zero) { $0 + ($1.ended - $1.began) }
    }
}
