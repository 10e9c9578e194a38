/// The options by their long names, with their short names.
enum OptionName: String, CaseIterable {
    case resize, size, width, height, zoom, dpr, enlarge, extend, gravity, crop, trim, padding, rotate, flip
    case background, blur, sharpen, pixelate, watermark, quality, format, preset, raw, cachebuster, filename, expires
    case resizingType = "resizing_type"
    case minWidth = "min-width"
    case minHeight = "min-height"
    case extendAspectRatio = "extend_aspect_ratio"
    case autoRotate = "auto_rotate"
    case stripMetadata = "strip_metadata"
    case keepCopyright = "keep_copyright"
    case stripColorProfile = "strip_color_profile"
    case preserveHDR = "preserve_hdr"
    case enforceThumbnail = "enforce_thumbnail"
    case formatQuality = "format_quality"
    case maxBytes = "max_bytes"
    case skipProcessing = "skip_processing"
    case returnAttachment = "return_attachment"
    case maxSourceResolution = "max_src_resolution"
    case maxSourceFileSize = "max_src_file_size"
    case maxAnimationFrames = "max_animation_frames"
    case maxAnimationFrameResolution = "max_animation_frame_resolution"
    case maxResultDimension = "max_result_dimension"

    private var short: [String] {
        switch self {
        case .resize: ["rs"]
        case .size: ["s"]
        case .resizingType: ["rt"]
        case .width: ["w"]
        case .height: ["h"]
        case .minWidth: ["mw"]
        case .minHeight: ["mh"]
        case .zoom: ["z"]
        case .dpr, .raw: []
        case .enlarge: ["el"]
        case .extend: ["ex"]
        case .extendAspectRatio: ["extend_ar", "exar"]
        case .gravity: ["g"]
        case .crop: ["c"]
        case .trim: ["t"]
        case .padding: ["pd"]
        case .autoRotate: ["ar"]
        case .rotate: ["rot"]
        case .flip: ["fl"]
        case .background: ["bg"]
        case .blur: ["bl"]
        case .sharpen: ["sh"]
        case .pixelate: ["pix"]
        case .watermark: ["wm"]
        case .stripMetadata: ["sm"]
        case .keepCopyright: ["kcr"]
        case .stripColorProfile: ["scp"]
        case .preserveHDR: ["ph"]
        case .enforceThumbnail: ["eth"]
        case .quality: ["q"]
        case .formatQuality: ["fq"]
        case .maxBytes: ["mb"]
        case .format: ["f", "ext"]
        case .preset: ["pr"]
        case .skipProcessing: ["skp"]
        case .cachebuster: ["cb"]
        case .filename: ["fn"]
        case .returnAttachment: ["att"]
        case .expires: ["exp"]
        case .maxSourceResolution: ["msr"]
        case .maxSourceFileSize: ["msfs"]
        case .maxAnimationFrames: ["maf"]
        case .maxAnimationFrameResolution: ["mafr"]
        case .maxResultDimension: ["mrd"]
        }
    }

    /// The option of each name.
    static let byName: [String: OptionName] = {
        var table: [String: OptionName] = [:]
        for option in allCases {
            for name in option.short + [option.rawValue] { table[name] = option }
        }
        return table
    }()
}

extension URLGrammar {
    /// Whether there is an option of this long or short name.
    public static func hasOption(_ name: String) -> Bool { OptionName.byName[name] != nil }
}
