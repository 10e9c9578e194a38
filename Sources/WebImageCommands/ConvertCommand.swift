import ArgumentParser
import Foundation
import WebImage

/// `webimage convert`: one picture into another file.
struct ConvertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Convert a picture to another size or format.",
        discussion: """
            The output's format follows from its name unless --format says it. By default the orientation tag is \
            applied, colours are converted to sRGB, and metadata goes; 16 bits a channel stay where the output holds them. \
            To PNG with --orientation keep --color keep the stored pixels come out exactly.

            Steps of --transform:

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

    @Argument(help: "The input: a file, a URL or -.", completion: .file())
    var input: String

    @Argument(help: "The output: a file or -.", completion: .file())
    var output: String

    @OptionGroup(title: "Picture") var picture: PictureOptions
    @OptionGroup var decoders: IsolationOptions

    @Option(
        help: "What to do with the orientation tag: apply, keep, or ignore and drop. A HEIC is always upright.",
        completion: .list(["apply", "keep", "ignore"]))
    var orientation = "apply"

    @Option(
        help: "What to do with the colour profile: srgb (convert) or keep, where the output can hold it.",
        completion: .list(["srgb", "keep"]))
    var color = "srgb"

    @Option(
        help: "What to do with EXIF, XMP and density: strip or keep, where the output can hold them.",
        completion: .list(["strip", "keep"]))
    var metadata = "strip"

    @Flag(help: "Lose nothing; an error for formats that cannot.")
    var lossless = false

    @Option(
        help: ArgumentHelp(
            "At which resolution JPEG, AVIF and HEIC keep colour: 444 (full), 422 or 420; by default as suits the quality.",
            valueName: "444|422|420"), completion: .list(["444", "422", "420"]))
    var chroma: String?

    @Flag(
        inversion: .prefixedNo,
        help: "JPEG: Huffman codes made for the picture; without them it takes half the time and is a little longer.")
    var optimize = true

    @Flag(help: "JPEG: several scans, ever finer, and a little shorter. PNG: interlaced, and longer.")
    var progressive = false

    @Option(
        help: ArgumentHelp(
            "PNG, APNG and TIFF: from 0 (fast, long) to 9 (slow, short); 1 takes a third of the time of 6, the default.",
            valueName: "0-9"), completion: .list((0...9).map { "\($0)" }))
    var compression: Int?

    @Option(
        help: ArgumentHelp(
            "PNG: at most so many colours, with their alpha: a file a fourth as long. With --lossless only where there are no more.",
            valueName: "2-256"), completion: .list(["16", "64", "256"]))
    var colors: Int?

    @Option(
        help: ArgumentHelp("What shows through where the output has no alpha: RRGGBB.", valueName: "COLOR"),
        completion: .list(["white", "black"]))
    var background = "ffffff"

    @OptionGroup var inputs: InputOptions

    @Option(help: ArgumentHelp("Refuse a picture of more pixels.", valueName: "N"))
    var maxPixels: Int?

    mutating func validate() throws {
        if let maxPixels, maxPixels < 1 { throw ValidationError("--max-pixels takes 1 or more") }
        guard ["apply", "keep", "ignore"].contains(orientation) else {
            throw ValidationError("--orientation takes apply, keep or ignore")
        }
        guard ["srgb", "keep"].contains(color) else { throw ValidationError("--color takes srgb or keep") }
        guard ["strip", "keep"].contains(metadata) else { throw ValidationError("--metadata takes strip or keep") }
        if let chroma, ChromaSubsampling(rawValue: "yuv\(chroma)") == nil {
            throw ValidationError("--chroma takes 444, 422 or 420")
        }
        if let compression, !(0...9).contains(compression) {
            throw ValidationError("--compression takes 0 to 9, not \(compression)")
        }
        if let colors, !(2...256).contains(colors) {
            throw ValidationError("--colors takes 2 to 256, not \(colors)")
        }
        guard Self.color(background) != nil else {
            throw ValidationError("--background takes RRGGBB, white or black, not '\(background)'")
        }
        if OutputFiles.isStandardOutput(output) { output = "-" }
        if output == "-", picture.json { throw ValidationError("output - and --json both want standard output") }
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
        var request = try await request(try await picture.transforms.load())
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
        options.paletteColors = colors
        options.chroma = chroma.flatMap { ChromaSubsampling(rawValue: "yuv\($0)") } ?? .automatic
        options.anymap = picture.anymap(of: output)
        let begin = ContinuousClock.now
        request.decoding.allowsPartial = picture.allowPartial
        let bytes = try await manager.encode(response, allPagesOf: request, as: format, options)
        report.encode = ContinuousClock.now - begin
        try OutputFiles.write(bytes, to: output)
        report.output = .init(path: output, format: format, size: response.image.size, byteCount: bytes.count)
    }

    private func request(_ transforms: [ImageTransform]) async throws(WebImageError) -> ImageRequest {
        var request = try await InputBytes.request(for: input, inputs)
        request.caching.policy = .noStore
        request.size = try? picture.targetSize
        request.transformers = transforms
        request.decoding.firstFrameOnly = picture.firstFrame
        request.decoding.scalesInLinearLight = picture.linearLight
        request.decoding.appliesOrientation = orientation == "apply"
        request.decoding.ignoresOrientation = orientation == "ignore"
        request.decoding.convertsToSRGB = color == "srgb"
        request.decoding.keepsBitDepth = true
        request.decoding.allowsPartial = true
        if let maxPixels { request.decoding.limits.pixels = maxPixels }
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
