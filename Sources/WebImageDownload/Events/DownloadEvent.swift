public import WebImageCore

/// Something that happened to one transfer.
public struct DownloadEvent: Sendable {
    /// The kinds of events, with their details.
    public enum Kind: Sendable {
        /// The transfer has got a slot, for the first time.
        case started
        /// The transfer follows a redirect.
        case redirected(to: String)
        /// The head of the answer has arrived.
        case response(status: Int, expectedLength: Int?)
        /// A number of bytes of the body have arrived. For a slow listener only the newest such event of a transfer is
        /// kept.
        case bytes(received: Int, expected: Int?)
        /// An attempt failed; the next one begins after that time.
        case retrying(after: Duration, WebImageError)
        /// The transfer is complete.
        case finished(TransferMetrics)
        /// The transfer has failed; no retry follows.
        case failed(WebImageError)
        /// All callers have cancelled, or the downloader has cancelled all transfers.
        case cancelled
    }

    /// A number that identifies the transfer within its downloader.
    public let transfer: Int
    /// The URL without user, password, fragment and secrets in the query.
    public let url: String
    public let kind: Kind
}

/// The events of a downloader, from the moment when the sequence was made. 4096 events are kept; a listener that reads
/// too slowly loses the oldest ones.
public struct DownloadEvents: AsyncSequence, Sendable {
    public typealias Element = DownloadEvent
    public typealias Failure = Never

    let mailbox: DownloadMailbox

    public func makeAsyncIterator() -> Iterator { Iterator(mailbox: mailbox) }

    public struct Iterator: AsyncIteratorProtocol {
        let mailbox: DownloadMailbox

        /// Returns the next event; nil when the task was cancelled or the downloader was released.
        public mutating func next() async -> DownloadEvent? { await mailbox.next() }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> DownloadEvent? {
            await mailbox.next()
        }
    }
}
