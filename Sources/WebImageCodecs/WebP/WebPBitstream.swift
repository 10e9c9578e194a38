import CSysWebP
import WebImageCore

/// One picture that libwebp decodes, as its chunks come, into memory of the caller's.
final class WebPBitstream {
    /// libwebp begins the part of a lossless picture at hand anew with every piece: pieces are at least so long, and at
    /// least one part in so many of the whole. Where all is there already, they only let a decode be cancelled.
    private static let losslessPiece = (bytes: 32 << 10, part: 8, inPlace: 1 << 20)

    /// In which size it is decoded.
    enum Scale {
        case full
        /// In full, for one who makes it smaller: what that does not show is left out, the deblocking filter and the fine
        /// chroma.
        case coarse
        case smaller(WebPScaling)
    }

    private(set) var isComplete = false
    /// libwebp keeps its address, so that it may not move.
    private let config: UnsafeMutablePointer<WebPDecoderConfig>
    private let handle: OpaquePointer
    /// Where all bytes of the picture lie or will lie, so that libwebp need not copy them. Nil: it does.
    private var whole: UnsafePointer<UInt8>?
    /// The same when it is ours.
    private var gathered: UnsafeMutableBufferPointer<UInt8>?
    /// How many of its bytes came, and how many libwebp knows of.
    private var (received, decoded) = (0, 0)
    private var leastPiece = 1

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

    /// Says, before the first of them comes, that all bytes that will be pushed lie there, and stay until the last one was
    /// pushed.
    func read(inPlace bytes: UnsafeBufferPointer<UInt8>, isLossless: Bool) {
        guard received == 0 else { return }
        whole = bytes.baseAddress
        if isLossless { leastPiece = Self.losslessPiece.inPlace }
    }

    /// Says that a lossless picture of that many bytes comes.
    /// - Throws: `limitExceeded` without memory for them. What never comes takes none.
    func gatherLossless(byteCount: Int) throws(WebImageError) {
        guard received == 0, byteCount > 0 else { return }
        // Of libwebp's, which says when there is none.
        guard let memory = WebPMalloc(byteCount) else { throw Self.lacksMemory }
        let bytes = memory.bindMemory(to: UInt8.self, capacity: byteCount)
        gathered = UnsafeMutableBufferPointer(start: bytes, count: byteCount)
        whole = UnsafePointer(bytes)
        leastPiece = max(Self.losslessPiece.bytes, byteCount / Self.losslessPiece.part)
    }

    /// Takes the next bytes; what follows the picture's end is not looked at.
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
        if received - decoded >= leastPiece { try flush() }
    }

    /// Decodes what still waits to become a longer piece.
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
