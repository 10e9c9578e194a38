#if PDF
    package import WebImageCore

    /// The first page of a PDF through poppler, drawn at the size that is asked for.
    ///
    /// The natural size is the page's at 72 dpi, turned as the page says. Paper is white, as ISO 32000-1, 11.4.7, has it,
    /// so that text can be read on any ground; SDWebImage leaves it transparent. `frameCount` is the number of pages.
    /// Encrypted files are refused with `unsupportedFeature`. All bytes must be there before anything is known. A
    /// drawing that takes longer than ``/WebImageCore/DecodeLimits/drawingTime`` is left: its caller gets `limitExceeded` then, while the
    /// drawing itself goes on until it ends.
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
