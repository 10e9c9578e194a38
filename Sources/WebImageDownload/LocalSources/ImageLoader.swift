public import HTTPTypes
public import WebImageCore

/// Loads bytes that the downloader cannot load: URLs with a scheme of your own, members of an archive, pictures of a
/// library. Everything else works as for any other picture: sharing, caches, decoding.
///
/// Loaders have slots of their own, as many as downloads have (``DownloadConfiguration/maxConcurrent``, and for each
/// scheme ``DownloadConfiguration/maxConcurrentPerHost``): they wait while the downloader is suspended, the highest
/// priority goes first, and a loader may wait for a download of the same downloader. Of the deadlines only
/// ``DownloadDeadlines/total`` applies. A loader that is cancelled or late keeps its slot until it has returned, but
/// its callers are answered at once.
///
/// Set a loader for one request (``DownloadOptions/loader``), or for all URLs with schemes that the downloader does not
/// know (``DownloadConfiguration/loaders``).
public protocol ImageLoader: Sendable {
    /// Identifies the loader: two loaders with the same name are expected to do the same.
    var name: String { get }

    /// Whether the loader accepts a URL.
    func canLoad(_ url: String) -> Bool

    /// Gives the bytes to `receiver`, in order, and returns after the last one. Its task is cancelled when the load has
    /// no waiters left. If it throws, the download fails: with the same error if that is a
    /// ``/WebImageCore/WebImageError``, otherwise with `connectionLost`.
    func load(_ url: String, to receiver: ImageReceiver) async throws
}

/// Receives the bytes of an ``ImageLoader``.
public struct ImageReceiver: Sendable {
    let transfer: LoaderTransfer

    /// Announces the length of the body. Calling it is optional; call it before the first byte. A shorter body fails
    /// with `truncatedBody`.
    public func expect(_ length: ByteCount) { transfer.expect(length, [:]) }

    /// Sets the headers that an origin would send with the bytes: `Content-Type`, `ETag`, `Last-Modified`,
    /// `Cache-Control` and others for ``ResponseHead``. Caches treat the bytes as if they had come by HTTP with these
    /// headers.
    ///
    /// Calling it is optional; call it before the first byte.
    ///
    /// - Parameters:
    ///   - fields: the headers of the answer.
    ///   - length: the length of the body; nil if it is not known.
    public func answer(_ fields: HTTPFields, length: ByteCount? = nil) { transfer.expect(length, fields) }

    /// Takes the next bytes of the body. Suspends while too many bytes wait to be decoded. Make one call after the
    /// other, since the bytes are in order.
    ///
    /// - Throws: `responseRefused` while another call runs, `bodyTooLarge`, `cancelled`, `cacheIO` when the temporary
    ///   file is full. The loader should let these errors through.
    public func receive(_ bytes: [UInt8]) async throws(WebImageError) { try await transfer.receive(bytes) }
}
