import WebImageCodecs
import WebImageCore

/// What to make of a picture's bytes: which part of the file, in which size and colours, changed in which ways.
struct PictureRecipe: Sendable {
    /// In display orientation; nil: the size that the picture has.
    var size: TargetSize?
    var transformers: [any ImageTransformer] = []
    /// Everything else.
    var decoding = ImageRequest.Decoding()

    /// For bytes in which a picture was kept that this recipe made: what is done already is not done again.
    ///
    /// - Parameter format: what the bytes say they are.
    func ofFinished(_ format: ImageFormat?) -> PictureRecipe {
        var recipe = self
        recipe.size = nil
        recipe.transformers = []
        recipe.decoding.bitmapLimit = nil
        recipe.decoding.scalesInLinearLight = false
        recipe.decoding.page = 0
        if format != nil {
            recipe.decoding.coder = nil
            recipe.decoding.formatHint = nil
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
