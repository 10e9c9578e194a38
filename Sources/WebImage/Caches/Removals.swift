import WebImageCore
import WebImageSystem

/// The recent removals, so that a load that was running during a removal does not store its picture again.
struct Removals {
    /// The number of the last removal from each layer; 0: none.
    private struct Last {
        var fromMemory = 0
        var fromDisk = 0

        mutating func note(_ number: Int, from layers: CacheLayers) {
            if layers.contains(.memory) { fromMemory = number }
            if layers.contains(.disk) { fromDisk = number }
        }

        func isLater(than number: Int, from layers: CacheLayers) -> Bool {
            layers.contains(.memory) && fromMemory > number || layers.contains(.disk) && fromDisk > number
        }
    }

    /// For how many originals the last removal is remembered.
    static let maxKept = 4096

    /// The number of the last removal, in ``EventOrder``, which a load records when it begins.
    private(set) var last = 0
    private var ofAll = Last()
    private var ofOriginals: [CacheKey: Last] = [:]
    /// Removals of single originals up to this number may be forgotten. A load that began before it counts as removed.
    private var forgotten = 0

    /// - Parameter original: the original that was removed; nil: everything was.
    mutating func note(_ original: CacheKey?, from layers: CacheLayers) {
        last = EventOrder.next()
        guard let original else { return ofAll.note(last, from: layers) }
        ofOriginals[original, default: Last()].note(last, from: layers)
        if ofOriginals.count > Self.maxKept { forgetHalf() }
    }

    private mutating func forgetHalf() {
        func number(_ last: Last) -> Int { max(last.fromMemory, last.fromDisk) }
        let numbers = ofOriginals.values.map(number).sorted()
        forgotten = numbers[numbers.count / 2]
        ofOriginals = ofOriginals.filter { number($0.value) > forgotten }
    }

    /// The number of the last removal of an original from disk, or of a later one of another if it may be forgotten; 0:
    /// none.
    func lastFromDisk(of original: CacheKey) -> Int {
        max(ofAll.fromDisk, ofOriginals[original]?.fromDisk ?? forgotten)
    }

    /// Whether a picture made of `original` was removed from one of `layers` since the removal `begin`.
    func hasRemoved(_ original: CacheKey, from layers: CacheLayers, since begin: Int) -> Bool {
        begin < forgotten || ofAll.isLater(than: begin, from: layers)
            || ofOriginals[original]?.isLater(than: begin, from: layers) ?? false
    }
}

/// The numbers of the last removals from a load's caches, at the time when the load began.
struct RemovalNumbers: Hashable {
    /// In the cache of its pictures.
    var pictures = 0
    /// In the cache of their originals.
    var originals = 0
    /// Of the load's own original, from disk. Loads do not share work with others from before it.
    var ofOriginal = 0
}
