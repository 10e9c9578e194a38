import WebImageCore
import WebImageDownload
import WebImageProcessing

/// An order for one picture that is made from some bytes.
protocol PictureOrder: Sendable {
    var recipe: PictureRecipe { get }
    /// The name of the picture in errors.
    var place: String { get }
    /// True when it has no waiters left.
    var isAbandoned: Bool { get }
    /// Whether a waiter follows progress, not only the result.
    var isWatched: Bool { get }
}

extension Array where Element: PictureOrder {
    /// A checkpoint for work whose result is only for these orders: it throws when none of them has waiters left.
    var checkpoint: TransformProgram.Checkpoint {
        { () throws(WebImageError) in if allSatisfy(\.isAbandoned) { throw .cancelled } }
    }
}

/// The client of a decode, which knows the orders for pictures and receives the results. It is called on any thread,
/// and must not block.
protocol DecodeClient: Sendable {
    associatedtype Order: PictureOrder
    associatedtype Delivery: PictureDelivery where Delivery.Order == Order

    /// The recipe for the decoder. All orders have the same limits, page, depth, coder and hint.
    var recipe: PictureRecipe { get }
    /// The name of the bytes in errors.
    var place: String { get }
    /// The object whose priority may change while something waits.
    var owner: AnyObject { get }
    var priority: LoadPriority { get }
    /// True when no picture of the bytes has waiters left.
    var isAbandoned: Bool { get }
    var isWatched: Bool { get }
    /// Whether this thread belongs to a waiting task on Swift's own threads, which may decode a small picture itself.
    var mayDecodeHere: Bool { get }
    /// Whether the bytes may take long to arrive, so that previews make sense.
    var showsPreviews: Bool { get }

    /// Hands over all orders that no session has taken on. Each is finished once, by the session that took it.
    ///
    /// - Parameter header: the header by which the session plans; nil: it ends without a plan.
    func takeOrders(_ header: ImageHeader?) -> [Order]
    /// Reports the progress of the bytes to waiters that follow it.
    ///
    /// - Parameter orders: the orders whose waiters are told; nil: all orders that no session has taken on.
    func tell(_ progress: LoadProgress, to orders: [Order]?)
    func showPreview(_ image: Image, of order: Order)

    /// Asks for a substitute for interrupted bytes.
    ///
    /// - Returns: whether there is one; the client then finishes the orders that `orders` returns.
    func standsIn(for error: WebImageError, _ orders: () -> [Order]) -> Bool
    /// Ends orders without a picture.
    func refuse(_ orders: [Order], _ error: WebImageError)
    /// Ends the orders of a session whose bytes could not be decoded.
    ///
    /// - Parameter span: when it was tried; nil: there was nothing to decode.
    func fail(_ orders: [Order], _ error: WebImageError, _ span: DecodeSpan?)
    /// Called when the bytes are decoded, as far as they have arrived. The session then makes the pictures and hands
    /// them to the delivery that this returns.
    ///
    /// - Parameters:
    ///   - log: the log of the decoded bytes.
    ///   - failure: the error of the bytes or of the decoder, if only a part was decoded.
    func deliver(_ log: ByteLog, _ header: ImageHeader?, failure: WebImageError?) -> Delivery
}

extension DecodeClient {
    var mayDecodeHere: Bool { false }
}

/// Receives the pictures of one session, on threads that may block.
protocol PictureDelivery: Sendable {
    associatedtype Order: PictureOrder

    func finish(_ order: Order, _ result: Result<DecodedPicture, WebImageError>)
    /// Called after the last order has ended.
    ///
    /// - Parameter isWhole: whether all pictures were made and are complete.
    func end(isWhole: Bool)
}

/// A picture that a session made.
struct DecodedPicture: Sendable {
    var image: Image
    /// Whether it is the first picture of an animation.
    var isAnimated = false
    /// The error, if only a part of the bytes arrived.
    var partialError: WebImageError?
    /// The time of the decoder, including scaling and turning; nil for a picture that existed already.
    var decode: DecodeSpan?
    /// The steps of a chain that were applied since.
    var steps: [StepSpan] = []

    /// Nil without transformers.
    var transformTime: Duration? {
        steps.isEmpty ? nil : steps.reduce(.zero) { $0 + ($1.ended - $1.began) }
    }
}
