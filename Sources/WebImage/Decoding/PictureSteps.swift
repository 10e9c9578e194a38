import WebImageCore
import WebImageSystem

/// The stage after a decode, which makes pictures from pictures, step by step. Orders whose chains begin with the same
/// steps share their results: each intermediate picture is made once. Where chains differ, each branch continues by
/// itself.
struct PictureSteps<Order: PictureOrder>: Sendable {
    let service: DecodeService
    let priority: LoadPriority
    /// Receives the result of an order; `cancelled` for an order without waiters. Called once for each order, on
    /// threads that may block.
    let finish: @Sendable (Order, Result<DecodedPicture, WebImageError>) -> Void

    /// - Parameters:
    ///   - picture: the picture from which the chains of all orders start.
    ///   - mayStay: whether the work may run on this thread.
    func run(_ picture: DecodedPicture, for orders: [Order], mayStay: Bool) {
        // The orders share a decoded picture, and so also the steps that are a part of decoding.
        run(picture, for: orders, from: orders.first?.recipe.decodedSteps ?? 0, mayStay: mayStay)
    }

    /// - Parameter step: how many steps are applied to `picture`.
    func run(_ picture: DecodedPicture, for orders: [Order], from step: Int, mayStay: Bool) {
        for order in orders where order.recipe.transformers.count == step { finish(order, .success(picture)) }
        let branches = branches(of: orders, at: step)
        for branch in branches {
            if mayStay, branches.count == 1 {
                take(step, picture, for: branch)
            } else {
                service.executor.complete(priority) { take(step, picture, for: branch) }
            }
        }
    }

    /// The orders that continue, grouped by their next step, in the order in which they came.
    private func branches(of orders: [Order], at step: Int) -> [[Order]] {
        var branches: [(key: String, orders: [Order])] = []
        for order in orders where order.recipe.transformers.count > step {
            let key = order.recipe.transformers[step].key
            if let place = branches.firstIndex(where: { $0.key == key }) {
                branches[place].orders.append(order)
            } else {
                branches.append((key, [order]))
            }
        }
        return branches.map(\.orders)
    }

    /// Applies the next steps, which are the same for all these orders, and continues from there.
    private func take(_ step: Int, _ picture: DecodedPicture, for orders: [Order]) {
        guard let recipe = orders.first?.recipe else { return }
        let end = commonEnd(of: orders, from: step)
        var picture = picture
        let begin = service.clock.now
        do throws(WebImageError) {
            picture.image = try recipe.transformed(
                picture.image, by: step..<end, isAnimated: picture.isAnimated, with: service.idleThreads,
                checkpoint: orders.checkpoint)
        } catch {
            for order in orders { finish(order, .failure(error)) }
            return
        }
        picture.steps.append(StepSpan(steps: step..<end, began: begin, ended: service.clock.now))
        run(picture, for: orders, from: end, mayStay: true)
    }

    /// How far the chains of all orders are the same after a common step.
    private func commonEnd(of orders: [Order], from step: Int) -> Int {
        var end = step + 1
        while true {
            let keys = orders.map { end < $0.recipe.transformers.count ? $0.recipe.transformers[end].key : nil }
            guard let first = keys.first ?? nil, keys.allSatisfy({ $0 == first }) else { return end }
            end += 1
        }
    }
}
