/// Bytes that clients hold, up to a number in all. A client that holds some gets no more than it leaves free, so that
/// one client alone gets half, and the others always get something.
package struct ByteBudget: Sendable {
    private let most: Int
    package private(set) var bytes = 0
    /// Of the clients that hold some.
    private var held: [String: Int] = [:]

    package init(most: Int) { self.most = most }

    /// A client begins to hold bytes.
    ///
    /// - Parameters:
    ///   - client: nil: it is not known, and only the number in all limits it.
    ///   - isNew: whether nobody holds the same bytes yet; they count once in all, and for each client.
    /// - Returns: false if there is no room. With nothing held, anything fits.
    package mutating func take(_ count: Int, for client: String?, isNew: Bool = true) -> Bool {
        let added = isNew ? count : 0
        guard bytes == 0 || added <= most - bytes else { return false }
        if let client {
            let own = held[client] ?? 0
            guard own == 0 || own + count <= most - bytes - added else { return false }
            held[client] = own + count
        }
        bytes += added
        return true
    }

    /// A client no longer holds bytes.
    ///
    /// - Parameter isLast: whether nobody holds the same bytes any more.
    package mutating func giveBack(_ count: Int, of client: String?, isLast: Bool = true) {
        if isLast { bytes -= count }
        guard let client, let own = held[client] else { return }
        held[client] = own > count ? own - count : nil
    }
}
