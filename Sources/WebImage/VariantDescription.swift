import WebImageCodecs
import WebImageCore

/// The canonical text of all that makes one picture's pixels differ from another's of the same original.
///
/// Each field is `letter length : value ;`, in a fixed order; what is at its default is left out. A field's length is
/// in UTF-8 bytes, so that no value can be mistaken for a field.
enum VariantDescription {
    /// Raised when coders begin to give other pixels for the same bytes.
    static let coderGeneration = 2

    /// - Parameter tellsSize: false for what all sizes of a picture have in common.
    static func text(for recipe: PictureRecipe, tellsSize: Bool = true) -> String {
        var text = field("g", "\(coderGeneration)")
        if tellsSize, let size = recipe.size {
            text += field("s", "\(size.width ?? 0)x\(size.height ?? 0)")
            if size.fit != .contain { text += field("f", size.fit.rawValue) }
            if size.upscale { text += field("u", "1") }
        }
        if !recipe.appliesOrientation { text += field("o", "keep") }
        if recipe.keepsBitDepth { text += field("d", "16") }
        if !recipe.convertsToSRGB { text += field("c", "keep") }
        if recipe.scalesInLinearLight { text += field("l", "1") }
        if let limit = recipe.bitmapLimit { text += field("b", "\(limit.bytes)") }
        if recipe.firstFrameOnly { text += field("1", "1") }
        if recipe.page != 0 { text += field("p", "\(recipe.page)") }
        if let coder = recipe.coder { text += field("k", coder.key) }
        if let format = recipe.formatHint { text += field("h", format.rawValue) }
        for transformer in recipe.transformers { text += field("t", transformer.key) }
        return text
    }

    private static func field(_ name: Character, _ value: String) -> String {
        "\(name)\(value.utf8.count):\(value);"
    }
}
