import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// How answers of origins change the caches and the failed URLs.
extension Loader {
    /// Remembers a failure, or forgets one.
    ///
    /// - Parameter request: the request that decoded the bytes. Its decoding options may be the reason of a failure.
    func noteOutcome(of key: BytesKey, failure: WebImageError?, as request: ImageRequest? = nil) {
        guard let failure else { return origin.failedURLs.succeeded(key.download) }
        let isItsOwn = failure.code == .badImageData && request?.saysHowToDecode == true
        if !isItsOwn {
            origin.failedURLs.failed(
                key.download, failure, settings: key.settings.number, retryAfter: failure.retryAfter,
                demand: request?.decodeDemand ?? .whole)
        }
        // The picture no longer exists, so that the stored one is outdated (in the spirit of RFC 9111 section 4.4).
        if failure.code == .badStatus, failure.status == 404 || failure.status == 410, key.policy.mode.stores {
            forget(key)
        }
    }

    /// Answers with a cache entry in place of an interrupted body, if the entry is still there.
    func standIn(_ stored: StoredResponse, for error: WebImageError, _ jobs: [PixelJob], of bytes: BytesJob) {
        let key = bytes.key
        hasEntry(of: stored, key, for: JobReader(job: bytes)) { [self] isThere in
            if !isThere { noteOutcome(of: key, failure: error) }
            for job in jobs {
                if !table.withLock({ _ in job.wantsData }), let image = remembered(job.request, of: stored) {
                    finish(job, .success(ImageResponse(image: image, source: .memory)))
                } else if isThere {
                    finish(job, continuingWith: .cacheOnly)
                } else {
                    finish(job, .failure(error.endingALoad(of: job.request.redactedURL)))
                }
            }
        }
    }

    /// Finds out whether a tier has the entry with that body.
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

    /// A reader for a job that must be answered in any case.
    private struct JobReader: TierReader {
        let job: BytesJob

        var owner: AnyObject { job }
        var isAbandoned: Bool { false }
        var priority: LoadPriority { job.priority }
        var makesPicture: Bool { true }
    }

    /// Removes an original that is not a picture, or an incomplete one, from every tier. The origin sent it this way,
    /// but may have corrected it since.
    ///
    /// - Returns: whether the origin should be asked for another one.
    @discardableResult
    func removeDamaged(_ opened: OpenedBytes, of job: BytesJob, for error: WebImageError) -> Bool {
        guard opened.source == .disk || opened.source == .tier, error.tellsOfDamage, !job.request.saysHowToDecode else {
            return false
        }
        if !job.isSettled.exchange(true, ordering: .relaxed) { forget(job.key) }
        return job.key.policy != .cacheOnly
    }

    /// Returns the record of an answer that has just arrived, for pictures in memory. If the origin was asked
    /// although memory has pictures, or because their answer is no longer fresh, the record replaces the one that
    /// memory has.
    func record(of stored: StoredResponse, _ key: BytesKey) -> AnswerRecord {
        let asksAnyway: Bool =
            switch key.policy.mode {
            case .revalidate, .refresh, .reload, .reloadFromOrigin: true
            case .httpRules: !isFresh(answers(key).known(key.originalKey), key)
            case .cacheFirst, .cacheOnly, .noStore: false
            }
        return answers(key).record(of: key.originalKey, stored, replaces: asksAnyway)
    }

    private func isFresh(_ known: StoredResponse?, _ key: BytesKey) -> Bool {
        // An answer for another user, or for another variant (`Vary`), is not replaced.
        guard let known, origin.rules.isFor(key.settings.cacheRequest(for: key.download), known) else { return true }
        return switch origin.decision(key, known) {
        case .serve, .serveAndRevalidate: true
        case .revalidate, .fetch, .fail: false
        }
    }

    /// Whether memory knows an answer that can be served without asking the origin.
    func isRenewed(_ key: BytesKey) -> Bool {
        if case .serve = origin.decision(key, answers(key).known(key.originalKey)) { return true }
        return false
    }

    /// Removes the original from every tier in the background; its pictures are no longer served from memory.
    func forget(_ key: BytesKey) {
        answers(key).outdate(key.originalKey)
        inTiers(of: key, as: originals.announce(for: key.originalKey)) { tier, then in
            tier.remove(key.originalKey, then)
        }
    }

    /// Writes the origin's confirmation of an entry to the tiers, after `answer` has been called.
    func renew(_ key: BytesKey, _ stored: StoredResponse, _ plan: StorePlan, answer: () -> Void) {
        // Before the answer, so that a caller who then waits for the stores also waits for this one.
        let announced = originals.announce(for: key.originalKey)
        answer()
        if let response = plan.storing {
            // This process or another may have stored another body meanwhile, which keeps its own validators.
            let change: @Sendable (DiskMetadata) -> DiskMetadata? = { metadata in
                guard metadata.storedResponse.hasSameBody(as: stored) else { return nil }
                var metadata = metadata
                metadata.set(response)
                return metadata
            }
            inTiers(of: key, as: announced) { tier, then in tier.renew(key.originalKey, change, then) }
        } else if plan.removesStored {
            answers(key).outdate(key.originalKey)
            inTiers(of: key, as: announced) { tier, then in tier.remove(key.originalKey, then) }
        } else {
            announced.withdraw()
        }
    }

    /// Changes every tier in the background. Waiting for the stores includes the first tier only.
    private func inTiers(
        of key: BytesKey, as announced: OriginalStore.Announcement,
        _ change: (any OriginalTier, @escaping @Sendable () -> Void) -> Void
    ) {
        let tiers = caches.tiers(key.caching)
        guard let first = tiers.first else { return announced.withdraw() }
        // The first tier last, so that whoever waits for it may then wait for the others.
        for tier in tiers.dropFirst() { change(tier) {} }
        change(first) { announced.withdraw() }
    }
}

extension WebImageError {
    /// Whether the error is in the bytes themselves.
    var tellsOfDamage: Bool {
        let reason = (code == .badImageData ? cause as? WebImageError : nil)?.code ?? code
        return [.corruptData, .truncatedData, .unknownFormat].contains(reason)
    }
}

extension ImageRequest {
    /// Whether the request chooses a page, a thumbnail, a format or a coder. Another request may then be able to decode
    /// the same bytes.
    var saysHowToDecode: Bool {
        let decoding = options.decoding
        return decoding.page != 0 || decoding.usesEmbeddedThumbnail || decoding.formatHint != nil
            || decoding.coder != nil
    }

    /// What the request must be able to decode.
    var decodeDemand: DecodeDemand {
        let decoding = options.decoding
        return DecodeDemand(
            frames: decoding.firstFrameOnly ? 1 : decoding.frameLimit ?? .max, allowsPartial: decoding.allowsPartial)
    }
}
