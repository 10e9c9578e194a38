import WebImageCore
import WebImageProcessing

/// The canvas of an animation's frames: transparent at first, straight alpha, 8 bits a channel.
final class FrameCanvas {
    let pixels: PixelBuffer
    /// The former pixels under a frame that must be restored.
    private var remembered: [UInt8] = []

    init(_ size: PixelSize) throws(WebImageError) {
        pixels = try PixelBuffer(size: size)
        clear()
    }

    func clear() { pixels.base.initializeMemory(as: UInt8.self, repeating: 0, count: pixels.byteCount.bytes) }

    func show(_ other: PixelBuffer) { pixels.base.copyMemory(from: other.base, byteCount: pixels.byteCount.bytes) }

    func copy() throws(WebImageError) -> PixelBuffer {
        let copy = try PixelBuffer(size: pixels.size)
        copy.base.copyMemory(from: pixels.base, byteCount: pixels.byteCount.bytes)
        return copy
    }

    /// Saves the pixels under a patch.
    func remember(_ patch: FramePatch) throws(WebImageError) {
        remembered.removeAll(keepingCapacity: true)
        forEachRow(of: patch) { remembered.append(contentsOf: $0) }
    }

    /// Applies a patch's disposal before the next patch is drawn.
    func dispose(of patch: FramePatch) {
        switch patch.disposal {
        case .keep: return
        case .clear: forEachRow(of: patch) { $0.initializeMemory(as: UInt8.self, repeating: 0) }
        case .restore:
            var rest = remembered[...]
            forEachRow(of: patch) { row in
                row.copyBytes(from: rest.prefix(row.count))
                rest = rest.dropFirst(row.count)
            }
        }
    }

    /// The memory under row `row` of a patch.
    func place(of patch: FramePatch, row: Int) -> UnsafeMutableRawPointer {
        pixels.row(patch.y + row) + patch.x * PixelLayout.rgba8.bytesPerPixel
    }

    private func forEachRow(of patch: FramePatch, _ body: (UnsafeMutableRawBufferPointer) -> Void) {
        let count = patch.size.width * PixelLayout.rgba8.bytesPerPixel
        for row in 0..<max(patch.size.height, 0) where count > 0 {
            body(UnsafeMutableRawBufferPointer(start: place(of: patch, row: row), count: count))
        }
    }
}

/// Draws a patch's rows on a canvas as they are decoded.
final class PatchSink: RowSink {
    private let canvas: FrameCanvas
    private let patch: FramePatch
    /// How many rows from the top are drawn.
    private(set) var rows = 0
    private var band: AlignedMemory?
    private var capacity = 0
    private var format: RowFormat?

    init(_ canvas: FrameCanvas, _ patch: FramePatch) {
        self.canvas = canvas
        self.patch = patch
    }

    deinit { band?.deallocate() }

    func begin(_ format: RowFormat) throws(WebImageError) {
        guard format.size == patch.size, format.layout == .rgba8 else {
            throw WebImageError(.corruptData, "a frame is \(format.size), not \(patch.size) as the file said")
        }
        self.format = format
    }

    func band(at row: Int, count: Int) throws(WebImageError) -> UnsafeMutableRawPointer {
        let needed = count * patch.size.width * PixelLayout.rgba8.bytesPerPixel
        if let band, capacity >= needed { return band.base }
        band?.deallocate()
        band = nil
        let fresh = try AlignedMemory(byteCount: needed)
        (band, capacity) = (fresh, needed)
        return fresh.base
    }

    func commit(at row: Int, count: Int) {
        let width = patch.size.width
        let replaces = patch.blend == .replace || format?.alpha == .opaque
        guard let base = band?.base else { return }
        rows = max(rows, row + count)
        for index in 0..<count {
            let source = base + index * width * PixelLayout.rgba8.bytesPerPixel
            if replaces {
                canvas.place(of: patch, row: row + index)
                    .copyMemory(from: source, byteCount: width * PixelLayout.rgba8.bytesPerPixel)
            } else {
                canvas.pixels.layOver(row: patch.y + row + index, x: patch.x, source, count: width)
            }
        }
    }
}
