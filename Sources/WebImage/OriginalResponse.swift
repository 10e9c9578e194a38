public import WebImageCore
public import WebImageDownload

/// An original that was loaded without decoding it: see ``ImageManager/keepOriginal(for:check:onProgress:)``.
public struct OriginalResponse: Sendable {
    /// The header of the file.
    public var header: ImageHeader
    public var source: ImageSource
    /// The length of the original; nil if it was not read.
    public var byteCount: ByteCount?
    /// The bytes, when ``ImageRequest/Options/includesData`` asked for them.
    public var data: [UInt8]?
    /// Status and headers of the origin's answer; nil if the original came from a file.
    public var head: ResponseHead?
    /// Why the original could not be stored on disk. It is set only with ``ImageRequest/Caching/waitsForStore``.
    public var storeError: WebImageError?
    /// The timings of the load. `store` is set only with ``ImageRequest/Caching/waitsForStore``, and is nil if the
    /// origin does not allow storing.
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
