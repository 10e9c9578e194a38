import ArgumentParser
import WebImage

/// The options for changing a picture, which fetch and convert share.
struct PictureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The size to fit into, in pixels: 400x300, 400x or x300.", valueName: "WxH|Wx|xH"))
    var size: String?

    @Option(
        help: "How it fits the size: contain (whole picture), cover (cropped) or fill (stretched). Default: contain.",
        completion: .list(ImageFit.allCases.map(\.rawValue)))
    var fit: String?

    @Flag(help: "Allow enlarging the picture. Vector pictures can always be enlarged.")
    var upscale = false

    @Flag(help: "Scale in linear light: keeps the brightness of fine detail, but is slower.")
    var linearLight = false

    /// The writable formats according to the table of formats. Asking the coders would open their libraries, at the
    /// cost of every start.
    static let writableFormats = ImageFormat.written.filter(CoderRegistry.standard.decodableFormats.contains)
        .map(\.rawValue)

    @Option(
        help: ArgumentHelp(
            "The output's format: jpeg, png, apng, gif, webp, bmp, ico, qoi, pnm; if built in: avif, heic, heic-sequence, jxl, tiff.",
            valueName: "FORMAT"),
        completion: .list(Self.writableFormats))
    var format: String?

    @Option(
        help: ArgumentHelp(
            "The quality of lossy formats, 1 to 100. Default: 80; AVIF and HEIC 60.", valueName: "1-100"))
    var quality: Int?

    @Option(
        help: ArgumentHelp(
            "Steps to apply after --size, separated by |: 'crop:square|blur:4|round:24'. Can be repeated.",
            valueName: "STEPS"))
    var transform: [String] = []

    @Flag(help: "Use only the first frame of an animation, or the first page of a TIFF.")
    var firstFrame = false

    @Flag(help: "Also write pictures that are truncated, as far as they can be decoded.")
    var allowPartial = false

    @Flag(help: "Print only JSON, one object per line.")
    var json = false

    mutating func validate() throws {
        try transforms.validate()
        if let quality, !(1...100).contains(quality) { throw ValidationError("--quality takes 1 to 100") }
        if let fit, ImageFit(rawValue: fit) == nil { throw ValidationError("--fit takes contain, cover or fill") }
        if let format {
            guard let known = outputFormat else {
                throw ValidationError("--format \(format): there is no such format")
            }
            guard ImageFormat.written.contains(known) else {
                throw ValidationError(
                    "--format \(format): pictures of this format are read, but not written; "
                        + "written are \(Self.writableFormats.joined(separator: ", "))")
            }
            guard (try? CoderRegistry.standard.encoder(for: known)) != nil else {
                throw unavailable("--format \(format)")
            }
        }
        _ = try targetSize
    }

    /// Whether the options require a change, so that the original's bytes cannot be written unchanged.
    var changesPicture: Bool {
        size != nil || format != nil || quality != nil || !transform.isEmpty
    }

    var transforms: TransformOption { TransformOption(specs: transform) }

    var outputFormat: ImageFormat? { format.flatMap { ImageFormat(name: $0) }.map(PictureEncoding.encoded) }

    /// The Netpbm format of a PNM output: the one that --format names, else the one of the output's name.
    func anymap(of output: String) -> PortableAnymap {
        let names = [format, PictureEncoding.suffix(of: output)]
        let named = names.compactMap { $0.flatMap { PortableAnymap(fileExtension: $0) } }
        return named.first { $0 != .automatic } ?? .automatic
    }

    var targetSize: TargetSize? {
        get throws {
            guard let (width, height) = try Self.sides(of: size) else {
                if fit != nil || upscale || linearLight {
                    throw ValidationError("--fit, --upscale and --linear-light need --size")
                }
                return nil
            }
            let fit = fit.flatMap(ImageFit.init(rawValue:)) ?? .contain
            return TargetSize(width: width, height: height, fit: fit, upscale: upscale)
        }
    }

    private static let longestSide = 1_000_000_000

    /// The two sides of a size such as 400x300, 400x or x300; nil if there is no size.
    static func sides(of size: String?) throws -> (width: Int?, height: Int?)? {
        guard let size else { return nil }
        let sides = size.lowercased().split(separator: "x", omittingEmptySubsequences: false)
        let (width, height) = (sides.first.flatMap { Int($0) }, sides.last.flatMap { Int($0) })
        // The conversion to a number would also take a sign.
        let areDigits = sides.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        let isWell =
            sides.count == 2 && (width != nil || sides[0].isEmpty) && (height != nil || sides[1].isEmpty)
            && (width ?? height) != nil && [width, height].allSatisfy { 1...longestSide ~= $0 ?? 1 }
        guard areDigits, isWell else {
            throw ValidationError(
                "--size takes WxH, Wx or xH, such as 400x300, 400x or x300, up to \(longestSide) pixels a side")
        }
        return (width, height)
    }
}
