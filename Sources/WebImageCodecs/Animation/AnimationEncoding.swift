import WebImageCore
import WebImageProcessing

extension AnimationDescription {
    /// The frame in a form for formats without orientation and premultiplied pixels.
    ///
    /// - Throws: `cannotEncode` for a frame of another size.
    func upright(_ frame: Image, _ format: ImageFormat) throws(WebImageError) -> Image {
        guard frame.displaySize == size else {
            throw WebImageError(
                .cannotEncode, "a frame is \(frame.displaySize) in an animation of \(size)", format: format)
        }
        return try frame.plain()
    }

    /// As ``upright(_:_:)``, with 8 bits a channel.
    func plain(_ frame: Image, _ format: ImageFormat) throws(WebImageError) -> Image {
        let upright = try upright(frame, format)
        return Image(pixels: try upright.pixels.narrowed(), info: upright.info)
    }
}

/// Converts the delays of frames to a format's ticks. Rounding errors are carried over to the next frames, so that the
/// total duration is right.
struct DelayClock {
    private let ticksPerSecond: Int
    private let shortest: Int
    private let longest: Int
    private var owed: Duration = .zero

    /// - Parameters:
    ///   - shortest: the fewest ticks that players show as they are stored, see ``Swift/Duration/shortestShown``. A frame
    ///     with at least that delay gets at least these ticks.
    ///   - longest: the most ticks that a frame can have.
    init(ticksPerSecond: Int = 1000, shortest: Int = 0, longest: Int) {
        self.ticksPerSecond = ticksPerSecond
        self.shortest = shortest
        self.longest = longest
    }

    /// The ticks of the next frame.
    mutating func ticks(_ delay: Duration) -> Int {
        let most = Duration.seconds(longest) / ticksPerSecond
        let wanted = min(max(delay, .zero), most) + owed
        let (seconds, attoseconds) = (max(wanted, .zero) * ticksPerSecond).components
        let ticks = min(Int(seconds) + (attoseconds >= 500_000_000_000_000_000 ? 1 : 0), longest)
        if ticks < shortest, delay >= .shortestShown {
            // The excess is not subtracted from later frames: hundreds of frames may be rounded up like this one.
            owed = .zero
            return shortest
        }
        owed = wanted - .seconds(ticks) / ticksPerSecond
        return ticks
    }
}
