import ArgumentParser
import Foundation
import WebImage

/// `webimage convert`: one picture into another file.
struct ConvertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Convert a picture to another size or format.",
        discussion: """
            The name of the output determines its format, unless --format is given. By default the orientation tag is \
            applied, colours are converted to sRGB, and metadata is removed. 16 bits a channel are kept if the output's \
            format supports them; animations are written with 8. With a PNG output, --orientation keep --color keep \
            preserves the stored pixels exactly.

            Steps for --transform:

            \(ImageTransform.usages.map(shown).joined(separator: "\n"))
            """)

    /// How a step is written, in lines that a terminal of 80 columns has room for.
    private static func shown(_ usage: String) -> String {
        var lines = ["  "]
        for (index, part) in usage.split(separator: "[:").enumerated() {
            let text = index == 0 ? String(part) : "[:" + part
            if lines[lines.count - 1].count + text.count > 78 { lines.append("      ") }
            lines[lines.count - 1] += text
        }
        return lines.joined(separator: "\n")
    }

    @Argument(help: "The input: a file, a URL, or - for standard input.", completion: .file())
    var input: String

    @Argument(help: "The output: a file, or - for standard output.", completion: .file())
    var output: String

    @OptionGroup(title: "Picture") var picture: PictureOptions
    @OptionGroup var decoders: IsolationOptions

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

    @OptionGroup var inputs: InputOptions

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
        if OutputFiles.isStandardOutput(output) { output = "-" }
        if output == "-", picture.json { throw ValidationError("output - and --json both need standard output") }
    }

    func run() async throws {
        var report = PictureReport(input: input)
        do throws(WebImageError) {
            try await convert(into: &report)
        } catch {
            report.fail(error)
        }
        if report.status != .ok || output != "-" { report.tell(json: picture.json, plain: report.plain) }
        if report.status != .ok { throw someFailed }
    }

    private func convert(into report: inout PictureReport) async throws(WebImageError) {
        let manager = ImageManager(configuration: .withoutCaches(decoders))
        let known = try outputFormat(manager)
        if let known {
            // Asked before anything is loaded.
            do throws(WebImageError) {
                _ = try manager.coders.encoder(for: known, EncodeOptions(isLossless: lossless))
            } catch { throw error.at(output) }
        }
        var request = try await request(try await picture.transforms.load(), for: known, manager)
        // Of a TIFF's pages all but the first are read once it is known that there are some.
        request.includesData = known.map { manager.coders.writesPages($0) } ?? true
        let response = try await manager.image(for: request)
        report.take(response)
        if response.partialError != nil, !picture.allowPartial { return }
        let format = PictureEncoding.format(
            of: response.image, asked: known, output: output, coders: manager.coders)
        var options = EncodeOptions(
            quality: picture.quality, isLossless: lossless, progressive: progressive,
            background: Self.color(background) ?? .white, keepsMetadata: metadata == "keep")
        options.optimizesCoding = optimize
        if let compression { options.compressionLevel = compression }
        if let effort { options.setEffort(effort) }
        options.paletteColors = colors
        options.chroma = chroma.flatMap { ChromaSubsampling(rawValue: "yuv\($0)") } ?? .automatic
        options.anymap = picture.anymap(of: output)
        let begin = ContinuousClock.now
        request.decoding.allowsPartial = picture.allowPartial
        let bytes = try await manager.encode(response, allPagesOf: request, as: format, options)
        report.encode = ContinuousClock.now - begin
        try OutputFiles.write(bytes, to: output)
        report.output = .init(path: output, format: format, image: response.image, bytes: bytes)
    }

    /// - Parameter format: the output's; nil: the input's.
    private func request(
        _ transforms: [ImageTransform], for format: ImageFormat?, _ manager: ImageManager
    ) async throws(WebImageError) -> ImageRequest {
        var request = try await InputBytes.request(for: input, inputs)
        request.caching.policy = .noStore
        request.size = try? picture.targetSize
        request.transformers = transforms
        request.decoding.firstFrameOnly = picture.firstFrame
        // If nothing may be lost, more frames than one are an error.
        if let format, !lossless, manager.coders.writesOnlyStills(format) {
            request.decoding.firstFrameOnly = true
        }
        request.decoding.scalesInLinearLight = picture.linearLight
        request.decoding.appliesOrientation = orientation == "apply"
        request.decoding.ignoresOrientation = orientation == "ignore"
        request.decoding.convertsToSRGB =
            if let color { color == "srgb" } else { !lossless || format?.has(.noProfile) == true }
        request.decoding.allowsPartial = true
        request.decoding.keepsBitDepth = request.needsBitDepth(for: format, isLossless: lossless)
        return request
    }

    /// What was asked for or the output's name says; nil: as the input.
    private func outputFormat(_ manager: ImageManager) throws(WebImageError) -> ImageFormat? {
        if let asked = picture.outputFormat { return asked }
        if output == "-" { return nil }
        try OutputFiles.checkIsNoFolder(output)
        return try PictureEncoding.named(by: output, manager.coders)
    }

    private static func color(_ text: String) -> RGBColor? {
        switch text.lowercased() {
        case "white": return .white
        case "black": return .black
        default: break
        }
        let digits = text.hasPrefix("#") ? text.dropFirst() : text[...]
        guard digits.utf8.count == 6, let value = UInt32(digits, radix: 16) else { return nil }
        return RGBColor(
            red: UInt8(value >> 16), green: UInt8(value >> 8 & 255), blue: UInt8(value & 255))
    }
}

extension EncodeOptions {
    /// - Parameter effort: 1 to 9, on JPEG XL's scale; the scales of AVIF and WebP are stretched to it.
    fileprivate mutating func setEffort(_ effort: Int) {
        jxlEffort = effort
        avifSpeed = 10 - effort
        webpEffort = effort * 2 / 3
    }
}
