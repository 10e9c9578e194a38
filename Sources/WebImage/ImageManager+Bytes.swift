public import WebImageCodecs
public import WebImageCore
import WebImageDownload
import WebImageSystem

extension ImageManager {
    /// The original's bytes as the origin sent them, without decoding: from the disk cache or the network, by the
    /// request's policy. They are not stored: only what turned out to be a picture is.
    ///
    /// - Throws: any code of ``WebImageError`` but 30xx; `cancelled` when the task was cancelled.
    public func data(for request: ImageRequest) async throws(WebImageError) -> [UInt8] {
        if let data = request.inlineData { return data }
        let key = try BytesKey(request)
        if let body = try await storedBytes(for: request) { return body }
        let download = downloader.download(key.download, priority: request.priority)
        defer { download.cancel() }
        let (log, answer) = (download.log, CancellableAnswer<ByteChunk>())
        log.whenEnded { [loader] in
            if case .failed(let error) = log.end { return answer.give(.failure(error)) }
            // Part of the bytes may be in a file.
            loader.ioExecutor.run(request.priority) {
                answer.give(Result { () throws(WebImageError) in try log.contiguous() })
            }
        }
        return try await answer.value().array
    }

    /// What a picture's file says of itself, from as few of its first bytes as tell it.
    ///
    /// - Throws: what a load of it would throw.
    public func details(for request: ImageRequest) async throws(WebImageError) -> ImageDetails {
        let key = try BytesKey(request)
        if let data = request.inlineData { return try await details(in: ByteLog(bytes: data), .file, request) }
        if let body = try await storedBytes(for: request) {
            return try await details(in: ByteLog(bytes: body), .disk, request)
        }
        let download = downloader.download(key.download, priority: request.priority)
        defer { download.cancel() }
        return try await details(in: download.log, request.isLocal ? .file : .network, request)
    }

    private func details(
        in log: ByteLog, _ source: ImageSource, _ request: ImageRequest
    ) async throws(WebImageError) -> ImageDetails {
        try await HeaderProbe(log: log, source: source, request: request, loader: loader).details()
    }

    /// The original from the disk cache, where the policy reads it.
    ///
    /// - Throws: `cacheMiss` when the policy allows no other source, `cancelled`.
    private func storedBytes(for request: ImageRequest) async throws(WebImageError) -> [UInt8]? {
        guard request.cachePolicy.readsCaches, !request.isLocal else { return nil }
        do throws(WebImageError) {
            if let entry = try await diskCache?.read(request.originalKey) { return entry.body }
        } catch {
            if error.code == .cancelled { throw error }
            loader.observer.cacheFailed(error)
        }
        if request.cachePolicy.usesNetwork { return nil }
        throw Loader.cacheMiss.at(request.place)
    }

    /// The bytes of a picture in a format, made on the decode executor.
    ///
    /// - Throws: `cannotEncode`.
    public func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions = EncodeOptions()
    ) async throws(WebImageError) -> [UInt8] {
        let result = await withCheckedContinuation { continuation in
            loader.decodeExecutor.run(.normal) {
                continuation.resume(
                    returning: Result { () throws(WebImageError) in
                        try image.encoded(as: format, options, coders: self.coders)
                    })
            }
        }
        return try result.get()
    }
}

/// What a picture's file says of itself.
public struct ImageDetails: Sendable {
    public var header: ImageHeader
    /// How long the file is; nil when the origin does not say.
    public var byteCount: ByteCount?
    public var source: ImageSource
}
