import WebImageCore
import WebImageProcessing

extension AnimationDescription {
    /// A frame as formats can hold it that know neither orientation nor premultiplied pixels: 8 bits a channel.
    ///
    /// - Throws: `cannotEncode` for a frame of another size.
    func plain(_ frame: Image, _ format: ImageFormat) throws(WebImageError) -> Image {
        guard frame.displaySize == size else {
            throw WebImageError(
                .cannotEncode, "a frame is \(frame.displaySize) in an animation of \(size)", format: format)
        }
        let plain = try frame.plain()
        return Image(pixels: try plain.pixels.narrowed(), info: plain.info)
    }
}

/// Turns the delays of frames into a format's ticks. What rounding takes from one frame the next ones get, so that the
/// whole lasts as long as it should.
struct DelayClock {
    private static let longest = Int(UInt16.max)

    private let ticksPerSecond: Int
    private var owed: Duration = .zero

    init(ticksPerSecond: Int) { self.ticksPerSecond = ticksPerSecond }

    /// The ticks of the next frame: at most 65 535.
    mutating func ticks(_ delay: Duration) -> Int {
        let most = Duration.seconds(Self.longest) / ticksPerSecond
        let wanted = min(max(delay, .zero), most) + owed
        let (seconds, attoseconds) = (max(wanted, .zero) * ticksPerSecond).components
        let ticks = min(Int(seconds) + (attoseconds >= 500_000_000_000_000_000 ? 1 : 0), Self.longest)
        owed = wanted - .seconds(ticks) / ticksPerSecond
        return ticks
    }
}
