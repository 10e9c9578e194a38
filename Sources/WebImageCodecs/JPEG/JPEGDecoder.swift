import CShimJPEG
import WebImageCore
import WebImageProcessing
import WebImageSystem

/// Decodes one JPEG as its bytes arrive: the rows of a baseline picture when they are complete; for a picture in
/// several scans the coefficients, which are rendered for previews and at the end.
final class JPEGDecoder: ImageDecoder {
    /// The scales that the inverse DCT supports.
    static let denominators = [1, 2, 4, 8]
    /// How many bytes are decoded between two checkpoints.
    private static let pieceLength = 64 << 10

    enum Stage {
        case header
        case starting
        case rows
        case scans
        /// libjpeg cannot suspend in arithmetic-coded data, which is therefore collected and decoded at the end.
        case collecting
        case stoppedAtHeader
        case complete
    }

    let handle: OpaquePointer
    let options: DecodeOptions
    private(set) var header: ImageHeader?
    var stage = Stage.header
    var sink: (any RowSink)?
    /// The rows that go to the sink; set once the decode has started.
    var format: RowFormat?
    /// How many rows the sink has got.
    var row = 0
    /// How many bytes have arrived, and how many had at the last preview.
    private(set) var received = 0
    var receivedAtPreview = 0
    private var planner: DecodePlanner?
    private var denominator = 1
    private var info = wi_jpeg_info()
    /// For a CMYK picture with a usable profile. The converted RGB is sRGB, which the profile does not describe.
    private(set) var inks: InkConverter?

    private let makeInkConverter: JPEGCoder.MakeInkConverter

    init(
        _ options: DecodeOptions, _ makeInkConverter: @escaping JPEGCoder.MakeInkConverter,
        plan: @escaping DecodePlanner
    ) throws(WebImageError) {
        guard let handle = wi_jpeg_create(max(options.limits.metadata.bytes, 0)) else {
            throw WebImageError(.limitExceeded, "there is no memory for a JPEG decoder", format: .jpeg)
        }
        self.handle = handle
        self.options = options
        self.planner = plan
        self.makeInkConverter = makeInkConverter
    }

    deinit { wi_jpeg_destroy(handle) }

    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
        var rest = bytes.bindMemory(to: UInt8.self)
        while let base = rest.baseAddress, !rest.isEmpty, isOpen {
            try options.checkpoint?()
            let count = min(rest.count, Self.pieceLength)
            try countBytes(count)
            try check(wi_jpeg_feed(handle, base, count))
            try advance()
            if isOpen { try check(wi_jpeg_keep(handle)) }
            rest = UnsafeBufferPointer(rebasing: rest.dropFirst(count))
        }
        switch stage {
        case .complete: return .complete
        case .stoppedAtHeader: return .stoppedAtHeader
        default: return .needsBytes
        }
    }

    func finish() throws(WebImageError) {
        guard isOpen else { return }
        guard stage != .header else {
            throw WebImageError(.truncatedData, "the data ends before the picture begins", format: .jpeg)
        }
        wi_jpeg_end(handle)
        if stage == .starting { try start() }
        if stage == .collecting { stage = info.multiple_scans != 0 ? .scans : .rows }
        if stage == .rows { try readLastRows() } else { try readLastScans() }
        stage = .complete
    }

    private var isOpen: Bool { stage != .complete && stage != .stoppedAtHeader }

    private func countBytes(_ count: Int) throws(WebImageError) {
        received += count
        try options.limits.check(byteCount: received, of: .jpeg)
    }

    private func advance() throws(WebImageError) {
        if stage == .header { try readHeader() }
        if stage == .starting { try start() }
        if stage == .rows { try readRows() }
        if stage == .scans { _ = try readScans() }
    }

    private func readHeader() throws(WebImageError) {
        guard try check(wi_jpeg_read_header(handle, &info)) != WI_JPEG_NEEDS_BYTES else { return }
        var header = ImageHeader(
            format: .jpeg, size: PixelSize(width: Int(info.width), height: Int(info.height)),
            isProgressive: info.progressive != 0)
        header.keepsWholePicture = info.multiple_scans != 0
        header.isDividedByFrequencies = info.is_reducible != 0
        header.colorModel = info.has_inks != 0 ? .cmyk : info.is_gray != 0 ? .gray : .rgb
        header.metadata = metadata()
        header.orientation = header.metadata.orientation
        header.iccProfile = iccProfile()
        self.header = header
        try options.limits.check(header.size, of: .jpeg)
        guard let plan = try planner?(header), let sink = plan.sink else {
            planner = nil
            stage = .stoppedAtHeader
            return
        }
        planner = nil
        self.sink = sink
        if info.has_inks != 0, let profile = header.iccProfile, let converter = try makeInkConverter(profile) {
            wi_jpeg_keep_inks(handle)
            inks = converter
        }
        denominator = Self.denominators.last { $0 <= plan.scaleDenominator } ?? 1
        stage = .starting
    }

    private func metadata() -> ImageMetadata {
        var count = 0
        let exif = wi_jpeg_exif(handle, &count).map { [UInt8](UnsafeBufferPointer(start: $0, count: count)) }
        let factor = [1: 1, 2: 2.54][info.density_unit]
        let density = factor.flatMap {
            PixelDensity(horizontal: Double(info.density_x) * $0, vertical: Double(info.density_y) * $0)
        }
        let photoshop = wi_jpeg_photoshop(handle, &count)
        let iptc = photoshop.flatMap { PhotoshopResources.iptc(in: UnsafeRawBufferPointer(start: $0, count: count)) }
        return ImageMetadata(readingEXIF: exif, xmp: xmp(), iptc: iptc, density: density)
    }

    private func xmp() -> [UInt8]? {
        var count = 0
        guard let base = wi_jpeg_xmp(handle, &count) else { return nil }
        let packet = [UInt8](UnsafeBufferPointer(start: base, count: count))
        var name: UnsafePointer<CChar>?
        guard let longer = wi_jpeg_extended_xmp(handle, &count, &name), let name,
            count <= options.limits.metadata.bytes - packet.count
        else { return packet }
        return ExtendedXMP.joined(
            packet, [UInt8](UnsafeBufferPointer(start: longer, count: count)),
            name: UnsafeBufferPointer(start: name, count: Int(WI_JPEG_XMP_NAME)).map { UInt8(bitPattern: $0) })
            ?? packet
    }

    private func iccProfile() -> [UInt8]? {
        let count = wi_jpeg_icc_size(handle)
        guard count > 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            guard let base = buffer.baseAddress else { return }
            wi_jpeg_copy_icc(handle, base)
            initialized = count
        }
    }

    private func start() throws(WebImageError) {
        var (width, height): (UInt32, UInt32) = (0, 0)
        let result = try check(wi_jpeg_start(handle, Int32(denominator), &width, &height))
        guard result != WI_JPEG_NEEDS_BYTES else { return }
        let format = RowFormat(
            size: PixelSize(width: Int(width), height: Int(height)), layout: .rgba8, alpha: .opaque)
        try sink?.begin(format)
        self.format = format
        if info.arithmetic != 0 {
            stage = .collecting
        } else {
            stage = info.multiple_scans != 0 ? .scans : .rows
        }
    }

    /// Throws the error for a failure of the shim.
    @discardableResult
    func check(_ result: Int32) throws(WebImageError) -> Int {
        switch Int(result) {
        case WI_JPEG_NO_MEMORY:
            throw WebImageError(.limitExceeded, "there is no memory to decode the JPEG", format: .jpeg)
        case WI_JPEG_UNSUPPORTED: throw failure(.unsupportedFeature)
        case WI_JPEG_CORRUPT: throw failure(.corruptData)
        default: return Int(result)
        }
    }

    private func failure(_ code: WebImageError.Code) -> WebImageError {
        WebImageError(code, "libjpeg: \(String(cString: wi_jpeg_message(handle)))", format: .jpeg)
    }
}
