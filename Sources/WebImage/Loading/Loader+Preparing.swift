import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload

/// What is found out before anything else: with what a request is asked now. Who may join a load, and which cached picture is
/// good for it, goes by that.
extension Loader {
    /// The request as it is asked now, as far as that can be told at once. Where a modifier must be waited for, it stays as it
    /// is: then only what is good for everybody is good for it.
    func preparedAtOnce(_ request: ImageRequest, by settings: ConfigurationSnapshot) -> ImageRequest {
        guard case .done(let prepared) = preparation(of: request, by: settings) else { return request }
        return request.prepared(prepared)
    }

    /// The request as it is asked now.
    func prepared(_ request: ImageRequest, by settings: ConfigurationSnapshot) async -> ImageRequest {
        guard let download = try? request.download.get(),
            let prepared = await downloader.prepare(download, by: settings)
        else { return request }
        return request.prepared(prepared)
    }

    func preparation(
        of request: ImageRequest, by settings: ConfigurationSnapshot
    ) -> ImageDownloader.Preparation {
        guard let download = try? request.download.get(), download.isFromWeb else { return .notNeeded }
        return settings.preparation(of: download)
    }

    /// Waits for the request's modifier before anything else; the load then begins.
    func beginPrepared(_ token: LoadToken, _ request: ImageRequest, _ delivery: LoadToken.Delivery) {
        let isWelcome = table.withLock { table in
            if token.hasEnded || !table.beginLook() { return false }
            token.isAdmitted = true
            token.delivery = delivery
            return true
        }
        // It is told so.
        guard isWelcome else { return goOn(token, request, delivery) }
        arm(request, of: token)
        let look = Task {
            let prepared = await self.prepared(request, by: token.settings)
            self.begin(token, prepared, delivery)
            self.endLook()
        }
        let isLate = table.withLock { _ in
            if token.hasEnded { return true }
            // It may have gone on already.
            if token.job == nil, token.delivery != nil { token.look = look }
            return false
        }
        if isLate { look.cancel() }
    }

    private func begin(_ token: LoadToken, _ request: ImageRequest, _ delivery: LoadToken.Delivery) {
        let hasLeft = table.withLock { _ in
            token.look = nil
            return token.hasEnded
        }
        if hasLeft { return }
        if !request.includesData, let image = cachedImage(for: request) {
            return answer(token, ImageResponse(image: image, source: .memory), delivery)
        }
        if request.caching.looksOnDisk, lookForFinished(token, request, delivery) { return }
        goOn(token, request, delivery)
    }

    /// Ends a token that waits for no job.
    func answer(_ token: LoadToken, _ response: ImageResponse, _ delivery: LoadToken.Delivery) {
        let timeout = table.withLock { _ -> ScheduledAction?? in
            if token.hasEnded { return nil }
            token.hasEnded = true
            token.delivery = nil
            token.look = nil
            return .some(token.timeout)
        }
        guard let timeout else { return }
        timeout?.cancel()
        observer.answered(from: response.source)
        delivery.post(.finished(.success(response)))
    }

    /// What is told of an answer that a cache gave.
    func head(of stored: StoredResponse) -> ResponseHead { stored.head(by: rules, now: clock.wallTime) }
}

extension ImageRequest {
    func prepared(_ prepared: PreparedRequest) -> ImageRequest {
        var request = self
        request[\.download].prepared = prepared
        return request
    }
}
