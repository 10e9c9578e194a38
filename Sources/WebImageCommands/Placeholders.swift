import WebImage

/// The placeholders that `webimage info --placeholder` prints: hashes to draw in place of a picture, and its colours.
struct Placeholders: Sendable {
    /// The size to which a picture is decoded: enough for all placeholders, and the largest that ThumbHash takes.
    static let size = TargetSize(width: 100, height: 100)

    let blurHash: BlurHash
    let thumbHash: ThumbHash
    let colors: ImageColors

    /// - Throws: errors of the three initializers.
    init(of image: Image) throws(WebImageError) {
        blurHash = try BlurHash(of: image)
        thumbHash = try ThumbHash(of: image)
        colors = try ImageColors(of: image)
    }

    var palette: [String] { colors.palette.map(\.color.hexadecimal) }

    /// A line for a person, which is printed below the picture's line.
    var plain: String {
        var parts = ["blurhash \(blurHash)", "thumbhash \(thumbHash)"]
        if let average = colors.average { parts.append("average \(average.hexadecimal)") }
        if let dominant = colors.dominant { parts.append("dominant \(dominant.hexadecimal)") }
        if !palette.isEmpty { parts.append("palette \(palette.joined(separator: " "))") }
        return "    " + parts.joined(separator: ", ")
    }
}

extension RGBColor {
    /// The colour as in `"#ff8000"`.
    var hexadecimal: String {
        let digits = String(Int(red) << 16 | Int(green) << 8 | Int(blue), radix: 16)
        return "#" + String(repeating: "0", count: 6 - digits.count) + digits
    }
}
