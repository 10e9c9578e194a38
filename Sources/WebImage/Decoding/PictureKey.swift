import WebImageCodecs
import WebImageCore

/// What was made of an original: how it was decoded, and then the steps, in order. Two recipes with the same key make the
/// same pixels of the same bytes.
struct PictureKey: Hashable, Sendable {
    /// Raised when coders begin to give other pixels for the same bytes.
    static let coderGeneration = 2

    /// The canonical text of all that decoding, scaling and turning depend on.
    ///
    /// Each field is `letter length : value ;`, in a fixed order; what is at its default is left out. A field's length is
    /// in UTF-8 bytes, so that no value can be mistaken for a field.
    let decode: String
    /// The text of a picture of which nothing is made.
    static let plain = PictureKey(PictureRecipe()).text

    /// The keys of the transformers.
    let steps: [String]

    /// - Parameter tellsSize: false for what all sizes of a picture have in common.
    init(_ recipe: PictureRecipe, tellsSize: Bool = true) {
        var text = Self.field("g", "\(Self.coderGeneration)")
        if tellsSize, let size = recipe.size {
            text += Self.field("s", "\(size.width ?? 0)x\(size.height ?? 0)")
            if size.fit != .contain { text += Self.field("f", size.fit.rawValue) }
            if size.upscale { text += Self.field("u", "1") }
        }
        if !recipe.decoding.appliesOrientation { text += Self.field("o", "keep") }
        if recipe.decoding.keepsBitDepth { text += Self.field("d", "16") }
        if !recipe.decoding.convertsToSRGB { text += Self.field("c", "keep") }
        if recipe.decoding.scalesInLinearLight { text += Self.field("l", "1") }
        if let limit = recipe.decoding.bitmapLimit { text += Self.field("b", "\(limit.bytes)") }
        if recipe.decoding.firstFrameOnly { text += Self.field("1", "1") }
        if !recipe.decoding.transformsAnimations { text += Self.field("n", "0") }
        if !recipe.decoding.transformsVectors { text += Self.field("v", "0") }
        if recipe.decoding.requiresAnimation { text += Self.field("a", "1") }
        if recipe.decoding.page != 0 { text += Self.field("p", "\(recipe.decoding.page)") }
        if let coder = recipe.decoding.coder { text += Self.field("k", coder.key) }
        if let format = recipe.decoding.formatHint { text += Self.field("h", format.rawValue) }
        let decodedSteps = recipe.decodedSteps
        for transformer in recipe.transformers[..<decodedSteps] { text += Self.field("m", transformer.key) }
        decode = text
        steps = recipe.transformers[decodedSteps...].map(\.key)
    }

    /// A decoded picture without further steps.
    init(decode: String) { (self.decode, steps) = (decode, []) }

    /// Whether the other picture can be made of this one by further steps.
    func isBeginning(of other: PictureKey) -> Bool {
        decode == other.decode && steps.count < other.steps.count && other.steps.starts(with: steps)
    }

    /// The whole of it as a text, for keys of caches.
    var text: String { steps.reduce(decode) { $0 + Self.field("t", $1) } }

    private static func field(_ name: Character, _ value: String) -> String {
        "\(name)\(value.utf8.count):\(value);"
    }
}
