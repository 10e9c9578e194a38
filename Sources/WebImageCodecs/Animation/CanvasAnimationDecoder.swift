import WebImageCore

/// Decodes animations of any format whose frames are patches on a canvas.
///
/// A frame depends on those before it, back to the nearest one that stands alone. Copies of the canvas are kept at a
/// few frames, so that going backwards or jumping does not decode everything again.
final class CanvasAnimationDecoder: AnimationDecoder {
    private let reader: any FramePatchReader
    private var canvas: FrameCanvas?
    /// The frame that is on the canvas.
    private var shown: Int?
    private var snapshots = CanvasSnapshots()
    /// The last returned copy of the canvas. When the caller no longer holds it, its memory is used for the next one.
    /// Frames are large, and new allocations between those that are kept would leave unusable gaps.
    private var given: PixelBuffer?
    /// Whether a frame had fewer rows than it announced. The canvas shows through there, so from then on no frame is
    /// assumed to hide those before it.
    private var hasShortFrames = false

    init(_ reader: any FramePatchReader) { self.reader = reader }

    var header: ImageHeader? { reader.header }
    var storedDelays: [Duration] { reader.patches.map(\.delay) }
    var encodedByteCount: Int { reader.bytes.count }
    var workingByteCount: Int {
        (canvas?.pixels.byteCount.bytes ?? 0) + (given?.byteCount.bytes ?? 0) + snapshots.byteCount
    }
    var beginsWithStill: Bool { reader.beginsWithStill }

    func releaseWorkingMemory() {
        canvas = nil
        given = nil
        shown = nil
        snapshots = CanvasSnapshots()
    }

    func releaseSpareMemory() {
        given = nil
        snapshots = CanvasSnapshots()
    }

    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) {
        try reader.push(bytes, of: nil)
    }

    func push(file: [UInt8]) throws(WebImageError) {
        try file.withUnsafeBufferPointer { bytes throws(WebImageError) in
            try reader.push(UnsafeRawBufferPointer(bytes), of: file)
        }
    }

    func finish() throws(WebImageError) { try reader.finish() }

    func firstFrameNeeded(for index: Int) -> Int {
        if shown == index { return index }
        return min(start(for: index).first, index)
    }

    func frame(at index: Int) throws(WebImageError) -> PixelBuffer {
        guard let size = reader.header?.size, index < reader.patches.count else {
            preconditionFailure("a frame was asked for that is not there")
        }
        let canvas = try openCanvas(size)
        if shown != index, try !draw(upTo: index, on: canvas) {
            // Set once for all frames; otherwise a file with many short frames would be started anew for each of them.
            hasShortFrames = true
            snapshots = CanvasSnapshots()
            _ = try draw(upTo: index, on: canvas)
        }
        return try give(canvas)
    }

    private func give(_ canvas: FrameCanvas) throws(WebImageError) -> PixelBuffer {
        if isKnownUniquelyReferenced(&given), let given {
            given.base.copyMemory(from: canvas.pixels.base, byteCount: given.byteCount.bytes)
            return given
        }
        let copy = try canvas.copy()
        // The gaps of a huge one would be as large as those of nothing else.
        if copy.byteCount.bytes <= CanvasSnapshots.limit { given = copy }
        return copy
    }

    /// Draws the frames up to `index` on the canvas, starting from the nearest possible one.
    ///
    /// - Returns: whether the first drawn frame hides those before it, as was assumed.
    private func draw(upTo index: Int, on canvas: FrameCanvas) throws(WebImageError) -> Bool {
        let start = start(for: index)
        // Until the frame is complete, the canvas shows none.
        shown = nil
        if let snapshot = start.snapshot { canvas.show(snapshot) }
        // If there is a snapshot of the frame itself, nothing is drawn.
        for next in start.first..<index + 1 {
            let isWhole = try draw(next, on: canvas, after: start)
            if !isWhole, next == start.first, start.isFresh, next > 0, !hasShortFrames { return false }
        }
        shown = index
        return true
    }

    private func openCanvas(_ size: PixelSize) throws(WebImageError) -> FrameCanvas {
        if let canvas { return canvas }
        let fresh = try FrameCanvas(size)
        canvas = fresh
        return fresh
    }

    /// A frame to start from on the way to another one.
    private struct Start {
        var first: Int
        /// The canvas before the first frame; nil: its present content, or nothing.
        var snapshot: PixelBuffer?
        /// Whether the canvas is cleared before the first frame.
        var isFresh = false
    }

    private func start(for index: Int) -> Start {
        if let shown, shown == index - 1 { return Start(first: index) }
        let patches = reader.patches
        var keyframe = index
        while keyframe > 0, !standsAlone(keyframe, patches) { keyframe -= 1 }
        var best = Start(first: keyframe, isFresh: true)
        if let (frame, pixels) = snapshots.nearest(upTo: index), frame >= keyframe {
            best = Start(first: frame + 1, snapshot: pixels)
        }
        if let shown, shown < index, shown + 1 >= best.first { best = Start(first: shown + 1) }
        return best
    }

    /// Whether earlier frames are visible neither in this frame nor in later ones. A frame that hides them but has the
    /// disposal `restore` does not stand alone, because they are shown again after it.
    private func standsAlone(_ index: Int, _ patches: [FramePatch]) -> Bool {
        guard let size = reader.header?.size, index > 0 else { return true }
        let before = patches[index - 1]
        if before.disposal == .clear, before.covers(size) { return true }
        return !hasShortFrames && patches[index].hides(size) && patches[index].disposal != .restore
    }

    /// - Returns: whether the frame has all its rows.
    private func draw(_ index: Int, on canvas: FrameCanvas, after start: Start) throws(WebImageError) -> Bool {
        let patches = reader.patches
        if index == start.first, start.isFresh {
            canvas.clear()
        } else if index > 0 {
            canvas.dispose(of: patches[index - 1])
        }
        let patch = patches[index]
        if patch.disposal == .restore { try canvas.remember(patch) }
        let sink = PatchSink(canvas, patch)
        if !patch.size.isEmpty { try reader.decode(index, into: sink) }
        let isWhole = patch.size.isEmpty || sink.rows >= patch.size.height
        // A frame that stands alone needs no copy: drawing it takes no longer.
        if patch.disposal != .restore, snapshots.wants(index, canvas.pixels), !standsAlone(index, patches) {
            snapshots.keep(try canvas.copy(), of: index)
        }
        return isWhole
    }
}

/// Copies of the canvas at evenly spaced frames: as many as memory allows, at growing distances.
private struct CanvasSnapshots {
    fileprivate static let limit = 32 << 20
    private static let most = 32
    private static let minStep = 8

    private var kept: [Int: PixelBuffer] = [:]
    private var step = minStep

    func nearest(upTo index: Int) -> (Int, PixelBuffer)? {
        kept.keys.filter { $0 <= index }.max().flatMap { frame in kept[frame].map { (frame, $0) } }
    }

    var byteCount: Int { kept.values.reduce(0) { $0 + $1.byteCount.bytes } }

    func wants(_ index: Int, _ pixels: PixelBuffer) -> Bool {
        index > 0 && index % step == 0 && kept[index] == nil && pixels.byteCount.bytes <= Self.limit
    }

    mutating func keep(_ pixels: PixelBuffer, of index: Int) {
        kept[index] = pixels
        while kept.count > max(1, min(Self.most, Self.limit / max(pixels.byteCount.bytes, 1))) {
            guard kept.count > 1 else { return }
            step *= 2
            kept = kept.filter { $0.key % step == 0 }
        }
    }
}
