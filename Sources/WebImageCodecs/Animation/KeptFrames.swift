import WebImageCore
import WebImageSystem

/// Decoded frames within a limit; the least recently used one is removed first, and one always stays.
struct KeptFrames {
    private struct Entry {
        var image: Image
        var turn: Int
    }

    private(set) var limit: ByteCount = .mebibytes(64)
    private(set) var bytes = 0
    private var entries: [Int: Entry] = [:]
    private var turn = 0

    func has(_ index: Int) -> Bool { entries[index] != nil }

    func peek(_ index: Int) -> Image? { entries[index]?.image }

    /// Returns a frame, and marks it as used.
    mutating func take(_ index: Int) -> Image? {
        guard let image = entries[index]?.image else { return nil }
        turn += 1
        entries[index]?.turn = turn
        return image
    }

    /// How many frames of `size` bytes may be kept.
    func room(of size: Int) -> Int { max(limit.bytes / max(size, 1), 1) }

    /// - Returns: the change of the kept bytes.
    mutating func insert(_ image: Image, _ index: Int) -> Int {
        let before = bytes
        turn += 1
        if let old = entries.updateValue(Entry(image: image, turn: turn), forKey: index) {
            bytes -= old.image.pixels.byteCount.bytes
        }
        bytes += image.pixels.byteCount.bytes
        shrink()
        return bytes - before
    }

    /// - Returns: how many bytes were freed.
    mutating func setLimit(_ limit: ByteCount) -> Int {
        let before = bytes
        self.limit = limit
        shrink()
        return before - bytes
    }

    /// - Returns: how many bytes were freed.
    mutating func removeAll() -> Int {
        defer { bytes = 0 }
        entries = [:]
        return bytes
    }

    private mutating func shrink() {
        while bytes > limit.bytes, entries.count > 1, let oldest = entries.min(by: { $0.value.turn < $1.value.turn }) {
            entries[oldest.key] = nil
            bytes -= oldest.value.image.pixels.byteCount.bytes
        }
    }
}

/// The frames to decode next: first those that callers wait for, in order, then those that are decoded ahead.
struct FrameWork {
    private var answers: [Int: [CancellableAnswer<Image>]] = [:]
    private var order: [Int] = []
    private var ahead: [Int] = []
    private var isRunning = false

    mutating func add(_ answer: CancellableAnswer<Image>, _ index: Int) {
        if answers[index] == nil { order.append(index) }
        answers[index, default: []].append(answer)
    }

    mutating func setAhead(_ wishes: [Int]) { ahead = wishes }

    /// - Returns: whether the caller must start the work.
    mutating func start() -> Bool {
        guard !isRunning, !(order.isEmpty && ahead.isEmpty) else { return false }
        isRunning = true
        return true
    }

    /// The next frame to decode; nil ends the run. A frame whose waiters were all cancelled is left out: a user who
    /// drags a slider requests many frames, and needs only the last.
    mutating func next() -> Int? {
        while let index = order.first {
            if answers[index]?.contains(where: { !$0.isGiven }) == true { return index }
            _ = takeAnswers(index)
        }
        if !ahead.isEmpty { return ahead.removeFirst() }
        isRunning = false
        return nil
    }

    /// Returns the waiters for a decoded frame.
    mutating func takeAnswers(_ index: Int) -> [CancellableAnswer<Image>] {
        order.removeAll { $0 == index }
        return answers.removeValue(forKey: index) ?? []
    }
}
