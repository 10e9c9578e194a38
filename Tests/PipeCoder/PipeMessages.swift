import WebImageCodecs
import WebImageCore

/// What is asked of a decoder at the other end of a pipe.
enum PipeAsk: Codable {
    case openStill(DecodeOptions)
    case openAnimation(ImageFormat, DecodeOptions)
    /// With the bytes.
    case push
    case finish
    /// The answer to ``PipeTell/header(_:)``. nil: the header will not do, and the decode ends.
    case plan(DecodePlan?, wantsRows: Bool)
    case preview
    case frame(Int)
    case firstFrameNeeded(Int)
    case releaseWorkingMemory
}

/// What the other end tells.
enum PipeTell: Codable {
    /// Waits for ``PipeAsk/plan(_:wantsRows:)``.
    case header(ImageHeader)
    case begin(RowFormat)
    /// With the rows.
    case rows(at: Int, count: Int)
    /// With the pixels.
    case pixels(PixelSize, PixelLayout)
    case nothing
    case number(Int)
    case still(StillState)
    case animation(AnimationState)
    case failed(WebImageError)

    /// The end of each call of a decoder of stills.
    struct StillState: Codable {
        var header: ImageHeader?
        var mayExtendHeader: Bool
        /// Of ``DecodeState``.
        var isComplete = false
        var hasStoppedAtHeader = false
    }

    /// The end of each call of a decoder of animations.
    struct AnimationState: Codable {
        var header: ImageHeader?
        var storedDelays: [Duration]
        var beginsWithStill: Bool
        var encodedByteCount: Int
        var workingByteCount: Int
    }
}
