import WebImageCodecs
import WebImageCore

/// What to make of a picture's bytes: which part of the file, in which size and colours, changed in which ways.
struct PictureRecipe: Sendable {
    /// In display orientation; nil: the size that the picture has.
    var size: TargetSize?
    /// The most that the bitmap may take; stands in for `size`.
    var bitmapLimit: ByteCount?
    var appliesOrientation = true
    var keepsBitDepth = false
    var convertsToSRGB = true
    var scalesInLinearLight = false
    var firstFrameOnly = false
    var preloadsFrames = false
    var page = 0
    var transformers: [any ImageTransformer] = []
    /// Decodes in place of the registered ones.
    var coder: (any ImageCoder)?
    /// The format of bytes that do not tell one.
    var formatHint: ImageFormat?
    /// Whether a picture that is cut short counts.
    var allowsPartial = false
    /// Nil where nobody has said any: then whoever decodes has his own.
    var ownLimits: DecodeLimits?

    var limits: DecodeLimits { ownLimits ?? .default }

    /// For bytes in which a picture was kept that this recipe made: what is done already is not done again.
    ///
    /// - Parameter format: what the bytes say they are.
    func ofFinished(_ format: ImageFormat?) -> PictureRecipe {
        var recipe = self
        recipe.size = nil
        recipe.bitmapLimit = nil
        recipe.scalesInLinearLight = false
        recipe.page = 0
        recipe.transformers = []
        if format != nil {
            recipe.coder = nil
            recipe.formatHint = nil
        }
        return recipe
    }

    /// What the transformers make of a picture.
    ///
    /// - Throws: `transformFailed`.
    func transformed(_ image: Image) throws(WebImageError) -> Image {
        var image = image
        for transformer in transformers { image = try Self.transformed(image, by: transformer) }
        return image
    }

    /// What one transformer makes of a picture.
    ///
    /// - Throws: `transformFailed`.
    static func transformed(_ image: Image, by transformer: any ImageTransformer) throws(WebImageError) -> Image {
        do throws(WebImageError) {
            return try transformer.transform(image)
        } catch {
            throw WebImageError(.transformFailed, "the transformer \(transformer.key) failed", cause: error)
        }
    }
}
