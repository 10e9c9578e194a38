import Synchronization
import WebImageCore
import WebImageSystem

/// Turns the output of a decode session into finished pictures: sized, transformed and delivered.
struct DecodeAnswer<Client: DecodeClient>: Sendable {
    let service: DecodeService
    let client: Client
    let delivery: Client.Delivery
    /// The final header of the decoder, which may have more information than the one for the plan.
    let header: ImageHeader?
    /// The error of incomplete pictures.
    let failure: WebImageError?
    /// The time span of the decode.
    let span: DecodeSpan

    /// Finishes the orders. Orders that are done come first, then each of those with further work by itself, so that no
    /// order waits for the work of another.
    ///
    /// - Parameter done: called on the thread of the last order, with whether every picture is complete.
    func send(_ made: [PictureInMaking<Client.Order>], done: @escaping @Sendable (_ isWhole: Bool) -> Void) {
        let isWhole = failure == nil && !made.isEmpty
        if made.count == 1, made[0].onlyOrder != nil {
            // A single order needs no other thread.
            if made[0].isAbandoned { return done(isWhole) }
            return send(made[0], Tally(isWhole: isWhole, count: 1, done: done), mayStay: true)
        }
        let wanted = made.filter { !$0.isAbandoned }
        if wanted.isEmpty { return done(isWhole) }
        // Orders that are cancelled from now on still count in the tally.
        let tally = Tally(isWhole: isWhole, count: wanted.reduce(0) { $0 + $1.orders.count }, done: done)
        for late in wanted where late.hasWorkAhead {
            let handed = HandedOver(late)
            service.executor.complete(client.priority) { self.send(handed.made, tally, mayStay: false) }
        }
        for soon in wanted where !soon.hasWorkAhead { send(soon, tally, mayStay: false) }
    }

    private func send(_ made: PictureInMaking<Client.Order>, _ tally: Tally, mayStay: Bool) {
        let picture: DecodedPicture
        do throws(WebImageError) {
            let begin = service.clock.now
            let image = try made.target.image(isPartial: failure != nil, finalHeader: header)
            var span = span
            span.ended = service.clock.now
            span.spent += span.ended - begin
            picture = DecodedPicture(image: image, partialError: failure, decode: span)
        } catch {
            return finish(made.orders, .failure(error), tally)
        }
        if failure == nil, made.target.frames == nil, !made.target.recipe.hasSteps,
            let order = made.onlyOrder
        {
            return finish(order, .success(picture), tally)
        }
        sendSteps(of: made, from: picture, tally, mayStay: mayStay)
    }

    private func sendSteps(
        of made: PictureInMaking<Client.Order>, from picture: DecodedPicture, _ tally: Tally, mayStay: Bool
    ) {
        var orders = made.orders
        if let failure {
            let refused = orders.filter { !$0.recipe.decoding.allowsPartial }
            for order in refused { client.showPreview(picture.image, of: order) }
            finish(refused, .failure(failure), tally)
            orders.removeAll { !$0.recipe.decoding.allowsPartial }
        }
        let frames = made.target.frames
        var picture = picture
        picture.isAnimated = frames?.isAnimation ?? false
        if let frames, picture.isAnimated {
            // Animations that are not transformed.
            for order in orders where !order.recipe.decoding.transformsAnimations {
                var whole = picture
                whole.image = animated(picture.image, frames, order)
                finish(order, .success(whole), tally)
            }
            orders.removeAll { !$0.recipe.decoding.transformsAnimations }
        }
        let steps = PictureSteps(service: service, priority: client.priority) { (order: Client.Order, result) in
            var result = result
            if let frames, case .success(var picture) = result {
                picture.image = animated(picture.image, frames, order)
                result = .success(picture)
            }
            finish(order, result, tally)
        }
        steps.run(picture, for: orders, mayStay: mayStay)
    }

    private func finish(
        _ orders: [Client.Order], _ result: Result<DecodedPicture, WebImageError>, _ tally: Tally
    ) {
        for order in orders { finish(order, result, tally) }
    }

    private func finish(_ order: Client.Order, _ result: Result<DecodedPicture, WebImageError>, _ tally: Tally) {
        switch result {
        case .success(let picture) where order.recipe.decoding.requiresAnimation && picture.image.animation == nil:
            let error = WebImageError(.unsupportedFeature, "the picture is no animation")
            delivery.finish(order, .failure(error.endingALoad(of: order.place)))
            tally.end(isWhole: true)
        case .success:
            delivery.finish(order, result)
            tally.end(isWhole: true)
        case .failure(let error):
            if error.code == .cancelled, order.isAbandoned {
                // A picture without waiters does not count as a failure.
                return tally.end(isWhole: true)
            }
            delivery.finish(order, .failure(error.endingALoad(of: order.place)))
            tally.end(isWhole: error.code == .transformFailed ? nil : false)
        }
    }

    /// The picture with its animation, if it is one.
    private func animated(_ image: Image, _ frames: AnimationTarget, _ order: Client.Order) -> Image {
        guard let animation = frames.animation(first: image) else { return image }
        if order.recipe.decoding.preloadsFrames {
            for index in 0..<animation.framesToPreload where !order.isAbandoned {
                // An error in a frame is reported when the frame is asked for.
                do { try animation.decodeNow(index) } catch { break }
            }
        }
        return image.with(animation: animation)
    }
}

/// A picture that is handed over to the thread that continues with it.
private final class HandedOver<Order: PictureOrder>: @unchecked Sendable {
    // Sendable: the thread that hands it over does not use it any more.
    let made: PictureInMaking<Order>

    init(_ made: PictureInMaking<Order>) { self.made = made }
}

/// Counts several pictures, and reports when the last one is answered.
private final class Tally: Sendable {
    private struct State {
        var isWhole: Bool
        /// Whether a picture was made.
        var isProven = false
        var left: Int
    }

    private let state: Guarded<State>
    private let done: @Sendable (Bool) -> Void

    init(isWhole: Bool, count: Int, done: @escaping @Sendable (Bool) -> Void) {
        state = Guarded(State(isWhole: isWhole, left: count))
        self.done = done
    }

    /// - Parameter isWhole: whether a picture could be made of the bytes; nil: a transformer has failed, which says nothing about the
    ///   bytes.
    func end(isWhole: Bool?) {
        let areAllWhole = state.withLock { state -> Bool? in
            state.left -= 1
            state.isWhole = state.isWhole && isWhole != false
            state.isProven = state.isProven || isWhole == true
            return state.left == 0 ? state.isWhole && state.isProven : nil
        }
        if let areAllWhole { done(areAllWhole) }
    }
}

extension WebImageError {
    /// The error with which a load ends: an error in a picture's data becomes the cause of `badImageData`.
    func endingALoad(of place: String) -> WebImageError {
        // These two errors are not caused by the data.
        let isOfData = code != .transformFailed && code != .decoderUnavailable
        guard (3000..<3100).contains(code.rawValue), isOfData else { return at(place) }
        var error = WebImageError(.badImageData, message, cause: self, location: place, format: format)
        error.limit = limit
        return error
    }
}
