/// The name of a cache among those that use its directory: the number of its process, and a random number, because in
/// containers every process may be number 1. Its mark has this name, and the names of its temporary files begin with
/// it.
struct OwnerName: Hashable {
    let text: String

    init(process: Int32) {
        text = "\(process)-\(String(UInt32.random(in: .min ... .max), radix: 16))"
    }

    /// The cache that a temporary file belongs to; nil for names that no cache gives. Such files are not ours.
    init?(ofTemporary name: String) {
        if name.hasPrefix(Self.clockPrefix) {
            let owner = name.dropFirst(Self.clockPrefix.count)
            guard Self.isOne(owner) else { return nil }
            text = String(owner)
            return
        }
        guard name.hasPrefix("."), let dash = name.lastIndex(of: "-") else { return nil }
        let number = name[name.index(after: dash)...]
        let owner = name[name.index(after: name.startIndex)..<dash]
        guard !number.isEmpty, number.utf8.allSatisfy(Self.isDigit), Self.isOne(owner) else { return nil }
        text = String(owner)
    }

    /// Whether a name is that of a mark.
    static func isOne(_ name: some StringProtocol) -> Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[0].isEmpty && parts[0].allSatisfy(isDigit) && (1...8).contains(parts[1].count)
            && parts[1].allSatisfy { isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
    }

    private static let clockPrefix = ".clock-"
    /// The name of the file with which the cache asks for the time of the file system.
    var clockName: String { Self.clockPrefix + text }

    private static func isDigit(_ character: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
    }

    /// The prefix of the names of the cache's temporary files.
    var temporaryPrefix: String { ".\(text)-" }
}
