#if AVIF
    import CShimAVIF
#endif
#if HEIF
    import CShimHEIF
#endif
#if JXL
    import CShimJXL
#endif
#if PDF
    import CShimPDF
#endif
#if SVG
    import CShimSVG
#endif
import WebImageCore

/// Libraries that are opened at first use, and stay open as long as the process lives: a program without such pictures
/// does not load them. Any thread may use it.
enum OpenedLibrary {
    #if AVIF
        /// Must be accessed before any function of libavif is called.
        static let libavif = OpenedLibrary.named("libavif", fault: wi_avif_library_fault())
    #endif
    #if HEIF
        /// Must be accessed before any function of libheif or libde265 is called.
        static let libheif = OpenedLibrary.named("libheif", fault: wi_heif_library_fault())
    #endif
    #if JXL
        /// Must be accessed before any function of libjxl is called.
        static let libjxl = OpenedLibrary.named("libjxl", fault: wi_jxl_library_fault())
    #endif
    #if SVG
        static let librsvg = OpenedLibrary.named("librsvg", fault: wi_svg_library_fault())
    #endif
    #if PDF
        static let poppler = OpenedLibrary.named("poppler", fault: wi_pdf_library_fault())
    #endif

    case opened
    case missing(String)

    static func openThoseOfPhotos() {
        #if AVIF
            _ = libavif
        #endif
        #if HEIF
            _ = libheif
        #endif
        #if JXL
            _ = libjxl
        #endif
    }

    private static func named(_ name: String, fault: UnsafePointer<CChar>?) -> OpenedLibrary {
        fault.map { .missing("\(name) cannot be opened: \(String(cString: $0))") } ?? .opened
    }

    var isAvailable: Bool {
        if case .opened = self { true } else { false }
    }

    /// - Throws: `code` if the library is missing, or too old.
    func check(
        _ format: ImageFormat, _ code: WebImageError.Code = .decoderUnavailable
    ) throws(WebImageError) {
        if case .missing(let message) = self { throw WebImageError(code, message, format: format) }
    }
}
