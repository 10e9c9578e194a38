import ArgumentParser
import WebImage

/// How convert writes a picture, and what it keeps of the original.
struct ConvertOptions: ParsableArguments {
    @Option(
        help: """
            The orientation tag: apply it, keep it, or ignore and remove it. That of a HEIC, AVIF or JPEG XL is no tag, and \
            is not ignored. Outputs in HEIC are always upright.
            """,
        completion: .list(["apply", "keep", "ignore"]))
    var orientation = "apply"

    @Option(
        help: ArgumentHelp(
            "The colours: convert them to srgb, or keep them with their profile if the output's format supports it. "
                + "Default: srgb; with --lossless keep, unless the output's format has no profiles.",
            valueName: "color"), completion: .list(["srgb", "keep"]))
    var color: String?

    @Option(
        help: "EXIF, XMP and density: strip them, or keep them if the output's format supports them.",
        completion: .list(["strip", "keep"]))
    var metadata = "strip"

    @Flag(
        help: """
            Lose nothing of the decoded pixels: neither bits nor colours nor frames. An error for formats that cannot do \
            this, and for animations of more than 8 bits a channel, unless from AVIF, HEIC or JPEG XL to AVIF, JPEG XL or TIFF.
            """)
    var lossless = false

    @Option(
        help: ArgumentHelp(
            "JPEG, AVIF, HEIC: the chroma subsampling, 444 (none), 422 or 420. Default: depends on the quality.",
            valueName: "444|422|420"), completion: .list(["444", "422", "420"]))
    var chroma: String?

    @Flag(
        inversion: .prefixedNo,
        help: "JPEG: compute Huffman codes for the picture. Without them encoding is faster and the file is longer.")
    var optimize = true

    @Flag(help: "JPEG: write scans of increasing detail (a shorter file). PNG: write interlaced (a longer file).")
    var progressive = false

    @Option(
        help: ArgumentHelp(
            "PNG, APNG, TIFF: the compression level, from 0 (fast, large) to 9 (slow, small). Default: 6.",
            valueName: "0-9"), completion: .list((0...9).map { "\($0)" }))
    var compression: Int?

    @Option(
        help: ArgumentHelp(
            "AVIF, WebP, JPEG XL: how much time is spent for a smaller file, from 1 (fast, large) to 9 (slow, small). "
                + "Default: 4, large animations as AVIF 2; WebP 6, its animations 3. Lossless WebP ignores it; lossless "
                + "animations as AVIF get 4 at least.",
            valueName: "1-9"), completion: .list((1...9).map { "\($0)" }))
    var effort: Int?

    @Option(
        help: ArgumentHelp(
            "PNG: reduce to at most N colours. With --lossless, only if the picture has no more. Default: all colours.",
            valueName: "N"), completion: .list(["16", "64", "256"]))
    var colors: Int?

    @Option(
        help: ArgumentHelp(
            "The background of transparent pixels for outputs without alpha: RRGGBB, white or black.",
            valueName: "COLOR"),
        completion: .list(["white", "black"]))
    var background = "ffffff"

    mutating func validate() throws {
        guard ["apply", "keep", "ignore"].contains(orientation) else {
            throw ValidationError("--orientation takes apply, keep or ignore")
        }
        guard ["srgb", "keep"].contains(color ?? "srgb") else {
            throw ValidationError("--color takes srgb or keep")
        }
        guard ["strip", "keep"].contains(metadata) else { throw ValidationError("--metadata takes strip or keep") }
        if let chroma, ChromaSubsampling(rawValue: "yuv\(chroma)") == nil {
            throw ValidationError("--chroma takes 444, 422 or 420")
        }
        if let compression, !(0...9).contains(compression) {
            throw ValidationError("--compression takes 0 to 9, not \(compression)")
        }
        if let effort, !(1...9).contains(effort) {
            throw ValidationError("--effort takes 1 to 9, not \(effort)")
        }
        if let colors, !(2...256).contains(colors) {
            throw ValidationError("--colors takes 2 to 256, not \(colors)")
        }
        guard Self.color(background) != nil else {
            throw ValidationError("--background takes RRGGBB, white or black, not '\(background)'")
        }
    }

    /// - Parameter picture: the options that convert shares with fetch.
    func encoding(_ picture: PictureOptions) -> EncodeOptions {
        var encoding = EncodeOptions(
            quality: picture.quality, isLossless: lossless, progressive: progressive,
            background: Self.color(background) ?? .white, keepsMetadata: metadata == "keep")
        encoding.optimizesCoding = optimize
        if let compression { encoding.compressionLevel = compression }
        if let effort { encoding.setEffort(effort) }
        encoding.paletteColors = colors
        encoding.chroma = chroma.flatMap { ChromaSubsampling(rawValue: "yuv\($0)") } ?? .automatic
        return encoding
    }

    /// - Parameter format: the format of the output; nil if it is not known yet.
    func convertsToSRGB(for format: ImageFormat?) -> Bool {
        if let color { return color == "srgb" }
        return !lossless || format?.has(.noProfile) == true
    }

    private static func color(_ text: String) -> RGBColor? {
        switch text.lowercased() {
        case "white": return .white
        case "black": return .black
        default: break
        }
        let digits = text.hasPrefix("#") ? text.dropFirst() : text[...]
        // The conversion to a number would also take a sign.
        guard digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit), let value = UInt32(digits, radix: 16) else {
            return nil
        }
        return RGBColor(
            red: UInt8(value >> 16), green: UInt8(value >> 8 & 255), blue: UInt8(value & 255))
    }
}

extension EncodeOptions {
    /// - Parameter effort: 1 to 9, on JPEG XL's scale. It is mapped to the scales of AVIF and WebP.
    fileprivate mutating func setEffort(_ effort: Int) {
        jxlEffort = effort
        avifSpeed = 10 - effort
        webpEffort = effort * 2 / 3
    }
}
