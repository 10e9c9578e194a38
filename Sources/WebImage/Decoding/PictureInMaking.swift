import WebImageCore

/// One picture that is being decoded, with all orders for it or for a picture that is made from it by further steps.
struct PictureInMaking<Order: PictureOrder> {
    let target: DecodeTarget
    private let first: Order
    /// The other orders; nearly always empty.
    private var others: [Order] = []

    init(_ target: DecodeTarget, for order: Order) {
        self.target = target
        first = order
    }

    var orders: [Order] { [first] + others }
    /// The order, if there is only one.
    var onlyOrder: Order? { others.isEmpty ? first : nil }

    /// The key that orders must have in common to share a decoded picture.
    ///
    /// The frames of an animation are transformed when they are shown, each in its own animation. A possible animation
    /// is therefore shared only by orders with the same steps.
    static func sharedKey(of order: Order, _ header: ImageHeader) -> PictureKey {
        let key = PictureKey(order.recipe)
        let mayBeAnimated = header.mayBeAnimated && !order.recipe.decoding.firstFrameOnly
        return mayBeAnimated ? key : PictureKey(decode: key.decode)
    }

    mutating func add(_ order: Order) { others.append(order) }

    var isAbandoned: Bool { first.isAbandoned && others.allSatisfy(\.isAbandoned) }
    var isWatched: Bool { first.isWatched || others.contains(where: \.isWatched) }
    /// The orders that want previews. An animation that plays already is not replaced by its first frame.
    var ordersOfPreviews: [Order] {
        target.hasShownFirstFrame ? [] : orders.filter { $0.isWatched && $0.recipe.allowsPreviews }
    }

    /// Whether every order needs further work on the pixels.
    var hasWorkAhead: Bool {
        orders.allSatisfy { $0.recipe.hasSteps || $0.recipe.decoding.preloadsFrames }
    }
}
