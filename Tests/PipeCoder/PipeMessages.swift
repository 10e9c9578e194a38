import WebImageCodecs
import WebImageCore

/// A call to the decoder at the other end of a pipe.
enum PipeAsk: Codable {
    case openStill(DecodeOptions)
    case openAnimation(ImageFormat, DecodeOptions)
    /// The file's bytes follow the message.
    case push
    case finish
    /// The answer to ``PipeTell/header(_:)``. If the plan is nil, the header was refused and the decode ends.
    case plan(DecodePlan?, wantsRows: Bool)
    case preview
    case frame(Int)
    case firstFrameNeeded(Int)
    case releaseWorkingMemory
}

/// A message from the decoder at the other end.
enum PipeTell: Codable {
    /// The decoder waits for ``PipeAsk/plan(_:wantsRows:)``.
    case header(ImageHeader)
    case begin(RowFormat)
    /// The rows follow the message.
    case rows(at: Int, count: Int)
    /// The pixels follow the message.
    case pixels(PixelSize, PixelLayout)
    case nothing
    case number(Int)
    case still(StillState)
    case animation(AnimationState)
    case failed(WebImageError)

    /// The state of a decoder of stills, sent at the end of each call.
    struct StillState: Codable {
        var header: ImageHeader?
        var mayExtendHeader: Bool
        /// Stands for a ``DecodeState``, together with `hasStoppedAtHeader`.
        var isComplete = false
        var hasStoppedAtHeader = false
    }

    /// The state of a decoder of animations, sent at the end of each call.
    struct AnimationState: Codable {
        var header: ImageHeader?
        var storedDelays: [Duration]
        var beginsWithStill: Bool
        var encodedByteCount: Int
        var workingByteCount: Int
    }
}
