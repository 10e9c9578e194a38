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

    /// - Returns: whether every picture is whole, so that the original is worth keeping.
    func send(_ targets: [DecodeTarget]) -> Bool {
        var isWhole = failure == nil && !targets.isEmpty
        for target in targets where !target.isAbandoned {
            let result = answer(target)
            if case .failure = result { isWhole = false }
            loader.finish(target.job, result, isProvisional: bytes.isProvisional)
        }
        return isWhole
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
            if let animation = target.frames?.animation(first: image) { image = image.with(animation: animation) }
            let record = plan?.storing.map { AnswerRecord($0) } ?? bytes.record
            if let record { image = image.with(origin: record) }
            let end = loader.clock.now
            if failure == nil, mayStore { store(image, for: request.variantKey) }
            var response = ImageResponse(
                image: image, source: bytes.source, byteCount: ByteCount(bytes.log.receivedCount),
                partialError: failure, timings: timings)
            response.timings.decode = decodeTime + (transformBegin - begin)
            if !request.transformers.isEmpty { response.timings.transform = end - transformBegin }
            return .success(response)
        } catch {
            return .failure(error.endingALoad(of: request.place))
        }
    }

    /// Keeps a picture in memory, where the frames that its animation keeps are counted as they come and go.
    private func store(_ image: Image, for key: CacheKey) {
        loader.memory.store(image, for: key)
        guard let animation = image.animation else { return }
        animation.onKeptBytesChange { [weak memory = loader.memory, weak storage = image.storage] in
            guard let memory, let storage else { return }
            memory.updateCost(of: Image(storage), for: key)
        }
        loader.memory.updateCost(of: image, for: key)
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
