import ServerImages
import Synchronization
import WebImage

/// A body that is sent as it arrives from the origin, once.
///
/// Bytes that the client has not read wait in memory and in files; ``StreamedBytes`` limits those of all such bodies.
public final class StreamedBody: Sendable {
    let length: Int?
    let bytes: ImageBytes
    private let share: StreamedBytes.Share
    private let onEnd = Mutex<(@Sendable (_ sent: Int, WebImageError?) -> Void)?>(nil)
    private let sent = Atomic(0)

    /// - Parameters:
    ///   - length: the length of the part of `bytes` that is sent; nil if it is not known.
    ///   - share: released when the body has been sent.
    init(_ bytes: ImageBytes, length: Int?, share: StreamedBytes.Share) {
        (self.bytes, self.length, self.share) = (bytes, length, share)
    }

    deinit { ended(WebImageError.cancelled) }

    /// - Parameter body: called once with the number of bytes that were handed to the client, and the reason if these
    ///   are not all. A body that is never sent ends as cancelled.
    func whenEnded(_ body: @escaping @Sendable (_ sent: Int, WebImageError?) -> Void) {
        onEnd.withLock { $0 = body }
    }

    func hasSent(_ count: Int) { sent.add(count, ordering: .relaxed) }

    /// - Parameter error: nil if all bytes were sent. An error that is not a `WebImageError` comes from the connection.
    func ended(_ error: (any Error)?) {
        let body = onEnd.withLock { body in
            defer { body = nil }
            return body
        }
        body?(sent.load(ordering: .relaxed), error.map { $0 as? WebImageError ?? .cancelled })
    }
}

/// Limits the bytes of sources that are on their way to clients, each of which may read as slowly as
/// ``ConnectionDeadlines`` allows. Any thread may use it.
final class StreamedBytes: Sendable {
    /// Returned when it is released.
    final class Share: Sendable {
        private let bytes: Int
        private let client: String?
        private let owner: StreamedBytes

        fileprivate init(_ bytes: Int, _ client: String?, _ owner: StreamedBytes) {
            (self.bytes, self.client, self.owner) = (bytes, client, owner)
        }

        deinit { owner.taken.withLock { $0.giveBack(bytes, of: client) } }
    }

    /// The share of a body of unknown length.
    static let usualLength = ByteCount.mebibytes(16)

    private let taken: Mutex<ByteBudget>

    init(most: Int = 1 << 30) { taken = Mutex(ByteBudget(most: most)) }

    /// - Parameter client: its address; nil: it is not known.
    /// - Returns: nil if there is no room, or the client already reads too much. A single body always fits.
    func take(_ bytes: Int, for client: String? = nil) -> Share? {
        let fits = bytes == 0 || taken.withLock { $0.take(bytes, for: client) }
        return fits ? Share(bytes, client, self) : nil
    }
}
