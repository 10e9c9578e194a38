import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// What the answers of origins leave behind, whoever asked.
extension Loader {
    /// Remembers a failure, or forgets one.
    ///
    /// - Parameter request: whoever decoded the bytes: what it says of how to may be why they could not be.
    func noteOutcome(of key: BytesKey, failure: WebImageError?, as request: ImageRequest? = nil) {
        guard let failure else { return origin.failedURLs.succeeded(key.download) }
        let isItsOwn = failure.code == .badImageData && request?.saysHowToDecode == true
        if !isItsOwn { origin.failedURLs.failed(key.download, failure, retryAfter: failure.retryAfter) }
        // There is no such picture any more (RFC 9111 section 4.4 in spirit): what is stored is no longer true.
        if failure.code == .badStatus, failure.status == 404 || failure.status == 410, key.policy.mode.stores {
            forget(key)
        }
    }

    /// Answers with the entry of a cache in place of a body that broke off, where that is still there.
    func standIn(_ stored: StoredResponse, for error: WebImageError, _ jobs: [PixelJob], of bytes: BytesJob) {
        let key = bytes.key
        hasEntry(of: stored, key, for: JobReader(job: bytes)) { [self] isThere in
            if !isThere { noteOutcome(of: key, failure: error) }
            for job in jobs {
                if !table.withLock({ _ in job.wantsData }), let image = remembered(job.request, of: stored) {
                    finish(job, .success(ImageResponse(image: image, source: .memory)))
                } else if isThere {
                    finish(job, goingOnWith: .cacheOnly)
                } else {
                    finish(job, .failure(error.endingALoad(of: job.request.redactedURL)))
                }
            }
        }
    }

    /// Tells whether a tier has the entry with that body.
    private func hasEntry(
        of stored: StoredResponse, _ key: BytesKey, for reader: any TierReader, from place: Int = 0,
        _ then: @escaping @Sendable (Bool) -> Void
    ) {
        let tiers = caches.tiers(key.caching)
        guard place < tiers.count else { return ioExecutor.run(reader.priority) { then(false) } }
        tiers[place].find(key.originalKey, .metadata, for: reader) { [self] found in
            if found?.storedResponse.hasSameBody(as: stored) ?? false { return then(true) }
            hasEntry(of: stored, key, for: reader, from: place + 1, then)
        }
    }

    /// Reads for a job that is to be answered in any case.
    private struct JobReader: TierReader {
        let job: BytesJob

        var owner: AnyObject { job }
        var isAbandoned: Bool { false }
        var priority: LoadPriority { job.priority }
    }

    /// Takes an original out of every tier that is no picture, or half of one: it came so, from an origin that may have mended it since.
    ///
    /// - Returns: whether the origin is to be asked for another one.
    @discardableResult
    func removeDamaged(_ opened: OpenedBytes, of job: BytesJob, for error: WebImageError) -> Bool {
        guard opened.source == .disk || opened.source == .tier, error.tellsOfDamage, !job.request.saysHowToDecode else {
            return false
        }
        if !job.isSettled.exchange(true, ordering: .relaxed) { forget(job.key) }
        return job.key.policy != .cacheOnly
    }

    /// What pictures in memory are to know of an answer that has just come. Where the origin was asked whatever there was, it takes
    /// the place of all that memory has.
    func record(of stored: StoredResponse, _ key: BytesKey) -> AnswerRecord {
        let asksAnyway: Bool =
            switch key.policy.mode {
            case .revalidate, .refresh, .reload, .reloadFromOrigin: true
            case .cacheFirst, .cacheOnly, .httpRules, .noStore: false
            }
        return answers.record(of: key.originalKey, stored, replaces: asksAnyway)
    }

    /// Takes the original out of every tier, in the background, and pictures of it are no longer served from memory.
    func forget(_ key: BytesKey) {
        answers.outdate(key.originalKey)
        inTiers(of: key, as: originals.announce()) { tier, then in tier.remove(key.originalKey, then) }
    }

    /// Writes what the origin said of an entry that is still good, once `answer` has given it out.
    func renew(_ key: BytesKey, _ stored: StoredResponse, _ plan: StorePlan, answer: () -> Void) {
        // Before: whoever is answered and then waits for the stores finds it there.
        let announced = originals.announce()
        answer()
        if let response = plan.storing {
            // Another body may be stored meanwhile, by this process or another: it keeps its own validators.
            let change: @Sendable (DiskMetadata) -> DiskMetadata? = { metadata in
                guard metadata.storedResponse.hasSameBody(as: stored) else { return nil }
                var metadata = metadata
                metadata.set(response)
                return metadata
            }
            inTiers(of: key, as: announced) { tier, then in tier.renew(key.originalKey, change, then) }
        } else if plan.removesStored {
            answers.outdate(key.originalKey)
            inTiers(of: key, as: announced) { tier, then in tier.remove(key.originalKey, then) }
        } else {
            announced.withdraw()
        }
    }

    /// Changes every tier in the background. Whoever waits for the stores waits for the first one.
    private func inTiers(
        of key: BytesKey, as announced: OriginalStore.Announcement,
        _ change: (any OriginalTier, @escaping @Sendable () -> Void) -> Void
    ) {
        let tiers = caches.tiers(key.caching)
        guard let first = tiers.first else { return announced.withdraw() }
        // The first one last: whoever waits for it may then wait for the others.
        for tier in tiers.dropFirst() { change(tier) {} }
        change(first) { announced.withdraw() }
    }
}

extension WebImageError {
    /// Whether the bytes themselves are what is wrong.
    fileprivate var tellsOfDamage: Bool {
        let reason = (code == .badImageData ? cause as? WebImageError : nil)?.code ?? code
        return [.corruptData, .truncatedData, .unknownFormat].contains(reason)
    }
}

extension ImageRequest {
    /// Whether it chooses a page, a small copy, a format or a coder: another request may read the same bytes.
    fileprivate var saysHowToDecode: Bool {
        let decoding = options.decoding
        return decoding.page != 0 || decoding.usesEmbeddedThumbnail || decoding.formatHint != nil
            || decoding.coder != nil
    }
}
