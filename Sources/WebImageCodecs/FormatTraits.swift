import WebImageCore

/// The package traits for optional formats.
enum FormatTraits {
    private static let traits: [ImageFormat: String] = [
        .avif: "AVIF", .avifSequence: "AVIF", .heic: "HEIF", .heif: "HEIF", .heicSequence: "HEIF", .jxl: "JXL",
        .svg: "SVG", .svgz: "SVG", .tiff: "TIFF", .bigTIFF: "TIFF", .pdf: "PDF",
    ]

    /// The traits that this build was made with.
    private static var enabled: Set<String> {
        var names: Set<String> = []
        #if AVIF
            names.insert("AVIF")
        #endif
        #if HEIF
            names.insert("HEIF")
        #endif
        #if JXL
            names.insert("JXL")
        #endif
        #if SVG
            names.insert("SVG")
        #endif
        #if TIFF
            names.insert("TIFF")
        #endif
        #if PDF
            names.insert("PDF")
        #endif
        return names
    }

    /// The formats with traits that are also written.
    private static let written: Set<ImageFormat> = [.avif, .heic, .jxl, .tiff]

    /// Advice for a format without a coder, to be appended to the statement that there is none.
    ///
    /// - Parameter isWriting: whether an encoder is missing, and not a decoder.
    static func advice(for format: ImageFormat, isWriting: Bool = false) -> String {
        guard let trait = traits[format], !isWriting || written.contains(format) else { return " in this version" }
        guard !enabled.contains(trait) else { return " in this version, also with the package trait \(trait)" }
        return "; turn on the package trait \(trait) (or AllFormats)"
    }
}
