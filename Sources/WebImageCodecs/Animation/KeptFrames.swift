import WebImageCore
import WebImageSystem

/// Decoded frames within a limit; the least recently used one is removed first, and one always stays. Frames whose pixels
/// somebody else keeps in any case cost nothing, and stay.
struct KeptFrames {
    private struct Entry {
        var image: Image
        var turn: Int
        /// How many bytes it keeps that nobody else does.
        var bytes: Int
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

    /// - Parameter isShared: whether somebody else keeps its pixels in any case.
    /// - Returns: the change of the kept bytes.
    mutating func insert(_ image: Image, _ index: Int, isShared: Bool = false) -> Int {
        let before = bytes
        turn += 1
        let entry = Entry(image: image, turn: turn, bytes: isShared ? 0 : image.pixels.byteCount.bytes)
        bytes += entry.bytes - (entries.updateValue(entry, forKey: index)?.bytes ?? 0)
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
        entries = entries.filter { $0.value.bytes == 0 }
        return bytes
    }

    private mutating func shrink() {
        while bytes > limit.bytes {
            let removable = entries.filter { $0.value.bytes > 0 }
            guard removable.count > 1, let oldest = removable.min(by: { $0.value.turn < $1.value.turn }) else { return }
            entries[oldest.key] = nil
            bytes -= oldest.value.bytes
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

    /// Whether a caller waits for a frame.
    var isAwaited: Bool { !order.isEmpty }

    /// - Returns: whether there is more to decode. If not, the work has ended.
    mutating func goesOn() -> Bool {
        isRunning = !(order.isEmpty && ahead.isEmpty)
        return isRunning
    }

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
