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

    /// - Parameter error: any error other than one of the load is one of the connection.
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
        private let owner: StreamedBytes

        fileprivate init(_ bytes: Int, _ owner: StreamedBytes) { (self.bytes, self.owner) = (bytes, owner) }

        deinit { owner.taken.withLock { $0 -= bytes } }
    }

    /// The share of a body of unknown length.
    static let usualLength = ByteCount.mebibytes(16)

    private let most: Int
    private let taken = Mutex(0)

    init(most: Int = 1 << 30) { self.most = most }

    /// - Returns: nil if there is no room. A single body always fits.
    func take(_ bytes: Int) -> Share? {
        let fits = taken.withLock { taken in
            guard taken == 0 || taken <= most - bytes else { return false }
            taken += bytes
            return true
        }
        return fits ? Share(bytes, self) : nil
    }
}
