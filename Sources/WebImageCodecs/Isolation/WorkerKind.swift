import CShimSandbox
import WebImageCore

/// Workers differ by the access that they need: those that draw text read fonts. They also differ by the libraries that
/// they load at their start: those of AVIF, HEIF and JPEG XL take as long as the rest of a worker, so a JPEG does not
/// wait for them. Their encoders have workers of their own, because an encode may take seconds.
enum WorkerKind: Hashable, CaseIterable {
    case pictures, photos, drawings, encoders

    /// The kind that decodes a coder's pictures.
    init(of coder: any ImageCoder) {
        let formats = coder.decodableFormats
        if formats.contains(where: \.isVector) {
            self = .drawings
        } else {
            self = formats.isDisjoint(with: Self.ofPhotos) ? .pictures : .photos
        }
    }

    private static let ofPhotos: Set<ImageFormat> = [.avif, .heic, .heif, .heicSequence, .jxl]

    /// The kind's part of the `WI_WORKER_` options.
    var options: Int {
        switch self {
        case .pictures: 0
        case .photos: WI_WORKER_HAS_PHOTO_CODECS
        case .drawings: WI_WORKER_READS_FONTS
        case .encoders: WI_WORKER_ENCODES
        }
    }

    init(options: Int) { self = Self.allCases.first { $0 != .pictures && options & $0.options != 0 } ?? .pictures }

    /// The kind of worker that has the coders of a kind.
    var ofCoders: WorkerKind { self == .encoders ? .photos : self }

    /// The worker's name in error messages.
    var worker: String { self == .encoders ? "encoder" : "decoder" }

    /// Makes libraries load what they load at their first use: files, fonts, tables. Later they cannot.
    func warmUp(_ coders: [any ImageCoder]) {
        if ofCoders == .photos { OpenedLibrary.openThoseOfPhotos() }
        guard self != .encoders else { return Self.warmUpEncoders(of: coders) }
        for coder in coders {
            for sample in Self.samples where coder.decodableFormats.contains(sample.format) {
                guard
                    let decoder = try? coder.makeDecoder(
                        DecodeOptions(), plan: { (_) throws(WebImageError) in DecodePlan(sink: PixelBufferSink()) })
                else { continue }
                let bytes = Array(sample.text.utf8)
                _ = try? bytes.withUnsafeBytes { try decoder.push($0) }
                try? decoder.finish()
            }
        }
    }

    private static func warmUpEncoders(of coders: [any ImageCoder]) {
        let size = PixelSize(width: 16, height: 16)
        guard let pixels = try? PixelBuffer(size: size) else { return }
        pixels.mutableBytes.initializeMemory(as: UInt8.self, repeating: 255)
        let picture = Image(pixels: pixels, info: Image.Info(alpha: .opaque))
        for coder in coders {
            for format in coder.encodableFormats { _ = try? coder.encode(picture, as: format, EncodeOptions()) }
        }
    }

    /// The smallest pictures with a letter in them, and beginnings of files that initialise libraries.
    private static let samples: [(format: ImageFormat, text: String)] = [
        (
            .svg,
            #"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="9">a</text></svg>"#
        ),
        (
            .pdf,
            """
            %PDF-1.4
            1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
            2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
            3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
            4 0 obj<</Length 27>>stream
            BT /F 9 Tf 0 0 Td (a) Tj ET
            endstream endobj
            5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
            trailer<</Root 1 0 R>>
            """
        ),
        (.heic, "\0\0\0\u{18}ftypheic\0\0\0\0heicmif1\0\0\0\u{8}meta"),
        (.avif, "\0\0\0\u{18}ftypavif\0\0\0\0avifmif1\0\0\0\u{8}meta"),
    ]
}
