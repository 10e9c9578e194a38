public import WebImageCore
import WebImageDownload
import WebImageSystem

extension ImageManager {
    /// The original's bytes as the origin sent them, without decoding: from the disk cache or the network, by the
    /// request's policy. Bytes from the network are stored as the policy says, if they begin with the header of a
    /// picture.
    ///
    /// - Throws: any code of ``/WebImageCore/WebImageError`` but 30xx; `cancelled` when the task was cancelled.
    public func data(for request: ImageRequest) async throws(WebImageError) -> [UInt8] {
        try await loader.intercepted(request) { [self] request throws(WebImageError) in
            try await originalData(for: request)
        }
    }

    private func originalData(for request: ImageRequest) async throws(WebImageError) -> [UInt8] {
        if let data = request.inlineData { return data }
        let reading = try await BytesReading.open(request, by: loader)
        do throws(WebImageError) {
            return try await data(of: reading)
        } catch {
            guard let data = try? await originalData(for: standIn(for: error, reading)) else { throw error }
            return data
        }
    }

    private func data(of reading: BytesReading) async throws(WebImageError) -> [UInt8] {
        try await reading.notingOutcome { [loader] () async throws(WebImageError) in
            let log = try await reading.whole()
            // Part of the bytes may be in a file.
            let bytes = try await loader.ioExecutor.answer(reading.request.options.priority) {
                () throws(WebImageError) in try log.contiguous()
            }
            return bytes.array
        }
    }

    /// A request for the cached original, which replaces a transfer that failed.
    ///
    /// - Throws: `error` if the caches have no such original.
    private func standIn(for error: WebImageError, _ reading: BytesReading) throws(WebImageError) -> ImageRequest {
        guard reading.hasStandIn(for: error) else { throw error }
        var entry = reading.request
        entry.options.caching.policy = .cacheOnly
        return entry
    }

    /// The original's bytes as they arrive, without decoding. If they are read to the end, they are stored as with
    /// ``data(for:)``.
    ///
    /// Returns when the origin has answered. Releasing the result ends the transfer, unless other loads need it. The
    /// request's timeout counts until the transfer has ended, however slowly the bytes are read afterwards.
    /// - Throws: any code of ``/WebImageCore/WebImageError`` but 30xx; `cancelled` when the task was cancelled.
    public func bytes(for request: ImageRequest) async throws(WebImageError) -> ImageBytes {
        try await loader.intercepted(request) { [self] request throws(WebImageError) in
            try await originalBytes(for: request)
        }
    }

    private func originalBytes(for request: ImageRequest) async throws(WebImageError) -> ImageBytes {
        let reading = try await BytesReading.open(request, by: loader)
        let answer = CancellableAnswer<Void>()
        reading.bytes.log.whenHead { answer.give(.success(())) }
        try await reading.value(of: answer)
        if case .failed(let error)? = reading.bytes.log.end, reading.bytes.log.successor == nil,
            reading.bytes.log.receivedCount == 0
        {
            reading.noteOutcome(error)
            throw error
        }
        return ImageBytes(reading, executor: loader.ioExecutor)
    }

    /// Reads a picture's header and metadata from as few of its first bytes as possible. If that needs all bytes, they
    /// are stored as with ``data(for:)``. EXIF that follows the pixels (in a PNG, with its orientation, or in a JPEG
    /// XL, AVIF or HEIC) is found if all bytes are already there, as those of a file are.
    ///
    /// - Parameters:
    ///   - request: names the picture, and how it is loaded.
    ///   - waitsForEXIF: whether to wait for EXIF that may follow the pixels. Default false.
    /// - Throws: the same errors as a load of the picture.
    public func details(
        for request: ImageRequest, waitsForEXIF: Bool = false
    ) async throws(WebImageError) -> ImageDetails {
        try await details(for: request, rest: waitsForEXIF ? .needed : .unneeded)
    }

    /// Like ``details(for:waitsForEXIF:)``, but also finds EXIF that follows the pixels in bytes that have yet to
    /// arrive.
    ///
    /// - Parameter onRest: called as soon as everything except that EXIF is known, perhaps several times. The function
    ///   then reads to the end of the bytes; the caller must see to it that the end comes soon.
    package func details(
        for request: ImageRequest, onRest: (@Sendable () -> Void)?
    ) async throws(WebImageError) -> ImageDetails {
        try await details(for: request, rest: onRest.map { .wanted($0) } ?? .unneeded)
    }

    private func details(
        for request: ImageRequest, rest: HeaderProbe.Rest
    ) async throws(WebImageError) -> ImageDetails {
        try await loader.intercepted(request) { [self] request throws(WebImageError) in
            let reading = try await BytesReading.open(request, by: loader)
            return try await reading.notingOutcome { () async throws(WebImageError) in
                try await details(of: reading, rest)
            }
        }
    }

    private func details(
        of reading: BytesReading, _ rest: HeaderProbe.Rest = .unneeded
    ) async throws(WebImageError) -> ImageDetails {
        let probe = HeaderProbe(
            reading.bytes.log, reading.bytes.source, for: reading.request, by: loader.decoding, rest: rest)
        var details = try await reading.inTime({ probe.end($0) }) { () async throws(WebImageError) in
            try await probe.details()
        }
        details.head = reading.bytes.head
        details.receivedByteCount = ByteCount(reading.bytes.log.latest.receivedCount)
        return details
    }

    /// Loads an original into the disk cache for later, without making a picture from it.
    ///
    /// - Parameters:
    ///   - request: names the original, and how it is loaded and stored.
    ///   - check: how much of the original is checked before it is stored. If a ``CacheSerializer`` decides what is
    ///     stored, the whole original is decoded, since the serializer needs the picture.
    ///   - onProgress: called with the progress of the transfer, on threads of the manager. It must not block. A
    ///     last call, by a thread that was late, may still come just after this function has returned.
    /// - Returns: the original, when all of it has arrived; with ``ImageRequest/Caching/waitsForStore`` when it is on
    ///   disk, or storing it has failed.
    /// - Throws: the same errors as a load of the picture, except for those of options that say what is shown of the
    ///   original: whether it has the ``ImageRequest/Decoding/page``, or is an animation if that is required.
    public func keepOriginal(
        for request: ImageRequest, check: OriginalCheck = .header,
        onProgress: (@Sendable (LoadProgress) -> Void)? = nil
    ) async throws(WebImageError) -> OriginalResponse {
        try await loader.intercepted(request) { [self] request throws(WebImageError) in
            try await original(for: request, check, onProgress)
        }
    }

    private func original(
        for request: ImageRequest, _ check: OriginalCheck, _ onProgress: (@Sendable (LoadProgress) -> Void)?
    ) async throws(WebImageError) -> OriginalResponse {
        if check == .full || loader.caches.serializer(for: request) != nil {
            return try await keepDecoded(request, checksFrames: check == .full, onProgress)
        }
        let begin = loader.clock.now
        var reading = try await BytesReading.open(request, by: loader, revalidatesInBackground: false)
        if reading.bytes.isProvisional {
            // The cached original may be outdated: wait for a newer one. If the origin does not answer, the cached one
            // stays.
            var newer = request
            newer.options.caching.policy = .revalidate
            do throws(WebImageError) {
                reading = try await BytesReading.open(newer, by: loader)
            } catch {
                guard error.leavesCachedPicture else { throw error }
            }
        }
        let watch = onProgress.map(ProgressWatch.init)
        defer { watch?.end() }
        if let watch { reading.tellProgress(to: watch) }
        do throws(WebImageError) {
            let response = try await keep(reading, since: begin)
            // The reports of arriving bytes may lag behind, so the final progress is reported here.
            if let count = response.byteCount { watch?.tell(LoadProgress(received: count, expected: count)) }
            return response
        } catch {
            let entry = try standIn(for: error, reading)
            guard let kept = try? await original(for: entry, .header, nil) else { throw error }
            return kept
        }
    }

    private func keep(_ reading: BytesReading, since begin: Duration) async throws(WebImageError) -> OriginalResponse {
        let details: ImageDetails
        let log: ByteLog
        do throws(WebImageError) {
            details = try await self.details(of: reading)
            log = try await reading.whole()
            reading.noteOutcome(nil)
        } catch {
            reading.noteOutcome(error)
            throw error
        }
        var response = OriginalResponse(
            header: details.header, source: details.source, byteCount: ByteCount(log.receivedCount))
        response.head = reading.bytes.following(log).head
        response.timings.queue = reading.bytes.time - begin
        if let metrics = reading.bytes.download?.metrics { response.timings.add(metrics) }
        if reading.request.options.includesData { response.data = try await data(of: reading) }
        if reading.request.options.caching.waitsForStore {
            try await loader.originals.finish(reading.keeper.key.originalKey)
            response.take(reading.keeper.outcome)
        }
        response.timings.total = loader.clock.now - begin
        return response
    }

    private func keepDecoded(
        _ given: ImageRequest, checksFrames: Bool, _ onProgress: (@Sendable (LoadProgress) -> Void)?
    ) async throws(WebImageError) -> OriginalResponse {
        var request = given
        // A finished picture in memory or on disk proves nothing about the original. A partial original is not kept.
        (request.options.caching.query, request.options.caching.store) = ([], [])
        (request.options.size, request.options.transformers) = (nil, [])
        // All of the original is decoded, whatever part or form of it the request would show.
        request.options.decoding = request.options.decoding.ofWholeOriginal
        // The other pages are checked in the very bytes that were decoded: a serializer may store others.
        if checksFrames { request.options.includesData = true }
        var cached: ImageResponse?
        for await event in loader.events(for: request) {
            switch event {
            case .progress(let progress): onProgress?(progress)
            case .preview: break
            case .cached(let response): cached = response
            case .finished(let result):
                let picture: ImageResponse
                do throws(WebImageError) { picture = try result.get() } catch {
                    guard let cached, error.leavesCachedPicture else { throw error }
                    picture = cached
                }
                guard let header = picture.header else {
                    throw WebImageError(
                        .unsupportedFeature, "the coder did not return a header", location: request.redactedURL)
                }
                if checksFrames { try await checkRest(of: picture.image, header, picture.data, request) }
                var response = OriginalResponse(header: header, source: picture.source, byteCount: picture.byteCount)
                (response.head, response.data) = (picture.head, given.options.includesData ? picture.data : nil)
                (response.storeError, response.timings) = (picture.storeError, picture.timings)
                return response
            }
        }
        throw .cancelled
    }
}

extension ImageManager {
    /// Decodes all frames of an animation, or all pages of a TIFF. If one of them is damaged, the original is removed
    /// from the disk.
    private func checkRest(
        of image: Image, _ header: ImageHeader, _ file: [UInt8]?, _ request: ImageRequest
    ) async throws(WebImageError) {
        do throws(WebImageError) {
            try await image.animation?.decodeAll()
            if let file { try await checkPages(of: file, header, request) }
        } catch {
            // A cancelled check proves nothing about the original, which may have been on disk for long.
            if ![.cancelled, .shutDown].contains(error.code) {
                let caching = request.options.caching
                let cache: any ImageCaching = caching.originalCache ?? caching.cache ?? cache
                try? await cache.remove(request, from: .disk)
            }
            throw error.endingALoad(of: request.redactedURL)
        }
    }
}

/// How much of an original is checked before it is stored.
public enum OriginalCheck: Hashable, Sendable {
    /// Checks that the length is as announced, and that the header is that of a picture that can be decoded.
    case header
    /// Decodes all of it: every frame of an animation, every page of a TIFF.
    case full
}

/// The header and metadata of a picture's file.
public struct ImageDetails: Sendable {
    public var header: ImageHeader
    /// The length of the file; nil if the origin does not announce it.
    public var byteCount: ByteCount?
    /// How many bytes of the file had arrived when header and metadata were known.
    public var receivedByteCount = ByteCount(0)
    public var source: ImageSource
    /// Status and headers of the origin's answer; nil if the picture came from a file.
    public var head: ResponseHead?
}
