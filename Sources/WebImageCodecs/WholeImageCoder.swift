public import WebImageCore
import WebImageProcessing

/// A simple coder for formats that are decoded when all of their bytes have arrived: RAW through a library of your own,
/// a game's textures, a format without a signature.
///
/// It only has to name its format and decode it. The library does scaling, orientation, colour and caching.
///
/// For a format without a signature, registering the coder is not enough, since nothing would connect the bytes with
/// it. Give the coder to the request (`ImageRequest.decoding.coder`), name its format there
/// (`ImageRequest.decoding.formatHint`), or implement ``ImageCoder/canDecode(_:prefix:)``. Without one of these a load
/// fails with `unknownFormat`, and the message says so.
public protocol WholeImageCoder: ImageCoder {
    /// Decodes a picture. Called on a decode thread.
    ///
    /// Check sizes against `options.limits` before you allocate memory; the result is checked again. A long decode
    /// should call `options.checkpoint` now and then, so that it can be cancelled.
    ///
    /// - Throws: `corruptData`, `truncatedData`, `limitExceeded`, `unsupportedFeature`.
    func decode(_ bytes: [UInt8], _ options: DecodeOptions) throws(WebImageError) -> Image
}

extension WholeImageCoder {
    public func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        WholeImageDecoder(self, options, plan: plan)
    }
}

/// Collects a picture's bytes for a ``WholeImageCoder``.
private final class WholeImageDecoder: ImageDecoder {
    private let coder: any WholeImageCoder
    private let options: DecodeOptions
    private let plan: DecodePlanner
    private(set) var header: ImageHeader?
    private var bytes: [UInt8] = []

    init(_ coder: any WholeImageCoder, _ options: DecodeOptions, plan: @escaping DecodePlanner) {
        self.coder = coder
        self.options = options
        self.plan = plan
    }

    private var format: ImageFormat {
        coder.decodableFormats.min { $0.rawValue < $1.rawValue } ?? ImageFormat(rawValue: "custom")
    }

    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
        try options.limits.check(byteCount: self.bytes.count + bytes.count, of: format)
        self.bytes.append(contentsOf: bytes)
        return .needsBytes
    }

    func finish() throws(WebImageError) {
        var image = try coder.decode(bytes, options)
        if image.alpha == .premultiplied { image = try image.with(alpha: .straight) }
        bytes = []
        try options.limits.check(image.size, of: format)
        let header = makeHeader(of: image)
        self.header = header
        guard let sink = try plan(header).sink else { return }
        let rows = RowFormat(size: image.size, layout: image.layout, alpha: image.alpha)
        var writer = try BandWriter(beginning: sink, rows, options)
        while !writer.isComplete {
            let source = image.pixels.row(writer.row)
            try writer.nextRow().copyMemory(from: source, byteCount: rows.bytesPerRow)
            try writer.rowIsDone()
        }
    }

    /// The header of the pixels. That of the file from which the picture was made, such as a preview within it, may
    /// say another size, orientation and other colours.
    private func makeHeader(of image: Image) -> ImageHeader {
        var header = image.info.header ?? ImageHeader(format: format, size: image.size)
        (header.size, header.sizeBeforeCrop, header.orientation) = (image.size, nil, image.info.orientation)
        (header.hasAlpha, header.bitDepth) = (image.alpha != .opaque, image.layout.bitDepth)
        (header.iccProfile, header.colorDescription) = (image.info.iccProfile, image.info.colorDescription)
        header.colorCalibration = nil
        return header
    }
}
