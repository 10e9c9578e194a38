import Synchronization
import WebImageCodecs
import WebImageCore
import WebImageDownload

/// The progress and previews of a session.
extension DecodeSession {
    /// A session reports to the waiters of its own pictures; before it has a plan, to those of all unplanned pictures.
    func showProgress() {
        guard client.isWatched else { return }
        let (received, expected) = reading.log.progress
        let progress = LoadProgress(received: ByteCount(received), expected: expected.map { ByteCount($0) })
        client.tell(progress, to: plan.knownOrders)
    }

    /// Whether previews are wanted, and there may be something new to show.
    var wantsPreview: Bool {
        client.showsPreviews && !work.isComplete && work.decoder != nil && plan.header != nil
            && work.targets.contains { !$0.ordersOfPreviews.isEmpty }
    }

    /// Shows a preview, unless the last one is too recent; then it is shown later.
    ///
    /// - Parameter isIdle: whether there are no bytes to decode. Only then are previews made whose chain has steps left,
    ///   since these may take longer than the rest of the picture.
    func showPreview(isIdle: Bool) {
        let begin = service.clock.now
        guard let decoder = work.decoder, pace.previews.isDue(at: begin) else { return }
        pace.previews.isOwed = false
        var pixels: PixelBuffer??
        for made in work.targets {
            let orders = made.ordersOfPreviews
            let shown = isIdle ? orders : orders.filter { !$0.recipe.hasSteps }
            if shown.count < orders.count { pace.previews.isOwed = true }
            guard !shown.isEmpty else { continue }
            let whole = pixels ?? (try? decoder.preview())
            pixels = .some(whole)
            show(whole.map { made.target.preview(of: $0) } ?? made.target.partialImage(), of: made.target, to: shown)
        }
        if pixels != nil { pace.previews.shown(at: service.clock.now, cost: service.clock.now - begin) }
    }

    /// Shows a preview with the steps of each order.
    private func show(_ preview: Image?, of target: DecodeTarget, to orders: [Client.Order]) {
        guard let preview else { return }
        var made: [PictureKey: Image] = [:]
        for order in orders {
            let key = PictureKey(order.recipe)
            let image =
                made[key]
                ?? order.recipe.transformed(
                    preview: preview, isAnimated: target.frames != nil, checkpoint: [order].checkpoint)
            made[key] = image
            if let image { client.showPreview(image, of: order) }
        }
    }

    /// Shows the first frame of a possible animation as soon as it is decoded, since the others may come much later.
    func showFirstFrames() {
        guard client.showsPreviews else { return }
        for made in work.targets where made.isWatched {
            let orders = made.orders
            guard let image = made.target.takeFirstFrame(orders.checkpoint) else { continue }
            for order in orders { client.showPreview(image, of: order) }
        }
    }
}
