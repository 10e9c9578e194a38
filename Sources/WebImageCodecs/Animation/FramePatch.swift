import WebImageCore

/// One frame of a file whose frames are drawn over each other on a canvas: its place, and its effects on the canvas.
struct FramePatch: Hashable {
    /// How a frame's pixels are combined with those of the canvas.
    enum Blend {
        /// The frame's pixels replace those of the canvas, even where they are transparent.
        case replace
        /// The frame's pixels are composited over those of the canvas.
        case over
    }

    /// What happens to the frame's area before the next frame is drawn.
    enum Disposal {
        case keep
        /// It becomes transparent.
        case clear
        /// It is restored to its state before the frame.
        case restore
    }

    /// The frame's area, within the canvas; may be empty.
    var x = 0
    var y = 0
    var size = PixelSize(width: 0, height: 0)
    var blend = Blend.over
    var disposal = Disposal.keep
    /// The delay as it is stored in the file.
    var delay: Duration = .zero
    /// Whether the file says that the frame has no transparent pixel.
    var isOpaque = false

    /// Whether it covers the whole canvas.
    func covers(_ canvas: PixelSize) -> Bool { x == 0 && y == 0 && size.covers(canvas) }

    /// Whether it hides everything that was on the canvas.
    func hides(_ canvas: PixelSize) -> Bool { covers(canvas) && (isOpaque || blend == .replace) }
}

/// Finds and decodes the patches of a file as its bytes arrive: the part of ``CanvasAnimationDecoder`` that depends on
/// the format.
protocol FramePatchReader: AnyObject {
    /// Set before the first patch; its size is the canvas.
    var header: ImageHeader? { get }
    /// The patches whose bytes have all arrived.
    var patches: [FramePatch] { get }
    /// All bytes so far.
    var bytes: [UInt8] { get }
    /// See ``AnimationDecoder/beginsWithStill``. Default true.
    var beginsWithStill: Bool { get }

    /// Takes the next bytes. A patch beyond ``/WebImageCore/DecodeLimits/frames`` or
    /// ``/WebImageCore/DecodeLimits/animationPixels`` is refused before it is stored, because a frame may take fewer
    /// bytes in the file than in ``patches``.
    ///
    /// - Parameter file: the array, if the bytes are a whole array: it is kept rather than copied.
    func push(_ bytes: UnsafeRawBufferPointer, of file: [UInt8]?) throws(WebImageError)
    func finish() throws(WebImageError)

    /// Writes a patch's rows to a sink, as a decoder does: begins with the patch's size, 8 bits a channel.
    func decode(_ index: Int, into sink: any RowSink) throws(WebImageError)
}

extension FramePatchReader {
    var beginsWithStill: Bool { true }
}

extension [UInt8] {
    /// Appends bytes of a file; if they are a whole array, it replaces an empty one without a copy.
    mutating func append(_ bytes: UnsafeRawBufferPointer, of file: [UInt8]?) {
        if isEmpty, let file { self = file } else { append(contentsOf: bytes) }
    }
}
