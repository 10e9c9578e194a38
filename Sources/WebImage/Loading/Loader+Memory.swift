import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// What memory answers: at once, or in place of a decode.
extension Loader {
    /// The picture when memory has it and the policy asks for no more: one look-up.
    func cachedImage(for request: ImageRequest) -> Image? {
        let isUsual = request.cachesAsUsual
        guard isUsual || request.asksMemory else { return nil }
        if isUsual || request.trustsMemory {
            // Neither cache is held here: each has weak references to it, which make that slow.
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

    /// The answer when memory has all of it.
    func responseFromMemory(for request: ImageRequest) -> ImageResponse? {
        guard !request.options.includesData, let image = cachedImage(for: request) else { return nil }
        observer.answered(from: .memory)
        return ImageResponse(image: image, source: .memory)
    }

    /// A request that takes other answers than most, or for whom nothing but what is sent says who asks, looks for itself.
    private func isGood(_ image: Image, for request: ImageRequest) -> Bool {
        request.isUsual && image.storage.isJudged(under: judgement(origin.settings.number))
            || isFor(request, image, by: origin.downloader.snapshot)
    }

    /// What pictures were judged by, as a number: another one when settings have changed or pictures become outdated.
    private func judgement(_ settings: Int) -> Int { settings &+ answers.outdatings }

    /// Whether a picture is what the request brings now: who asks and what `Vary` names may have changed with the
    /// downloader's configuration, the jar's cookies or what a modifier sets.
    func isFor(_ request: ImageRequest, _ image: Image, by settings: ConfigurationSnapshot) -> Bool {
        // One that no answer brought was put there by hand.
        if image.storage.origin == nil { return request.takesUsualAnswers }
        let judgement = judgement(settings.number)
        guard let record = image.storage.origin as? AnswerRecord, !record.isOutdated,
            let download = try? door.enterAtOnce(request, by: settings).download.get()
        else { return false }
        let (asked, response) = (settings.cacheRequest(for: download), record.response)
        guard origin.rules.isFor(asked, response), settings.accepts(response, for: download) else { return false }
        if request.isUsual, asked.isSteady || origin.rules.isForAll(response) {
            image.storage.judge(under: judgement)
        }
        return true
    }

    /// Another size that will do.
    private func variant(for request: ImageRequest) -> Image? {
        guard request.options.caching.sizePrecision == .inexact,
            let image = request.variant(in: request.ownMemory ?? caches.memory)
        else {
            return nil
        }
        return isGood(image, for: request) ? image : nil
    }

    /// The picture when memory has it and HTTP says that it is fresh.
    func freshImage(for request: ImageRequest) -> Image? {
        let (memory, settings) = (caches.memory(request.options.caching), origin.downloader.snapshot)
        guard memory.contains(request.variantKey),
            let key = try? BytesKey(door.enterAtOnce(request, by: settings), by: settings),
            let image = memory.image(for: request.variantKey), let record = image.storage.origin as? AnswerRecord,
            !record.isOutdated, case .serve = origin.decision(key, record.response)
        else { return nil }
        return image
    }

    /// Answers those who want a picture's bytes, too, with what memory has of it, where these are its bytes: they need not
    /// be decoded again.
    ///
    /// - Returns: true when nobody is left who wants more.
    func answerWithData(_ job: BytesJob, _ bytes: OpenedBytes) -> Bool {
        guard bytes.source == .disk, let body = bytes.record?.response else { return false }
        for pixelJob in table.withLock({ _ in job.pixelJobs }) {
            guard let image = remembered(pixelJob.request, of: body) else { continue }
            let response = ImageResponse(image: image, source: .memory, byteCount: ByteCount(bytes.log.receivedCount))
            finish(pixelJob, .success(response), isProvisional: bytes.isProvisional)
        }
        return table.withLock { _ in job.pixelJobs.isEmpty }
    }

    /// What memory knows of the answer that the job's bytes would be.
    func remembered(_ job: BytesJob) -> AnswerRecord? {
        for pixelJob in table.withLock({ _ in job.pixelJobs }) {
            if let record = remembered(pixelJob.request)?.storage.origin as? AnswerRecord { return record }
        }
        return nil
    }

    /// A look into memory, where the request allows one, that counts as no miss.
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

    /// As ``BytesSeeker/answerFromMemory(_:isProvisional:)``.
    func answerFromMemory(_ job: BytesJob, _ body: StoredResponse?, isProvisional: Bool) -> Bool {
        for pixelJob in table.withLock({ _ in job.pixelJobs.filter { !$0.wantsData } }) {
            guard let image = remembered(pixelJob.request, of: body) else { continue }
            let response = ImageResponse(image: image, source: .memory)
            finish(pixelJob, .success(response), isProvisional: isProvisional)
        }
        return table.withLock { _ in job.pixelJobs.isEmpty }
    }
}
