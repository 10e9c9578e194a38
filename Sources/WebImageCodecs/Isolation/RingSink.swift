import WebImageCore

/// The sink of a worker's decoders: rows go to the host through the ring, a few at a time.
final class RingSink: RowSink {
    /// Waits until the host says how many rows it has taken.
    typealias WaitForTaken = () -> Void
    typealias Reply = (WorkerReply, [UInt8]) -> Void

    private let memory: SharedMemory
    private let reply: Reply
    private let sendNow: () -> Void
    private let waitForTaken: WaitForTaken
    private let formatReply: WorkerReply
    private let keepsWhole: Bool
    private let positions: RingPositions
    private var shape: RingShape?
    private var format: RowFormat?
    private var whole: PixelBuffer?
    private var scratch: [UInt8] = []
    /// The place of the last band, if it is in the ring.
    private var band: (position: Int, wraps: Bool)?
    /// Rows that the host has not been told of.
    private var run: RowRun?
    /// False when the host needs no more rows.
    var wantsRows = true

    /// - Parameters:
    ///   - positions: shared by all pictures of the worker.
    ///   - formatReply: the message that reports the format.
    init(
        _ memory: SharedMemory, _ positions: RingPositions, formatReply: WorkerReply = .begin, keepsWhole: Bool,
        reply: @escaping Reply, sendNow: @escaping () -> Void, waitForTaken: @escaping WaitForTaken
    ) {
        self.memory = memory
        self.positions = positions
        self.formatReply = formatReply
        self.keepsWhole = keepsWhole
        self.reply = reply
        self.sendNow = sendNow
        self.waitForTaken = waitForTaken
    }

    func begin(_ format: RowFormat) throws(WebImageError) {
        shape = try RingShape(format)
        self.format = format
        reply(formatReply, format.wireBytes)
    }

    func band(at row: Int, count: Int) throws(WebImageError) -> UnsafeMutableRawPointer {
        guard let shape else { preconditionFailure("a band was asked for before begin") }
        if let whole { return whole.row(row) }
        if count <= shape.maxRows {
            let place = reserve(count, shape)
            band = place
            return memory.ring + place.position % shape.capacity
        }
        band = nil
        let bytes = count * shape.bytesPerRow
        if scratch.count < bytes { scratch = [UInt8](repeating: 0, count: bytes) }
        return scratchBase
    }

    func commit(at row: Int, count: Int) throws(WebImageError) {
        guard let shape else { preconditionFailure("rows were committed before begin") }
        if let whole { return copy(whole.row(row), row, count, shape) }
        guard let band else { return copy(scratchBase, row, count, shape) }
        self.band = nil
        put(row, count, at: band, shape)
    }

    /// Only decoders that refine rows use it. Others write into the ring.
    var wholePicture: UnsafeMutableRawPointer? {
        guard keepsWhole, let format else { return nil }
        if whole == nil { whole = try? PixelBuffer(size: format.size, layout: format.layout) }
        return whole?.base
    }

    /// Tells the host of all available rows.
    func flush() {
        guard let run else { return }
        self.run = nil
        reply(.rows, run.wireBytes)
    }

    /// The class's own array is not shared, so it keeps its address until it grows.
    private var scratchBase: UnsafeMutableRawPointer {
        scratch.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { preconditionFailure("rows have bytes") }
            return base
        }
    }

    private func copy(_ rows: UnsafeMutableRawPointer, _ row: Int, _ count: Int, _ shape: RingShape) {
        let most = max(1, shape.maxRows / 2)
        var done = 0
        while done < count {
            let next = min(most, count - done)
            let place = reserve(next, shape)
            (memory.ring + place.position % shape.capacity).copyMemory(
                from: rows + done * shape.bytesPerRow, byteCount: next * shape.bytesPerRow)
            put(row + done, next, at: place, shape)
            done += next
        }
    }

    /// Reserves room for rows in the ring; waits until there is enough.
    private func reserve(_ count: Int, _ shape: RingShape) -> (position: Int, wraps: Bool) {
        let wraps = shape.wraps(count, behind: positions.end)
        let start = shape.start(behind: positions.end, wraps: wraps)
        while start + count * shape.bytesPerRow - positions.taken > shape.capacity {
            flush()
            reply(.waiting, [])
            waitForTaken()
        }
        return (start, wraps)
    }

    private func put(_ row: Int, _ count: Int, at place: (position: Int, wraps: Bool), _ shape: RingShape) {
        positions.end = place.position + count * shape.bytesPerRow
        // A run is contiguous: it never continues at the start of the ring, even if rows filled it to the last byte.
        let isBehind = place.position % shape.capacity > 0
        if isBehind, var run, run.row + run.count == row {
            run.count += count
            self.run = run
        } else {
            flush()
            run = RowRun(row: row, count: count, wraps: place.wraps)
        }
        guard let run, run.count * shape.bytesPerRow >= shape.worthTelling else { return }
        flush()
        sendNow()
    }
}
