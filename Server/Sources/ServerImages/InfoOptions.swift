import FleetCrypto
public import ServerGrammar
import WebImage

/// The options of `/info`: imgproxy Pro's, with their defaults.
public struct InfoOptions: Hashable, Sendable {
    var size = true
    var format = true
    var dimensions = true
    var pages = false
    var alpha = false
    var exif = false
    var average = false
    /// How many colours; 0: none.
    var palette = 0
    var dominantColors = false
    /// Whether dominant colours that are missing from the picture are derived from others.
    var buildsMissingColors = false
    var blurHashColumns = 0
    var blurHashRows = 0
    var thumbHash = false
    var hashSums: [RunningHash.Algorithm] = []
    /// The part of the picture whose colours are described.
    var crop = ImgproxyGeometry()
    private var cachebuster = ""

    /// Whether pixels must be decoded.
    var needsPixels: Bool { average || palette > 0 || dominantColors || blurHashColumns > 0 || thumbHash }

    /// The information that `/srcset` adds to its URLs.
    public static var ofSets: InfoOptions {
        var options = InfoOptions()
        (options.size, options.pages, options.average) = (false, true, true)
        (options.blurHashColumns, options.blurHashRows) = (4, 3)
        return options
    }

    init() {}

    /// - Parameter options: as in the path, in order; later ones win.
    /// - Throws: 404 for options that `/info` does not have.
    public init(
        _ options: [(name: Substring, arguments: [Substring])], _ grammar: URLGrammar
    ) throws(RequestRefusal) {
        for (name, arguments) in options {
            let isOn = Self.isTrue(arguments.first ?? "1")
            switch name {
            case "size", "s": size = isOn
            case "format", "f": format = isOn
            case "dimensions", "d": dimensions = isOn
            case "pages_number", "pn": pages = isOn
            case "alpha", "a": alpha = isOn
            case "exif": exif = isOn
            case "average", "avg": average = isOn
            case "palette", "p":
                palette = try Self.whole(arguments.first ?? "", in: 0...64, name)
                if palette == 1 { throw .invalidURL("palette: it takes at least 2 colours") }
            case "dominant_colors", "dc":
                dominantColors = isOn
                buildsMissingColors = arguments.count > 1 && Self.isTrue(arguments[1])
            case "blurhash", "bh":
                guard arguments.count == 2 else { throw .invalidURL("blurhash takes two numbers") }
                blurHashColumns = try Self.whole(arguments[0], in: 0...9, name)
                blurHashRows = try Self.whole(arguments[1], in: 0...9, name)
                if blurHashColumns == 0 || blurHashRows == 0 { (blurHashColumns, blurHashRows) = (0, 0) }
            case "thumb_hash", "th": thumbHash = isOn
            case "calc_hashsums", "chs":
                hashSums = []
                for name in arguments where !name.isEmpty {
                    guard let algorithm = RunningHash.Algorithm(rawValue: String(name)) else {
                        throw .invalidURL("calc_hashsums knows md5, sha1, sha256 and sha512, not \(name.prefix(80))")
                    }
                    if !hashSums.contains(algorithm) { hashSums.append(algorithm) }
                }
            case "crop", "c": crop = try grammar.crop(arguments)
            case "cachebuster", "cb": cachebuster = arguments.joined(separator: ":")
            default: throw .invalidURL("/info has no option \(String(name.prefix(80)))")
            }
        }
    }

    /// A canonical text of everything that changes the answer.
    var key: String {
        let flags = [
            size, format, dimensions, pages, alpha, exif, average, dominantColors, buildsMissingColors, thumbHash,
        ].map { $0 ? "1" : "0" }.joined()
        let sums = hashSums.map(\.rawValue).joined(separator: ",")
        return "\(flags);\(palette);\(blurHashColumns)x\(blurHashRows);\(sums);"
            + "\(ImageTransform.imgproxy(crop).key);\(cachebuster.utf8.count):\(cachebuster)"
    }

    private static func isTrue(_ text: Substring) -> Bool { ["1", "t", "true", "True", "TRUE", "T"].contains(text) }

    private static func whole(
        _ text: Substring, in range: ClosedRange<Int>, _ name: Substring
    ) throws(RequestRefusal) -> Int {
        guard let value = Int(text), range.contains(value) else {
            throw .invalidURL(
                "\(name): \(String(text.prefix(80))) is not from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}
