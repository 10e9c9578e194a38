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
            && work.targets.contains(where: \.isWatched)
    }

    /// Shows a preview, unless the last one is too recent; then it is shown later.
    func showPreview() {
        let begin = service.clock.now
        guard let decoder = work.decoder, pace.previews.isDue(at: begin) else { return }
        pace.previews.isOwed = false
        var isShown = false
        let pixels = try? decoder.preview()
        // An animation that plays already is not replaced by its first frame.
        for made in work.targets where !made.target.hasShownFirstFrame {
            guard let image = pixels.map({ made.target.preview(of: $0) }) ?? made.target.partialImage() else {
                continue
            }
            for order in made.orders { client.showPreview(image, of: order) }
            isShown = true
        }
        if isShown { pace.previews.shown(at: service.clock.now, cost: service.clock.now - begin) }
    }

    /// Shows the first frame of a possible animation as soon as it is decoded, since the others may come much later.
    func showFirstFrames() {
        guard client.showsPreviews else { return }
        for made in work.targets where made.isWatched {
            guard let image = made.target.takeFirstFrame() else { continue }
            for order in made.orders { client.showPreview(image, of: order) }
        }
    }
}
