import CSysWebP
import WebImageCore

/// One picture that libwebp decodes into the caller's memory, as its chunks arrive.
final class WebPBitstream {
    /// libwebp restarts the current part of a lossless picture with every piece, so pieces have a minimum length, also
    /// relative to the whole. If all bytes are available, pieces only allow cancellation.
    private static let losslessPiece = (bytes: 32 << 10, part: 8, inPlace: 1 << 20)

    /// The size in which it is decoded.
    enum Scale {
        case full
        /// In full size, to be scaled down: details that will be lost are skipped, such as the deblocking filter and
        /// the fine chroma.
        case coarse
        case smaller(WebPScaling)
    }

    private(set) var isComplete = false
    /// libwebp keeps the address of the configuration, so it must not move.
    private let config: UnsafeMutablePointer<WebPDecoderConfig>
    private let handle: OpaquePointer
    /// The memory of all bytes of the picture, arrived or not, so that libwebp need not copy them. Nil: it copies.
    private var whole: UnsafePointer<UInt8>?
    /// The same memory if this object has allocated it.
    private var gathered: UnsafeMutableBufferPointer<UInt8>?
    /// How many of its bytes have arrived, and how many libwebp has seen.
    private var (received, decoded) = (0, 0)
    private var minPieceLength = 1

    /// - Parameters:
    ///   - memory: for the pixels that come out, RGBA, rows `bytesPerRow` apart; it must outlive this object.
    ///   - size: of the picture.
    ///   - hasHelper: whether another thread may filter rows while this one reads the next.
    init(
        _ memory: UnsafeMutableRawPointer, bytesPerRow: Int, size: PixelSize, scale: Scale = .full,
        hasHelper: Bool = false
    ) throws(WebImageError) {
        config = .allocate(capacity: 1)
        config.initialize(to: WebPDecoderConfig())
        guard WebPInitDecoderConfig(config) != 0, let stride = Int32(exactly: bytesPerRow) else {
            config.deallocate()
            throw WebImageError(.unsupportedFeature, "libwebp cannot decode a picture of \(size)", format: .webp)
        }
        var size = size
        switch scale {
        case .full: break
        case .coarse:
            config.pointee.options.bypass_filtering = 1
            config.pointee.options.no_fancy_upsampling = 1
        case .smaller(let scaling):
            scaling.set(&config.pointee.options)
            size = scaling.made
        }
        config.pointee.output.colorspace = MODE_RGBA
        config.pointee.output.is_external_memory = 1
        config.pointee.output.u.RGBA = WebPRGBABuffer(
            rgba: memory.assumingMemoryBound(to: UInt8.self), stride: stride,
            size: bytesPerRow * (size.height - 1) + size.width * 4)
        config.pointee.options.use_threads = hasHelper ? 1 : 0
        guard let handle = WebPIDecode(nil, 0, config) else {
            config.deallocate()
            throw WebImageError(.limitExceeded, "there is no memory for a WebP decoder", format: .webp)
        }
        self.handle = handle
    }

    deinit {
        WebPIDelete(handle)
        config.deallocate()
        WebPFree(gathered?.baseAddress)
    }

    /// How many rows from the top are decoded.
    var rows: Int {
        var last: Int32 = 0
        guard WebPIDecGetRGB(handle, &last, nil, nil, nil) != nil else { return 0 }
        return Int(last)
    }

    /// Announces, before the first push, that all pushed bytes will be in this memory, which must stay valid until the
    /// last push.
    func read(inPlace bytes: UnsafeBufferPointer<UInt8>, isLossless: Bool) {
        guard received == 0 else { return }
        whole = bytes.baseAddress
        if isLossless { minPieceLength = Self.losslessPiece.inPlace }
    }

    /// Announces a lossless picture of that many bytes.
    /// - Throws: `limitExceeded` without memory for them. Bytes that never arrive take none.
    func gatherLossless(byteCount: Int) throws(WebImageError) {
        guard received == 0, byteCount > 0 else { return }
        // libwebp's allocator reports failure.
        guard let memory = WebPMalloc(byteCount) else { throw Self.lacksMemory }
        let bytes = memory.bindMemory(to: UInt8.self, capacity: byteCount)
        gathered = UnsafeMutableBufferPointer(start: bytes, count: byteCount)
        whole = UnsafePointer(bytes)
        minPieceLength = max(Self.losslessPiece.bytes, byteCount / Self.losslessPiece.part)
    }

    /// Takes the next bytes; bytes after the picture's end are ignored.
    ///
    /// - Throws: `corruptData`, `unsupportedFeature`, `limitExceeded` without memory.
    func push(_ bytes: UnsafeBufferPointer<UInt8>) throws(WebImageError) {
        guard !isComplete, let base = bytes.baseAddress, !bytes.isEmpty else { return }
        let begin = received
        received += bytes.count
        guard whole != nil else { return try check(WebPIAppend(handle, base, bytes.count)) }
        if let gathered {
            guard received <= gathered.count else {
                throw WebImageError(.corruptData, "the picture's data is longer than it says", format: .webp)
            }
            gathered.baseAddress?.advanced(by: begin).update(from: base, count: bytes.count)
        }
        if received - decoded >= minPieceLength { try flush() }
    }

    /// Decodes bytes that wait to form a longer piece.
    func flush() throws(WebImageError) {
        guard !isComplete, let whole, received > decoded else { return }
        decoded = received
        try check(WebPIUpdate(handle, whole, received))
    }

    private func check(_ status: VP8StatusCode) throws(WebImageError) {
        switch status {
        case VP8_STATUS_OK: isComplete = true
        case VP8_STATUS_SUSPENDED: return
        case VP8_STATUS_OUT_OF_MEMORY:
            throw Self.lacksMemory
        case VP8_STATUS_UNSUPPORTED_FEATURE:
            throw WebImageError(.unsupportedFeature, "libwebp does not read such a WebP", format: .webp)
        default: throw WebImageError(.corruptData, "libwebp: the picture's data is damaged", format: .webp)
        }
    }

    private static var lacksMemory: WebImageError {
        WebImageError(.limitExceeded, "there is no memory to decode the WebP", format: .webp)
    }
}
