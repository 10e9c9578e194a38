public import HTTPTypes
public import WebImageCore

/// Gets the bytes of what the downloader cannot: URLs of a scheme of one's own, members of an archive, pictures of a library.
/// Everything behind it is as for any other picture: sharing, caches, decoding.
///
/// Loaders have slots of their own, as many as downloads have (``DownloadConfiguration/maxConcurrent``, and for each
/// scheme ``DownloadConfiguration/maxConcurrentPerHost``): they wait while the downloader is suspended, the most urgent
/// goes first, and one may wait for a download of the same downloader. Of the deadlines
/// ``DownloadDeadlines/total`` holds. One that is cancelled or late keeps its slot until it has returned, while its callers
/// are answered at once.
///
/// Given for one request (``DownloadOptions/loader``), or for all URLs of schemes that the downloader does not know
/// (``DownloadConfiguration/loaders``).
public protocol ImageLoader: Sendable {
    /// Stands for the loader: two of one name are taken to do the same.
    var name: String { get }

    /// Whether it takes this URL.
    func canLoad(_ url: String) -> Bool

    /// Gives the bytes to `receiver`, in order, and returns after the last one. Its task is cancelled when nobody waits for
    /// them any more. What it throws ends the download: a ``/WebImageCore/WebImageError`` as it is, anything else as `connectionLost`.
    func load(_ url: String, to receiver: ImageReceiver) async throws
}

/// Takes what an ``ImageLoader`` brings.
public struct ImageReceiver: Sendable {
    let transfer: LoaderTransfer

    /// Says how long the whole is. May be called before the first byte, and need not be. A body that is shorter fails
    /// with `truncatedBody`.
    public func expect(_ length: ByteCount) { transfer.expect(length, [:]) }

    /// Says what an origin would say of the bytes: `Content-Type`, `ETag`, `Last-Modified`, `Cache-Control` and whatever else
    /// ``ResponseHead`` shall hold. Caches keep them by it as if they had come by HTTP.
    ///
    /// May be called before the first byte, and need not be.
    ///
    /// - Parameters:
    ///   - fields: of the answer's head.
    ///   - length: of the whole; nil where it is not known.
    public func answer(_ fields: HTTPFields, length: ByteCount? = nil) { transfer.expect(length, fields) }

    /// Takes the next bytes. Suspends while too much waits to be decoded. One call after the other: bytes have an order.
    ///
    /// - Throws: `responseRefused` while another call runs, `bodyTooLarge`, `cancelled`, `cacheIO` when the temporary file is full: let it through.
    public func receive(_ bytes: [UInt8]) async throws(WebImageError) { try await transfer.receive(bytes) }
}
