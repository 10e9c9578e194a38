import TierEntries
import WebImage

/// The message that a program sends to the others when it removes an entry.
struct Removal: Hashable {
    var key: CacheKey
    /// The program that removed the entry: it ignores its own message.
    var sender: String

    func fields(_ seal: EntrySeal) -> [[UInt8]] {
        [Array(key.text.utf8), Array(sender.utf8), seal.code(of: Self.message(key.text, sender))]
    }

    init(key: CacheKey, sender: String) { (self.key, self.sender) = (key, sender) }

    /// Nil if the message is malformed, or was not signed with the secret.
    init?(_ fields: [[UInt8]], _ seal: EntrySeal) {
        guard fields.count == 3, let key = String(validating: fields[0], as: UTF8.self),
            let sender = String(validating: fields[1], as: UTF8.self),
            seal.accepts(fields[2], of: Self.message(key, sender))
        else { return nil }
        self.init(key: CacheKey(key), sender: sender)
    }

    private static func message(_ key: String, _ sender: String) -> String { "removed \(sender) \(key)" }
}
