import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Turns the finished targets of a session into answers: pictures, transformed, cached, handed over.
struct DecodeAnswer: Sendable {
    let loader: Loader
    let bytes: OpenedBytes
    let job: BytesJob
    /// What the decoder learnt, which may be more than it planned by.
    let header: ImageHeader?
    /// What is wrong with pictures of which only a part is there.
    let failure: WebImageError?
    let decodeTime: Duration
    /// What of the answer may be kept; nil for what did not come by the network.
    let plan: StorePlan?

    /// What became of the targets.
    struct Outcome: Sendable {
        /// Whether every picture is whole, so that the original is worth keeping.
        var isWhole: Bool
        /// A picture that is as its original has it, and the request for it.
        var plain: (image: Image, request: ImageRequest)?
    }

    /// Answers the targets: first those that are done, then those that have work before them, each for itself, so that
    /// nobody waits for what others want made of the same bytes.
    ///
    /// - Parameter done: told, on the last one's thread, what became of them.
    func send(_ targets: [DecodeTarget], done: @escaping @Sendable (Outcome) -> Void) {
        let wanted = targets.filter { !$0.isAbandoned }
        let tally = Tally(Outcome(isWhole: failure == nil && !targets.isEmpty), count: wanted.count, done: done)
        if wanted.isEmpty { return done(tally.outcome) }
        // A single one needs no other thread.
        let mayStay = wanted.count == 1
        let (late, soon) = (
            wanted.filter { !mayStay && $0.hasWorkAhead }, wanted.filter { mayStay || !$0.hasWorkAhead }
        )
        for target in late {
            let handed = HandedTarget(target)
            loader.decodeExecutor.complete(job.priority) { self.send(handed.target, tally) }
        }
        for target in soon { send(target, tally) }
    }

    private func send(_ target: DecodeTarget, _ tally: Tally) {
        let result = answer(target)
        tally.note { outcome in
            switch result {
            case .failure: outcome.isWhole = false
            case .success(let response) where target.job.request.isPlain:
                outcome.plain = (response.image, target.job.request)
            case .success: break
            }
        }
        loader.finish(target.job, result, isProvisional: bytes.isProvisional)
        tally.end()
    }

    private func answer(_ target: DecodeTarget) -> Result<ImageResponse, WebImageError> {
        let request = target.job.request
        do throws(WebImageError) {
            let begin = loader.clock.now
            var image = try target.image(isPartial: failure != nil, finalHeader: header)
            if let failure, !request.allowsPartial {
                loader.tell(target.job, .preview(image))
                throw failure
            }
            let transformBegin = loader.clock.now
            image = try request.transformed(image)
            if let animation = target.frames?.animation(first: image) {
                image = image.with(animation: animation)
                if request.preloadsFrames { preload(animation, target) }
            }
            let record = plan?.storing.map { AnswerRecord($0) } ?? bytes.record
            if let record { image = image.with(origin: record) }
            let end = loader.clock.now
            if failure == nil, mayStore { store(image, request, record) }
            var response = ImageResponse(
                image: image, source: bytes.source, byteCount: ByteCount(bytes.log.receivedCount),
                partialError: failure, timings: timings)
            response.head = bytes.head
            response.timings.decode = decodeTime + (transformBegin - begin)
            if !request.transformers.isEmpty { response.timings.transform = end - transformBegin }
            return .success(response)
        } catch {
            return .failure(error.endingALoad(of: request.place))
        }
    }

    /// What is wrong with a frame is told when it is asked for.
    private func preload(_ animation: ImageAnimation, _ target: DecodeTarget) {
        for index in 0..<animation.framesToPreload where !target.isAbandoned {
            do { try animation.decodeNow(index) } catch { return }
        }
    }

    /// Keeps a finished picture where the request wants it.
    private func store(_ image: Image, _ request: ImageRequest, _ record: AnswerRecord?) {
        if request.caching.store.contains(.memory) {
            let memory = loader.memory(request.caching)
            memory.keep(image, for: request.variantKey, lifetime: nil, variant: request.variant(of: image))
            // After it was put there: a remove comes either before, and is seen here, or finds it.
            if loader.wasRemoved(job) { memory.remove(request.variantKey) }
        }
        if request.caching.keepsOnDisk { loader.storeFinished(image, request, record, of: job) }
    }

    private var mayStore: Bool { plan.map { $0.storing != nil } ?? (job.request.cachePolicy.mode != .noStore) }

    private var timings: LoadTimings {
        var timings = LoadTimings()
        timings.queue = bytes.time - job.started
        guard let metrics = bytes.download?.metrics else { return timings }
        timings.add(metrics)
        return timings
    }
}

extension DecodeTarget {
    /// Whether more is to be done with its pixels than handing them over.
    fileprivate var hasWorkAhead: Bool { !job.request.transformers.isEmpty || job.request.preloadsFrames }
}

/// A target on its way to the thread that goes on with it.
private final class HandedTarget: @unchecked Sendable {
    // Sendable: whoever hands it over does not touch it any more.
    let target: DecodeTarget

    init(_ target: DecodeTarget) { self.target = target }
}

/// What became of several targets, and when the last one is answered.
private final class Tally: Sendable {
    private struct State {
        var outcome: DecodeAnswer.Outcome
        var left: Int
    }

    private let state: Guarded<State>
    private let done: @Sendable (DecodeAnswer.Outcome) -> Void

    init(_ outcome: DecodeAnswer.Outcome, count: Int, done: @escaping @Sendable (DecodeAnswer.Outcome) -> Void) {
        state = Guarded(State(outcome: outcome, left: count))
        self.done = done
    }

    var outcome: DecodeAnswer.Outcome { state.withLock { $0.outcome } }

    func note(_ change: (inout DecodeAnswer.Outcome) -> Void) { state.withLock { change(&$0.outcome) } }

    func end() {
        let outcome = state.withLock { state -> DecodeAnswer.Outcome? in
            state.left -= 1
            return state.left == 0 ? state.outcome : nil
        }
        if let outcome { done(outcome) }
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
