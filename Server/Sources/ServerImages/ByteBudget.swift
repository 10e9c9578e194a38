/// Limits the bytes that clients hold together. A client that already holds bytes may hold at most as many as then
/// remain free, so that a single client gets at most half and something is always left for others.
package struct ByteBudget: Sendable {
    private let most: Int
    package private(set) var bytes = 0
    /// The number of bytes of each client that holds any.
    private var held: [String: Int] = [:]

    package init(most: Int) { self.most = most }

    /// Reserves bytes for a client.
    ///
    /// - Parameters:
    ///   - client: nil: the client is not known, and only the limit for all clients applies.
    ///   - isNew: whether nobody holds the same bytes yet. Bytes that several clients hold count once in the total, and
    ///     once for each client.
    /// - Returns: false if there is no room. If no client holds bytes, any number fits.
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

    /// Returns bytes that a client no longer holds.
    ///
    /// - Parameter isLast: whether no other client holds the same bytes.
    package mutating func giveBack(_ count: Int, of client: String?, isLast: Bool = true) {
        if isLast { bytes -= count }
        guard let client, let own = held[client] else { return }
        held[client] = own > count ? own - count : nil
    }
}
