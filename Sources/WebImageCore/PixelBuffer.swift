/// A block of pixel memory, rows from the top, aligned to 64 bytes.
///
/// A buffer is written by one decoder or kernel, and is not changed once it is part of an ``Image``: from then on any
/// thread may read it.
public final class PixelBuffer: @unchecked Sendable {
    // Sendable because `withMutableBytes` is `package` and is only called before the buffer becomes part of an image.
    public let size: PixelSize
    public let layout: PixelLayout
    public let bytesPerRow: Int
    private let memory: AlignedMemory
    package var base: UnsafeMutableRawPointer { memory.base }

    /// The memory of all pixels.
    public var byteCount: ByteCount { ByteCount(bytesPerRow * size.height) }

    /// Allocates memory for `size` pixels, which is not cleared.
    ///
    /// - Throws: `limitExceeded` when the size is empty, its bytes do not fit an `Int`, or there is no memory for them.
    package init(size: PixelSize, layout: PixelLayout = .rgba8) throws(WebImageError) {
        guard !size.isEmpty, let count = size.pixelCount,
            !count.multipliedReportingOverflow(by: layout.bytesPerPixel).overflow
        else { throw WebImageError(.limitExceeded, "no memory can hold a picture of \(size)") }
        self.size = size
        self.layout = layout
        self.bytesPerRow = size.width * layout.bytesPerPixel
        memory = try AlignedMemory(byteCount: bytesPerRow * size.height)
    }

    deinit { memory.deallocate() }

    /// Reads all pixels: `size.height` rows of `bytesPerRow` bytes.
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: byteCount.bytes))
    }

    package var mutableBytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: base, count: byteCount.bytes)
    }

    package func row(_ index: Int) -> UnsafeMutableRawPointer { base + index * bytesPerRow }
}
