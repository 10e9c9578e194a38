import WebImageCore

/// One decoded picture in the making, and all who want it, or something made of it by further steps.
struct PictureInMaking<Order: PictureOrder> {
    let target: DecodeTarget
    private let first: Order
    /// Nearly always nobody.
    private var others: [Order] = []

    init(_ target: DecodeTarget, for order: Order) {
        self.target = target
        first = order
    }

    var orders: [Order] { [first] + others }
    /// The one who wants it, where nobody else does.
    var onlyOrder: Order? { others.isEmpty ? first : nil }

    /// What an order must agree in with others to share a decoded picture.
    ///
    /// The frames of an animation go through the steps when they are shown, each in its own animation: what may be one is
    /// shared only by those who want the same steps.
    static func sharedKey(of order: Order, _ header: ImageHeader) -> PictureKey {
        let key = PictureKey(order.recipe)
        let mayBeAnimated = header.frameCount != 1 && !order.recipe.decoding.firstFrameOnly
        return mayBeAnimated ? key : PictureKey(decode: key.decode)
    }

    mutating func add(_ order: Order) { others.append(order) }

    var isAbandoned: Bool { first.isAbandoned && others.allSatisfy(\.isAbandoned) }
    var isWatched: Bool { first.isWatched || others.contains(where: \.isWatched) }

    /// Whether for each of them more is to be done with the pixels than handing them over.
    var hasWorkAhead: Bool {
        orders.allSatisfy { $0.recipe.hasSteps || $0.recipe.decoding.preloadsFrames }
    }
}
