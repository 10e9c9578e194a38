import Synchronization
import WebImageCore
import WebImageSystem

/// Turns what a session has decoded into pictures: sized, transformed, handed over.
struct DecodeAnswer<Client: DecodeClient>: Sendable {
    let service: DecodeService
    let client: Client
    let delivery: Client.Delivery
    /// What the decoder learnt, which may be more than it planned by.
    let header: ImageHeader?
    /// What is wrong with pictures of which only a part is there.
    let failure: WebImageError?
    let decodeTime: Duration

    /// Finishes the orders: first those that are done, then those that have work before them, each for itself, so that
    /// nobody waits for what others want made of the same bytes.
    ///
    /// - Parameter done: told, on the last one's thread, whether every picture is whole.
    func send(_ made: [PictureInMaking<Client.Order>], done: @escaping @Sendable (_ isWhole: Bool) -> Void) {
        let wanted = made.filter { !$0.order.isAbandoned }
        let isWhole = failure == nil && !made.isEmpty
        if wanted.isEmpty { return done(isWhole) }
        let tally = Tally(isWhole: isWhole, count: wanted.count, done: done)
        // A single one needs no other thread.
        let mayStay = wanted.count == 1
        for late in wanted where !mayStay && late.target.hasWorkAhead {
            let handed = HandedOver(late)
            service.executor.complete(client.priority) { self.send(handed.made, tally) }
        }
        for soon in wanted where mayStay || !soon.target.hasWorkAhead { send(soon, tally) }
    }

    private func send(_ made: PictureInMaking<Client.Order>, _ tally: Tally) {
        let result = picture(made)
        delivery.finish(made.order, result)
        if case .failure = result { tally.end(isWhole: false) } else { tally.end(isWhole: true) }
    }

    private func picture(_ made: PictureInMaking<Client.Order>) -> Result<DecodedPicture, WebImageError> {
        let (order, target) = (made.order, made.target)
        do throws(WebImageError) {
            let begin = service.clock.now
            var image = try target.image(isPartial: failure != nil, finalHeader: header)
            if let failure, !target.recipe.allowsPartial {
                client.showPreview(image, of: order)
                throw failure
            }
            let transformBegin = service.clock.now
            image = try target.recipe.transformed(image)
            if let animation = target.frames?.animation(first: image) {
                image = image.with(animation: animation)
                if target.recipe.preloadsFrames { preload(animation, order) }
            }
            let hasTransformed = !target.recipe.transformers.isEmpty
            return .success(
                DecodedPicture(
                    image: image, partialError: failure, decodeTime: decodeTime + (transformBegin - begin),
                    transformTime: hasTransformed ? service.clock.now - transformBegin : nil))
        } catch {
            return .failure(error.endingALoad(of: order.place))
        }
    }

    /// What is wrong with a frame is told when it is asked for.
    private func preload(_ animation: ImageAnimation, _ order: Client.Order) {
        for index in 0..<animation.framesToPreload where !order.isAbandoned {
            do { try animation.decodeNow(index) } catch { return }
        }
    }
}

extension DecodeTarget {
    /// Whether more is to be done with its pixels than handing them over.
    fileprivate var hasWorkAhead: Bool { !recipe.transformers.isEmpty || recipe.preloadsFrames }
}

/// A picture in the making on its way to the thread that goes on with it.
private final class HandedOver<Order: PictureOrder>: @unchecked Sendable {
    // Sendable: whoever hands it over does not touch it any more.
    let made: PictureInMaking<Order>

    init(_ made: PictureInMaking<Order>) { self.made = made }
}

/// Tells when the last of several pictures is answered.
private final class Tally: Sendable {
    private struct State {
        var isWhole: Bool
        var left: Int
    }

    private let state: Guarded<State>
    private let done: @Sendable (Bool) -> Void

    init(isWhole: Bool, count: Int, done: @escaping @Sendable (Bool) -> Void) {
        state = Guarded(State(isWhole: isWhole, left: count))
        self.done = done
    }

    func end(isWhole: Bool) {
        let areAllWhole = state.withLock { state -> Bool? in
            state.left -= 1
            state.isWhole = state.isWhole && isWhole
            return state.left == 0 ? state.isWhole : nil
        }
        if let areAllWhole { done(areAllWhole) }
    }
}

extension WebImageError {
    /// The error as a load ends in it: what is wrong with a picture's data is the cause of `badImageData`.
    func endingALoad(of place: String) -> WebImageError {
        // Of these two the data is not the reason.
        let isOfData = code != .transformFailed && code != .decoderUnavailable
        guard (3000..<3100).contains(code.rawValue), isOfData else { return at(place) }
        return WebImageError(.badImageData, message, cause: self, location: place, format: format)
    }
}
