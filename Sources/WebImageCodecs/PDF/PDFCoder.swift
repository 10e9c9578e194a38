#if PDF
    package import WebImageCore

    /// The first page of a PDF through poppler, drawn at the requested size.
    ///
    /// The natural size is the page's at 72 dpi, rotated as the page says. Paper is white, as in ISO 32000-1, 11.4.7,
    /// so that text is readable on any background; SDWebImage leaves it transparent. `frameCount` is the number of
    /// pages. Encrypted files are refused with `unsupportedFeature`. All bytes must have arrived before anything is
    /// known. A drawing that takes longer than ``/WebImageCore/DecodeLimits/drawingTime`` is abandoned: its caller gets
    /// `limitExceeded`, while the drawing itself continues until it ends.
    package struct PDFCoder: ImageCoder {
        package init() {}

        package var decodableFormats: Set<ImageFormat> { [.pdf] }

        package var decodesInOneCall: Bool { true }

        package func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder {
            VectorDecoder(.pdf, options, plan: plan) { (bytes, options) throws(WebImageError) in
                try PDFDocument(bytes, options)
            }
        }
    }
#endif
