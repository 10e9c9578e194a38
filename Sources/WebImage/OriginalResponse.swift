public import WebImageCore
public import WebImageDownload

/// An original that is there, undecoded: see ``ImageManager/keepOriginal(for:check:onProgress:)``.
public struct OriginalResponse: Sendable {
    /// What the file says of itself.
    public var header: ImageHeader
    public var source: ImageSource
    /// How long it is; nil when it was not looked at.
    public var byteCount: ByteCount?
    /// The bytes, when ``ImageRequest/Options/includesData`` asked for them.
    public var data: [UInt8]?
    /// Status and fields of the origin's answer; nil for what came from a file.
    public var head: ResponseHead?
    /// Why it could not be kept on disk. Known only with ``ImageRequest/Caching/waitsForStore``.
    public var storeError: WebImageError?
    /// `store` is known only with ``ImageRequest/Caching/waitsForStore``, and nil where the origin does not allow it to be kept.
    public var timings = LoadTimings()

    init(header: ImageHeader, source: ImageSource, byteCount: ByteCount?) {
        self.header = header
        self.source = source
        self.byteCount = byteCount
    }

    mutating func take(_ outcome: Result<Duration, WebImageError>?) {
        switch outcome {
        case .success(let time): timings.store = time
        case .failure(let error): storeError = error
        case nil: break
        }
    }
}
