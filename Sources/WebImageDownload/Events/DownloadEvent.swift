public import WebImageCore

/// Something that happened to one transfer.
public struct DownloadEvent: Sendable {
    public enum Kind: Sendable {
        /// It has a slot, for the first time.
        case started
        /// It follows a redirect.
        case redirected(to: String)
        /// The answer's head is there.
        case response(status: Int, expectedLength: Int?)
        /// So much of the body is there. Where a listener is slow only the newest of one transfer waits.
        case bytes(received: Int, expected: Int?)
        /// A try failed; the next one begins after so long.
        case retrying(after: Duration, WebImageError)
        case finished(TransferMetrics)
        case failed(WebImageError)
        /// The last one who waited for it has left, or everything was cancelled.
        case cancelled
    }

    /// The same for all events of a transfer, and for no other one of that downloader.
    public let transfer: Int
    /// Without user, password, fragment and secrets in the query.
    public let url: String
    public let kind: Kind
}

/// The events of a downloader from the moment on that the sequence was asked for. A listener that reads too slowly
/// loses the oldest events: 4096 are kept.
public struct DownloadEvents: AsyncSequence, Sendable {
    public typealias Element = DownloadEvent
    public typealias Failure = Never

    let mailbox: DownloadMailbox

    public func makeAsyncIterator() -> Iterator { Iterator(mailbox: mailbox) }

    public struct Iterator: AsyncIteratorProtocol {
        let mailbox: DownloadMailbox

        /// nil when the task was cancelled or the downloader is gone.
        public mutating func next() async -> DownloadEvent? { await mailbox.next() }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> DownloadEvent? {
            await mailbox.next()
        }
    }
}
