import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Answers from memory, at once or in place of a decode.
extension Loader {
    /// The picture, if it is in memory and the policy needs nothing else: one look-up.
    func cachedImage(for request: ImageRequest) -> Image? {
        let isUsual = request.cachesAsUsual
        guard isUsual || request.asksMemory else { return nil }
        if isUsual || request.trustsMemory {
            // Neither cache is retained here: each has weak references to it, which makes retaining slow.
            let found =
                if !isUsual, let own = request.ownMemory {
                    own.image(for: request.variantKey)
                } else if let foreign = caches.foreign {
                    foreign.cachedImage(for: request)
                } else {
                    caches.memory.image(for: request.variantKey)
                }
            guard let found else { return isUsual ? nil : variant(for: request) }
            return isGood(found, for: request) ? found : nil
        }
        guard request.options.caching.policy == .protocol else { return nil }
        return freshImage(for: request)
    }

    /// Whether memory has a picture that was just loaded, whatever the request's policy. Also true if that cannot be
    /// determined, because an interceptor or a modifier may have changed the request.
    func memoryHolds(_ given: ImageRequest) -> Bool {
        guard !door.interceptors.concerns(given),
            case .ready(let request) = door.enter(given, by: origin.downloader.snapshot)
        else { return true }
        if !request.cachesAsUsual, let own = request.ownMemory { return own.image(for: request.variantKey) != nil }
        if let foreign = caches.foreign { return foreign.cachedImage(for: request) != nil }
        return caches.memory.image(for: request.variantKey) != nil
    }

    /// The answer, if memory has everything that the request asks for.
    func responseFromMemory(for request: ImageRequest) -> ImageResponse? {
        guard !request.options.includesData, !mustWaitForStore(request), let image = cachedImage(for: request) else {
            return nil
        }
        observer.answered(from: .memory)
        return ImageResponse(image: image, source: .memory)
    }

    private func mustWaitForStore(_ request: ImageRequest) -> Bool {
        !request.cachesAsUsual && request.options.caching.waitsForStore && originals.isStoring(request.originalKey)
    }

    /// Whether the request may get the picture. A picture that has passed under the current settings is good for every
    /// usual request. Other requests, with their own rules for answers or a user whom only the sent headers identify,
    /// are always judged individually.
    private func isGood(_ image: Image, for request: ImageRequest) -> Bool {
        request.isUsual && image.storage.isKnownGood(under: stateNumber(origin.settings.number, for: request))
            || isFor(request, image, by: origin.downloader.snapshot)
    }

    /// A number that identifies the state by which pictures are judged. It changes when settings change or pictures
    /// become outdated, and differs between managers, which may share a cache but not its users.
    private func stateNumber(_ settings: Int, for request: ImageRequest) -> Int {
        if request.cachesAsUsual { return settings &+ answers.outdatings }
        return settings &+ (request.ownAnswers ?? answers).outdatings
    }

    /// Whether a request would get this picture now. The user and the headers in `Vary` may have changed with the
    /// downloader's configuration, the jar's cookies or the modifier.
    func isFor(_ request: ImageRequest, _ image: Image, by settings: ConfigurationSnapshot) -> Bool {
        // A picture without an answer was stored by the program.
        if image.storage.origin == nil { return request.takesUsualAnswers }
        let stateNumber = stateNumber(settings.number, for: request)
        guard let record = image.storage.origin as? AnswerRecord, !record.isOutdated,
            let download = try? door.enterAtOnce(request, by: settings).download.get()
        else { return false }
        let (asked, response) = (settings.cacheRequest(for: download), record.response)
        guard origin.rules.isFor(asked, response), settings.accepts(response, for: download) else { return false }
        if request.isUsual, asked.isSteady || origin.rules.isForAll(response) {
            image.storage.noteGood(under: stateNumber)
        }
        return true
    }

    /// A picture in memory of another size that the request accepts.
    private func variant(for request: ImageRequest) -> Image? {
        guard request.options.caching.sizePrecision == .inexact,
            let image = request.variant(in: request.ownMemory ?? caches.memory)
        else {
            return nil
        }
        return isGood(image, for: request) ? image : nil
    }

    /// The picture, if it is in memory and fresh by HTTP's rules.
    func freshImage(for request: ImageRequest) -> Image? {
        let (memory, settings) = (caches.memory(request.options.caching), origin.downloader.snapshot)
        guard memory.contains(request.variantKey),
            let key = try? BytesKey(door.enterAtOnce(request, by: settings), by: settings),
            let image = memory.image(for: request.variantKey), let record = image.storage.origin as? AnswerRecord,
            !record.isOutdated, case .serve = origin.decision(key, record.response)
        else { return nil }
        return image
    }

    /// Answers waiters that also want the original's bytes with the picture in memory, if it was made from these bytes,
    /// so that they are not decoded again.
    ///
    /// - Returns: true if no waiters are left.
    func answerWithData(_ job: BytesJob, _ bytes: OpenedBytes) -> Bool {
        guard bytes.source == .disk, let body = bytes.record?.response else { return false }
        for pixelJob in table.withLock({ _ in job.pixelJobs }) {
            guard let image = remembered(pixelJob.request, of: body) else { continue }
            let response = ImageResponse(image: image, source: .memory, byteCount: ByteCount(bytes.log.receivedCount))
            finish(pixelJob, .success(response), isProvisional: bytes.isProvisional)
        }
        return table.withLock { _ in job.pixelJobs.isEmpty }
    }

    /// Answers a new job from memory, if another job for the same picture has ended since memory was asked. The picture
    /// would otherwise be loaded twice.
    ///
    /// - Returns: true if no waiters are left.
    func wasAnsweredMeanwhile(_ job: BytesJob) -> Bool {
        answerFromMemory(job, isProvisional: false) { request in
            guard request.trustsMemory, let image = remembered(request), isGood(image, for: request) else { return nil }
            return image
        }
    }

    /// The answer in memory for the job's bytes.
    func remembered(_ job: BytesJob) -> AnswerRecord? {
        for pixelJob in table.withLock({ _ in job.pixelJobs }) {
            if let record = remembered(pixelJob.request)?.storage.origin as? AnswerRecord { return record }
        }
        return nil
    }

    /// Looks up the picture in memory, if the request allows it, without counting a miss.
    ///
    /// - Parameter body: the answer whose picture it must be; nil: any.
    func remembered(_ request: ImageRequest, of body: StoredResponse? = nil) -> Image? {
        let memory = caches.memory(request.options.caching)
        guard request.asksMemory, memory.contains(request.variantKey), let image = memory.image(for: request.variantKey)
        else { return nil }
        let record = image.storage.origin as? AnswerRecord
        if record?.isOutdated == true { return nil }
        guard let body else { return image }
        return record?.response.hasSameBody(as: body) == true ? image : nil
    }

    /// Like ``BytesSeeker/answerFromMemory(_:isProvisional:)``.
    func answerFromMemory(_ job: BytesJob, _ body: StoredResponse?, isProvisional: Bool) -> Bool {
        answerFromMemory(job, isProvisional: isProvisional) { remembered($0, of: body) }
    }

    /// Answers the waiters for whose request there is a picture.
    ///
    /// - Returns: true if no waiters are left.
    private func answerFromMemory(
        _ job: BytesJob, isProvisional: Bool, _ picture: (ImageRequest) -> Image?
    ) -> Bool {
        for pixelJob in table.withLock({ _ in job.pixelJobs.filter { !$0.wantsData } }) {
            guard let image = picture(pixelJob.request) else { continue }
            finish(pixelJob, .success(ImageResponse(image: image, source: .memory)), isProvisional: isProvisional)
        }
        return table.withLock { _ in job.pixelJobs.isEmpty }
    }
}
