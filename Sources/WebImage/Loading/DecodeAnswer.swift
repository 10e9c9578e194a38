import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload

/// Turns the finished targets of a session into answers: pictures, transformed, cached, handed over.
struct DecodeAnswer {
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
    struct Outcome {
        /// Whether every picture is whole, so that the original is worth keeping.
        var isWhole: Bool
        /// A picture that is as its original has it, and the request for it.
        var plain: (image: Image, request: ImageRequest)?
    }

    func send(_ targets: [DecodeTarget]) -> Outcome {
        var outcome = Outcome(isWhole: failure == nil && !targets.isEmpty)
        for target in targets where !target.isAbandoned {
            let result = answer(target)
            switch result {
            case .failure: outcome.isWhole = false
            case .success(let response) where target.job.request.isPlain:
                outcome.plain = (response.image, target.job.request)
            case .success: break
            }
            loader.finish(target.job, result, isProvisional: bytes.isProvisional)
        }
        return outcome
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

extension WebImageError {
    /// The error as a load ends in it: what is wrong with a picture's data is the cause of `badImageData`.
    func endingALoad(of place: String) -> WebImageError {
        guard (3000..<3100).contains(code.rawValue), code != .transformFailed else { return at(place) }
        return WebImageError(.badImageData, message, cause: self, location: place, format: format)
    }
}
