import WebImageCore

/// Stores that are not staged yet, because their bytes are still being made: the latest of each key. A removal or a
/// newer store of the key cancels them.
struct PendingStores {
    /// The recent removals.
    var removals = Removals()
    private var latest: [CacheKey: Int] = [:]
    private var number = 0

    /// - Returns: the store's number. Earlier stores of the same key are cancelled.
    mutating func begin(_ key: CacheKey) -> Int {
        number += 1
        latest[key] = number
        return number
    }

    func wants(_ number: Int, _ key: CacheKey) -> Bool { latest[key] == number }

    mutating func end(_ number: Int, _ key: CacheKey) {
        if wants(number, key) { latest[key] = nil }
    }

    mutating func cancel(_ key: CacheKey) { latest[key] = nil }

    mutating func cancelAll() { latest = [:] }
}
