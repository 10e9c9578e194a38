import WebImageCodecs
import WebImageCore
import WebImageProcessing

/// How to make a picture from bytes: the part of the file, the size, the colours, and the transformers.
struct PictureRecipe: Sendable {
    /// The size in display orientation; nil: the picture's own size.
    var size: TargetSize?
    var transformers: [any ImageTransformer] = []
    /// The decoding options, which have everything apart from size and transformers.
    var decoding: ImageRequest.Decoding {
        _read { yield making.value }
        _modify { yield &making.value }
    }
    private var making = MostlyDefault<ImageRequest.Decoding>()

    init(
        size: TargetSize? = nil, transformers: [any ImageTransformer] = [],
        decoding making: MostlyDefault<ImageRequest.Decoding> = .init()
    ) {
        (self.size, self.transformers, self.making) = (size, transformers, making)
    }

    /// Whether everything but the size has its default.
    var isOfSizeOnly: Bool { transformers.isEmpty && making.isUntouched }

    /// The steps at the beginning of the chain that are a part of decoding. There are none if the picture is not turned
    /// upright, since chains assume upright pictures, if a bitmap limit decides the size, or if animations or vector
    /// pictures are not transformed.
    var geometry: LeadingGeometry {
        if transformers.isEmpty { return LeadingGeometry(size, []) }
        let decoding = decoding
        let isPart =
            turnsUpright && decoding.bitmapLimit == nil && decoding.transformsAnimations && decoding.transformsVectors
        return LeadingGeometry(size, isPart ? transformers : [])
    }

    /// Whether the result is upright: the orientation is applied, or ignored. (Only the orientation of a tag can be
    /// ignored.)
    var turnsUpright: Bool { decoding.appliesOrientation || decoding.ignoresOrientation }

    /// Whether the stored pixels count as upright.
    func ignoresOrientation(of header: ImageHeader) -> Bool { decoding.ignoresOrientation && header.isOrientedByTag }

    /// The header as the recipe uses it.
    func reading(_ header: ImageHeader) -> ImageHeader {
        guard ignoresOrientation(of: header) else { return header }
        var header = header
        (header.ignoredOrientation, header.orientation) = (header.orientation, .up)
        return header
    }

    /// The number of transformers at the beginning that are a part of decoding.
    var decodedSteps: Int { transformers.isEmpty ? 0 : geometry.count }

    /// The number of transformers at the beginning that can only be applied to a picture that was decoded for them.
    var boundSteps: Int {
        if transformers.isEmpty { return 0 }
        let geometry = geometry
        return geometry.count + (geometry.chooserKey == nil ? 0 : 1)
    }

    /// Whether there are steps to apply to the decoded picture.
    var hasSteps: Bool { transformers.count > decodedSteps }

    /// Whether previews can be shown. The steps of the chain are applied to previews, too, since they may hide parts of
    /// the original. The program's own transformers and closures are called only once for each picture, so a chain with
    /// one of them has no previews.
    var allowsPreviews: Bool {
        transformers.dropFirst(decodedSteps).allSatisfy { ($0 as? ImageTransform)?.callsClosure == false }
    }

    /// Applies the remaining transformers to a preview. Nil if one of them fails.
    ///
    /// - Parameters:
    ///   - isAnimated: whether the picture may be the first of an animation.
    ///   - checkpoint: called between rows; its error ends the work.
    func transformed(
        preview image: Image, isAnimated: Bool, checkpoint: TransformProgram.Checkpoint? = nil
    ) -> Image? {
        guard hasSteps else { return image }
        if isAnimated { return try? transformed(firstFrame: image, checkpoint: checkpoint) }
        return try? transformed(
            image, by: decodedSteps..<transformers.count, isAnimated: false, checkpoint: checkpoint)
    }

    /// The recipe for stored bytes of a picture that this recipe made, without the steps that are applied already.
    ///
    /// - Parameter format: the format of the bytes.
    func ofFinished(_ format: ImageFormat?) -> PictureRecipe {
        var recipe = self
        recipe.size = nil
        recipe.transformers = []
        recipe.decoding.bitmapLimit = nil
        recipe.decoding.scalesInLinearLight = false
        recipe.decoding.page = 0
        recipe.decoding.usesEmbeddedThumbnail = false
        if format != nil {
            recipe.decoding.coder = nil
            recipe.decoding.formatHint = nil
        }
        return recipe
    }

    /// Applies the remaining transformers to an animation's first frame.
    ///
    /// - Parameter checkpoint: called between rows; its error ends the work.
    /// - Throws: `transformFailed`, and the error of the checkpoint.
    func transformed(
        firstFrame image: Image, checkpoint: TransformProgram.Checkpoint? = nil
    ) throws(WebImageError) -> Image {
        if !decoding.transformsAnimations { return image }
        return try transformed(
            image, by: decodedSteps..<transformers.count, isAnimated: true, checkpoint: checkpoint)
    }

    /// Applies some of the transformers to a picture. Consecutive ``/WebImageProcessing/ImageTransform`` values are
    /// compiled into one program.
    ///
    /// - Parameters:
    ///   - isAnimated: whether it is the first picture of an animation.
    ///   - helpers: threads that take a part of a large picture while they are idle.
    ///   - checkpoint: called between rows; its error ends the work.
    /// - Throws: `transformFailed`, and the error of the checkpoint.
    func transformed(
        _ image: Image, by steps: Range<Int>, isAnimated: Bool, with helpers: (any IdleThreads)? = nil,
        checkpoint: TransformProgram.Checkpoint? = nil
    ) throws(WebImageError) -> Image {
        if image.info.isVector, !decoding.transformsVectors { return image }
        return try StepPrograms(transformers[steps], limits: decoding.limits, isForFrames: isAnimated)
            .run(image, with: helpers, checkpoint: checkpoint)
    }

    /// The remaining transformers, for the frames of an animation.
    var stepPrograms: StepPrograms {
        let steps = decoding.transformsAnimations ? transformers[decodedSteps...] : []
        return StepPrograms(steps, limits: decoding.limits, isForFrames: true)
    }
}
