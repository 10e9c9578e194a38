import Synchronization
import WebImageCore
import WebImageSystem

/// A picture from which another one can be made by further steps.
struct PictureBasis {
    let response: ImageResponse
    /// How many steps of the other picture's chain are already applied.
    let steps: Int
}

/// Pictures that are made from other pictures, in memory or in the making, by applying the remaining steps.
extension Loader {
    /// The picture in memory with the most steps of the request's chain applied.
    func remembered(asBasisOf request: ImageRequest) -> PictureBasis? {
        let steps = request.options.transformers
        guard !steps.isEmpty, request.asksMemory, request.trustsMemory, !request.options.includesData else {
            return nil
        }
        var basis = request
        basis.options.caching.sizePrecision = .exact
        // Steps that are a part of decoding cannot be applied to any decoded picture.
        for count in (request.recipe.boundSteps..<steps.count).reversed() {
            basis.options.transformers = Array(steps[..<count])
            // This look-up does not count as a miss.
            guard caches.foreign != nil || caches.memory(basis.options.caching).contains(basis.variantKey) else {
                continue
            }
            guard let image = cachedImage(for: basis), image.animation == nil else { continue }
            return PictureBasis(response: ImageResponse(image: image, source: .memory), steps: count)
        }
        return nil
    }

    /// Makes the token by which a job waits for the picture from which it is made.
    ///
    /// - Parameter steps: how many of the job's steps are applied to that picture.
    func makeWaiter(_ job: PixelJob, _ steps: Int) -> LoadToken {
        var options = job.request.options
        options.includesData = false
        options.caching.waitsForStore = false
        // The job's own callers determine the urgency: their priorities count for the same bytes.
        options.priority = .veryLow
        let request = job.request.withSameKeys(options)
        let waiter = LoadToken(loader: self, request: request, isWatching: job.isWatched)
        waiter.delivery = .callback(
            EventCallback { [self] event in
                switch event {
                case .progress, .preview: tell(job, event)
                case .cached: break
                case .finished(.failure(let error)): finish(job, .failure(error))
                case .finished(.success(let response)):
                    if response.image.animation == nil {
                        makeSteps(of: job, PictureBasis(response: response, steps: steps))
                    } else {
                        // The frames of an animation go through all steps when they are shown.
                        makeOfBytes(job)
                    }
                }
            })
        return waiter
    }

    /// Makes a job's picture from the bytes after all.
    private func makeOfBytes(_ job: PixelJob) {
        let joined = table.withLock { job.isAbandoned ? nil : $0.plan(job) }
        if case .startsSession(let bytes, let opened) = joined { decode(opened, for: bytes) }
    }

    /// Makes a job's picture from another one.
    func makeSteps(of job: PixelJob, _ basis: PictureBasis) {
        let response = basis.response
        let picture = DecodedPicture(
            image: response.image, partialError: response.partialError)
        decoding.executor.run(job.bytes.priority, for: job.bytes) { [self] in
            PictureSteps(service: decoding, priority: job.bytes.priority) { (job: PixelJob, result) in
                self.finish(job, result, madeOf: response)
            }.run(picture, for: [job], from: basis.steps, mayStay: true)
        }
    }

    private func finish(
        _ job: PixelJob, _ result: Result<DecodedPicture, WebImageError>, madeOf basis: ImageResponse
    ) {
        switch result {
        case .failure(let error):
            if error.code == .cancelled, job.isAbandoned { return }
            finish(job, .failure(error.endingALoad(of: job.place)))
        case .success(let picture):
            let record = basis.image.storage.origin as? AnswerRecord
            var response = basis
            response.image = record.map { picture.image.with(origin: $0) } ?? picture.image
            if let time = picture.transformTime {
                response.timings.transform = (basis.timings.transform ?? .zero) + time
            }
            response.tracing = nil
            // If the origin does not allow storing, the basis has no record.
            let mayKeep = job.key.bytes.policy.mode.stores && (record != nil || basis.source != .network)
            if response.partialError == nil, mayKeep { keep(response.image, job.request, record, of: job.bytes) }
            let traced = LoadRecord(
                job, byteCount: basis.byteCount?.bytes, steps: picture.steps, basis: basis.tracing?.record,
                isMadeOfPicture: true)
            finish(job, .success(response.with(traced)))
        }
    }
}
