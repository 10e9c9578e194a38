public import WebImageCore

/// Decodes the frames of one animated file, in any order. Not thread-safe: use it on one thread at a time.
///
/// It accepts the bytes as they arrive; a frame can be decoded as soon as all of its own bytes have arrived. It keeps
/// the encoded bytes, and of the decoded pixels no more than a canvas and a few copies of it.
public protocol AnimationDecoder: AnyObject {
    /// The header, as soon as the first bytes contain it. Its frame count and loop count are those known so far.
    var header: ImageHeader? { get }

    /// The stored delays of the frames whose bytes are complete, in order.
    var storedDelays: [Duration] { get }

    /// Whether the picture of the decoder for stills is the first frame. Default true. False for an APNG with a
    /// separate still for programs that do not support animations.
    var beginsWithStill: Bool { get }

    /// The number of encoded bytes that have been pushed.
    var encodedByteCount: Int { get }

    /// The memory of decoded pixels that the decoder keeps between two frames, in bytes. Default 0.
    var workingByteCount: Int { get }

    /// Releases that memory; the next frame may then take longer. Default: does nothing.
    func releaseWorkingMemory()

    /// Releases the part of that memory without which the frame after the last one takes no longer, but others may.
    /// Default: does nothing.
    func releaseSpareMemory()

    /// Takes the next bytes.
    ///
    /// - Throws: `corruptData`, `limitExceeded`, `unsupportedFeature`. Frames that were found before stay valid.
    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError)

    /// Pushes the whole file at once, if it is in an array anyway. The decoder may keep the array rather than a copy.
    /// Default: the same as ``push(_:)``.
    func push(file: [UInt8]) throws(WebImageError)

    /// Ends the input.
    ///
    /// - Throws: `truncatedData` if the file is not complete, and the errors of `push`. Frames that were found stay
    ///   valid.
    func finish() throws(WebImageError)

    /// Decodes a frame as it is shown: the whole canvas, in the header's size, with straight alpha. A channel has 8
    /// bits; or 16 if the options of the decoder keep the bit depth, the file has more than 8, and the decoder supports
    /// it. The caller owns the buffer and may change it.
    ///
    /// - Precondition: `index` is in ``storedDelays``.
    /// - Throws: `corruptData`, and the errors of the checkpoint.
    func frame(at index: Int) throws(WebImageError) -> PixelBuffer

    /// The first frame that ``frame(at:)`` has to decode for this one. It is less than `index` if the frame depends on
    /// earlier frames and no kept canvas is nearer.
    func firstFrameNeeded(for index: Int) -> Int
}

extension AnimationDecoder {
    public var workingByteCount: Int { 0 }

    public func releaseWorkingMemory() {}

    public func releaseSpareMemory() {}

    public var beginsWithStill: Bool { true }

    public func firstFrameNeeded(for index: Int) -> Int { index }

    public func push(file: [UInt8]) throws(WebImageError) {
        try file.withUnsafeBufferPointer { bytes throws(WebImageError) in try push(UnsafeRawBufferPointer(bytes)) }
    }
}

/// Encodes the frames of one animated file, in order. Not thread-safe.
public protocol AnimationEncoder: AnyObject {
    /// Adds a frame of the size that the encoder was made for, orientation applied.
    ///
    /// - Throws: `cannotEncode`.
    func add(_ frame: Image, delay: Duration) throws(WebImageError)

    /// Returns the file. No frames may be added afterwards.
    ///
    /// - Throws: `cannotEncode`, also when no frame was added.
    func finish() throws(WebImageError) -> [UInt8]
}

/// The properties of an animation that an encoder needs before the first frame.
public struct AnimationDescription: Hashable, Sendable {
    /// The size of every frame, in pixels.
    public var size: PixelSize
    /// How often the animation is played, 0 for ever. Nil writes no value, which means once.
    public var loopCount: Int?

    public init(size: PixelSize, loopCount: Int?) {
        self.size = size
        self.loopCount = loopCount
    }
}

extension DecodeLimits {
    /// The maximum number of frames that ``check(frames:of:format:)`` accepts.
    func maxFrames(of canvas: PixelSize) -> Int {
        max(min(frames, animationPixels / max(canvas.pixelCount ?? .max, 1)), 0)
    }

    /// Refuses an animation of too many frames, or too many pixels in all frames together.
    ///
    /// - Throws: `limitExceeded`.
    func check(frames count: Int, of canvas: PixelSize, format: ImageFormat) throws(WebImageError) {
        guard count <= frames else {
            throw WebImageError(
                over: .frames, "the animation has more than \(frames) frames", format: format)
        }
        let (pixels, overflow) = count.multipliedReportingOverflow(by: canvas.pixelCount ?? .max)
        guard !overflow, pixels <= animationPixels else {
            throw WebImageError(
                over: .animationPixels,
                "the animation has more than \(maxFrames(of: canvas)) frames of \(canvas), and together more than "
                    + "\(animationPixels) pixels",
                format: format)
        }
    }
}
