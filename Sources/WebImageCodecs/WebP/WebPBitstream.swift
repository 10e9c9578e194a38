import CSysWebP
import WebImageCore

/// One picture that libwebp decodes, as its chunks come, into memory of the caller's.
final class WebPBitstream {
    /// libwebp begins the part of a lossless picture at hand anew with every piece, and copies all those before it: pieces
    /// are at least so long, and at least one part in so many of the whole.
    private static let losslessPiece = (bytes: 32 << 10, part: 8)

    private(set) var isComplete = false
    /// libwebp keeps its address, so that it may not move.
    private let config: UnsafeMutablePointer<WebPDecoderConfig>
    private let handle: OpaquePointer
    private var waiting: [UInt8] = []
    private var leastPiece = 1

    /// - Parameters:
    ///   - memory: for `size` pixels of RGBA, rows `bytesPerRow` apart; it must outlive this object.
    ///   - scaling: makes a smaller picture; `size` is the one that comes out then.
    init(
        _ memory: UnsafeMutableRawPointer, bytesPerRow: Int, size: PixelSize, scaling: WebPScaling? = nil
    ) throws(WebImageError) {
        config = .allocate(capacity: 1)
        config.initialize(to: WebPDecoderConfig())
        guard WebPInitDecoderConfig(config) != 0, let stride = Int32(exactly: bytesPerRow) else {
            config.deallocate()
            throw WebImageError(.unsupportedFeature, "libwebp cannot decode a picture of \(size)", format: .webp)
        }
        config.pointee.output.colorspace = MODE_RGBA
        config.pointee.output.is_external_memory = 1
        config.pointee.output.u.RGBA = WebPRGBABuffer(
            rgba: memory.assumingMemoryBound(to: UInt8.self), stride: stride,
            size: bytesPerRow * (size.height - 1) + size.width * 4)
        scaling?.set(&config.pointee.options)
        guard let handle = WebPIDecode(nil, 0, config) else {
            config.deallocate()
            throw WebImageError(.limitExceeded, "there is no memory for a WebP decoder", format: .webp)
        }
        self.handle = handle
    }

    deinit {
        WebPIDelete(handle)
        config.deallocate()
    }

    /// How many rows from the top are decoded.
    var rows: Int {
        var last: Int32 = 0
        guard WebPIDecGetRGB(handle, &last, nil, nil, nil) != nil else { return 0 }
        return Int(last)
    }

    /// - Parameter total: how long the bitstream says that it is.
    func collectLongerPieces(of total: Int) {
        leastPiece = max(Self.losslessPiece.bytes, total / Self.losslessPiece.part)
    }

    /// Takes the next bytes; what follows the picture's end is not looked at.
    ///
    /// - Throws: `corruptData`, `unsupportedFeature`, `limitExceeded` without memory.
    func push(_ bytes: UnsafeBufferPointer<UInt8>) throws(WebImageError) {
        guard !isComplete else { return }
        if waiting.isEmpty, bytes.count >= leastPiece { return try append(bytes) }
        waiting.append(contentsOf: bytes)
        if waiting.count >= leastPiece { try flush() }
    }

    /// Decodes what still waits to become a longer piece.
    func flush() throws(WebImageError) {
        let bytes = waiting
        waiting = []
        try bytes.withUnsafeBufferPointer { buffer throws(WebImageError) in try append(buffer) }
    }

    private func append(_ bytes: UnsafeBufferPointer<UInt8>) throws(WebImageError) {
        guard !isComplete, let base = bytes.baseAddress, !bytes.isEmpty else { return }
        switch WebPIAppend(handle, base, bytes.count) {
        case VP8_STATUS_OK: isComplete = true
        case VP8_STATUS_SUSPENDED: return
        case VP8_STATUS_OUT_OF_MEMORY:
            throw WebImageError(.limitExceeded, "there is no memory to decode the WebP", format: .webp)
        case VP8_STATUS_UNSUPPORTED_FEATURE:
            throw WebImageError(.unsupportedFeature, "libwebp does not read such a WebP", format: .webp)
        default: throw WebImageError(.corruptData, "libwebp: the picture's data is damaged", format: .webp)
        }
    }
}
