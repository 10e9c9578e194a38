import WebImageCore
import WebImageSystem

/// The stage behind a decode: makes pictures of pictures, step by step. Orders whose chains of steps begin alike share that
/// beginning: each picture on the way is made once. Where chains part, each branch goes on for itself.
struct PictureSteps<Order: PictureOrder>: Sendable {
    let service: DecodeService
    let priority: LoadPriority
    /// Takes what was made for an order; `cancelled` for one that nobody waits for any more. Called once for each, on threads
    /// that may block.
    let finish: @Sendable (Order, Result<DecodedPicture, WebImageError>) -> Void

    /// - Parameters:
    ///   - picture: what all orders' chains start from.
    ///   - mayStay: whether the work may be done on this thread.
    func run(_ picture: DecodedPicture, for orders: [Order], mayStay: Bool) {
        // They share a decoded picture, and with it the steps that are a part of decoding.
        run(picture, for: orders, from: orders.first?.recipe.decodedSteps ?? 0, mayStay: mayStay)
    }

    /// - Parameter step: how many steps `picture` has behind it.
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

    /// Those that go on, by what they do next, in the order in which they came.
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

    /// Takes the next steps, which are the same for all these orders, and goes on from there.
    private func take(_ step: Int, _ picture: DecodedPicture, for orders: [Order]) {
        guard let recipe = orders.first?.recipe else { return }
        let end = commonEnd(of: orders, from: step)
        var picture = picture
        guard !orders.allSatisfy(\.isAbandoned) else {
            for order in orders { finish(order, .failure(.cancelled)) }
            return
        }
        let begin = service.clock.now
        do throws(WebImageError) {
            picture.image = try recipe.transformed(
                picture.image, by: step..<end, isAnimated: picture.isAnimated, with: service.idleThreads)
        } catch {
            for order in orders { finish(order, .failure(error)) }
            return
        }
        picture.steps.append(StepSpan(steps: step..<end, began: begin, ended: service.clock.now))
        run(picture, for: orders, from: end, mayStay: true)
    }

    /// How far the chains of all of them go on alike, behind a step that is the same.
    private func commonEnd(of orders: [Order], from step: Int) -> Int {
        var end = step + 1
        while true {
            let keys = orders.map { end < $0.recipe.transformers.count ? $0.recipe.transformers[end].key : nil }
            guard let first = keys.first ?? nil, keys.allSatisfy({ $0 == first }) else { return end }
            end += 1
        }
    }
}
