import Synchronization
import WebImageCodecs
import WebImageCore
import WebImageDownload

/// What a session shows on the way to those who look.
extension DecodeSession {
    /// Each session speaks to those whose pictures it makes; before there is a plan, to all without one.
    func showProgress() {
        guard job.isWatched.load(ordering: .relaxed) else { return }
        let (received, expected) = bytes.log.progress
        let progress = LoadProgress(received: ByteCount(received), expected: expected.map { ByteCount($0) })
        guard let jobs = knownJobs else { return loader.tellUnplanned(job, progress) }
        for job in jobs { loader.tell(job, .progress(progress)) }
    }

    /// Whether somebody looks, and there may be something new to see.
    var wantsPreview: Bool {
        bytes.source != .disk && !isComplete && decoder != nil && header != nil
            && targets.contains { $0.job.isWatched.load(ordering: .relaxed) }
    }

    /// Shows what there is, unless the last preview was only just shown: then it stays owed.
    func showPreview() {
        let begin = loader.clock.now
        guard let decoder, previews.isDue(at: begin) else { return }
        previews.isOwed = false
        var isShown = false
        let pixels = try? decoder.preview()
        for target in targets {
            guard let image = pixels.map({ target.preview(of: $0) }) ?? target.partialImage() else { continue }
            loader.tell(target.job, .preview(image))
            isShown = true
        }
        if isShown { previews.shown(at: loader.clock.now, cost: loader.clock.now - begin) }
    }

    /// Shows the first frame of what may be an animation as soon as it is there: the others may come much later.
    func showFirstFrames() {
        guard bytes.source != .disk else { return }
        for target in targets where target.job.isWatched.load(ordering: .relaxed) {
            if let image = target.takeFirstFrame() { loader.tell(target.job, .preview(image)) }
        }
    }
}
