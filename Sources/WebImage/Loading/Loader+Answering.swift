import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

/// How decode sessions end jobs, and how waiters get their answers.
extension Loader {
    /// Hands every pixel job that no session has taken on to the session that asks.
    func takeUnplanned(_ job: BytesJob, _ header: ImageHeader?) -> [PixelJob] {
        table.withLock { $0.takeUnplanned(job, header) }
    }

    /// Reports the progress of the bytes to waiters that follow progress and whose picture no session makes yet.
    func tellUnplanned(_ job: BytesJob, _ progress: LoadProgress) {
        let deliveries = table.withLock { _ in job.unplanned.flatMap(\.watchers) }
        for delivery in deliveries { delivery.post(.progress(progress)) }
    }

    /// Sends an event to the waiters of `job` that follow progress, not only the result.
    func tell(_ job: PixelJob, _ event: ImageEvent) {
        guard job.isWatched else { return }
        let deliveries = table.withLock { _ in job.watchers }
        for delivery in deliveries { delivery.post(event) }
    }

    /// Ends a pixel job: all waiters get the same picture or error. A success is delivered on a thread that may block.
    ///
    /// - Parameter isProvisional: whether the origin must be asked after the picture. Waiters that follow events then
    ///   wait for its answer; if there are none, it is asked in the background to update the caches.
    func finish(_ job: PixelJob, _ result: Result<ImageResponse, WebImageError>, isProvisional: Bool = false) {
        var isProvisional = isProvisional
        if !result.isSuccess { isProvisional = false }
        let (ended, staying, log) = table.withLock { table -> ([LoadTable.Ended], [LoadTable.Ended], ByteLog?) in
            let (ended, staying) = table.finish(
                job, keeping: isProvisional ? .watchers : .nobody, stores: result.isSuccess)
            return (ended, staying, job.bytes.opened?.log.latest)
        }
        if isProvisional, let response = try? result.get() {
            var request = job.request
            request.options.caching.policy = .revalidate
            // Before the others get their answers, so that the loader never seems idle in between.
            for caller in staying { showCached(response, to: caller, continuingWith: request, log) }
        }
        tell(ended, result, log: log, of: job.bytes)
        if isProvisional, staying.isEmpty, !ended.isEmpty { revalidateInBackground(job.request, job.bytes.key) }
    }

    /// Ends a pixel job; its waiters then wait for a load with another policy.
    func finish(_ job: PixelJob, continuingWith policy: CachePolicy) {
        var request = job.request
        request.options.caching.policy = policy
        let (_, staying) = table.withLock { $0.finish(job, keeping: .everyone) }
        for caller in staying { join(caller.token, continuingWith: request, caller.delivery) }
        noteIdle()
    }

    /// Asks the origin in the background about a cached answer, to update the caches, unless another load has renewed
    /// the answer meanwhile.
    func revalidateInBackground(_ given: ImageRequest, _ key: BytesKey) {
        if isRenewed(key) { return }
        var request = given
        request.options.caching.policy = .revalidate
        request.options.priority = .low
        request.options.includesData = false
        start(LoadToken(loader: self, request: request, isWatching: false), request, .nobody)
    }

    /// Delivers the cached picture to a waiter, which then waits for the origin's answer.
    private func showCached(
        _ response: ImageResponse, to caller: LoadTable.Ended, continuingWith request: ImageRequest, _ log: ByteLog?
    ) {
        var shown = Result<ImageResponse, WebImageError>.success(response)
        if caller.token.includesData { shown = shown.withData(of: log) }
        if case .success(let response) = shown {
            caller.delivery.post(.cached(response.seen(by: caller.token, now: clock.now, callers: 1)))
        }
        join(caller.token, continuingWith: request, caller.delivery)
    }

    func finishAll(of job: BytesJob, _ result: Result<ImageResponse, WebImageError>) {
        tell(table.withLock { $0.finishAll(of: job) }, result, log: nil, of: job)
    }

    /// - Parameter job: the job for whose stores some callers may wait. It is given with every success.
    func tell(
        _ ended: [LoadTable.Ended], _ result: Result<ImageResponse, WebImageError>, log: ByteLog?,
        of job: BytesJob? = nil
    ) {
        guard !ended.isEmpty else { return }
        let now = clock.now
        let failed = result.isSuccess ? nil : job.map(recordOfFailure)
        var withData: Result<ImageResponse, WebImageError>?
        for end in ended {
            var own = result
            if end.token.includesData {
                own = withData ?? result.withData(of: log)
                withData = own
            }
            own =
                switch own {
                case .success(let response): .success(response.seen(by: end.token, now: now, callers: ended.count))
                case .failure(let error): .failure(error.seen(by: end.token, failed, now: now, callers: ended.count))
                }
            if end.token.waitsForStore, result.isSuccess, let job {
                // Only for this original's stores, but also for those that other loads have begun: its bytes may have
                // come from such a load.
                whenStored(job.key.originalKey, end.token) { [own] end in
                    var own = own
                    if let outcome = job.keeper.outcome { own = own.map { $0.stored(outcome) } }
                    end.delivery.post(.finished(own))
                }
            } else {
                end.timeout?.cancel()
                end.delivery.post(.finished(own))
            }
        }
        observer.finished(result, waiters: ended.count)
        noteIdle()
    }

    /// Answers a token that waits for no job. If its caller waits for stores, the answer comes when those that other loads
    /// have begun have ended.
    ///
    /// - Parameters:
    ///   - isCounted: whether the metrics count this answer.
    ///   - original: the key of the original whose stores some callers wait for; nil: nobody waits.
    func answer(
        _ token: LoadToken, _ response: ImageResponse, _ delivery: LoadToken.Delivery, isCounted: Bool = true,
        madeFrom original: CacheKey? = nil
    ) {
        if let original, token.waitsForStore {
            guard table.withLock({ $0.beginStoring(token, delivery) }) else { return }
            return whenStored(original, token) { [self] end in
                if isCounted { observer.answered(from: response.source) }
                end.delivery.post(.finished(.success(response)))
            }
        }
        let timeout = table.withLock { _ -> ScheduledAction?? in
            if token.hasEnded { return nil }
            token.hasEnded = true
            token.delivery = nil
            token.preliminary = nil
            return .some(token.timeout)
        }
        guard let timeout else { return }
        timeout?.cancel()
        if isCounted { observer.answered(from: response.source) }
        delivery.post(.finished(.success(response)))
    }

    /// Ends the wait of a token when the stores of an original have ended, unless its caller has left by then.
    private func whenStored(
        _ original: CacheKey, _ token: LoadToken, _ then: @escaping @Sendable (LoadTable.Ended) -> Void
    ) {
        originals.whenStored(original) { [self] in
            guard let end = table.withLock({ $0.endStoring(token) }) else { return }
            end.timeout?.cancel()
            then(end)
        }
    }

    /// The record of a failed load, for its trace.
    func recordOfFailure(_ job: BytesJob) -> LoadRecord {
        let (opened, download) = table.withLock { _ in (job.opened, job.download) }
        return LoadRecord(
            failed: job, download: opened?.download ?? download, byteCount: opened?.log.latest.receivedCount)
    }
}

extension WebImageError {
    /// The error as one of several callers gets it, with the record of its load for the trace.
    func seen(by token: LoadToken, _ record: LoadRecord?, now: Duration, callers: Int) -> WebImageError {
        guard let record else { return self }
        var error = self
        error.record = FailureRecord(
            ResponseRecord(record: record, asked: token.started, began: token.started, ended: now, callers: callers))
        return error
    }

    /// A copy whose trace begins at `time`, when the caller asked, which was before the interceptors ran.
    func asked(at time: Duration) -> WebImageError {
        guard var known = (record as? FailureRecord)?.record else { return self }
        known.asked = time
        var error = self
        error.record = FailureRecord(known)
        return error
    }
}

extension Result<ImageResponse, WebImageError> {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }

    /// The answer for callers that asked for the original's bytes, too.
    fileprivate func withData(of log: ByteLog?) -> Self {
        guard let log, case .success(var response) = self else { return self }
        do throws(WebImageError) {
            response.data = try log.collect()
            return .success(response)
        } catch {
            return .failure(error)
        }
    }
}

extension ImageResponse {
    fileprivate func stored(_ outcome: Result<Duration, WebImageError>) -> ImageResponse {
        var response = self
        switch outcome {
        case .success(let time): response.timings.store = time
        case .failure(let error): response.storeError = error
        }
        return response
    }

    /// The answer for one of several callers, with its own waiting time.
    fileprivate consuming func seen(by token: LoadToken, now: Duration, callers: Int) -> ImageResponse {
        var response = self
        if let record = response.tracing?.record {
            response.tracing = ResponseRecord(
                record: record, asked: token.started, began: token.started, ended: now, callers: callers)
        }
        response.timings.total = now - token.started
        return response
    }
}
