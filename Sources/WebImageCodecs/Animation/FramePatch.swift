import WebImageCore

/// One frame of a file whose frames are drawn over each other on a canvas: where it goes, and what becomes of the canvas
/// before and after.
struct FramePatch: Hashable {
    /// How a frame's pixels meet those on the canvas.
    enum Blend {
        /// They take their place, transparent ones too.
        case replace
        /// They are laid over them.
        case over
    }

    /// What becomes of the frame's place before the next frame is drawn.
    enum Disposal {
        case keep
        /// It becomes transparent.
        case clear
        /// It becomes what it was before the frame was drawn.
        case restore
    }

    /// Within the canvas; may be empty.
    var x = 0
    var y = 0
    var size = PixelSize(width: 0, height: 0)
    var blend = Blend.over
    var disposal = Disposal.keep
    /// As stored.
    var delay: Duration = .zero
    /// Whether the file says that the frame has no transparent pixel.
    var isOpaque = false

    /// Whether it takes all of the canvas.
    func covers(_ canvas: PixelSize) -> Bool { x == 0 && y == 0 && size.covers(canvas) }

    /// Whether nothing of what was on the canvas shows through it.
    func hides(_ canvas: PixelSize) -> Bool { covers(canvas) && (isOpaque || blend == .replace) }
}

/// Finds and decodes the patches of one file as its bytes come: what a format adds to ``CanvasAnimationDecoder``.
protocol FramePatchReader: AnyObject {
    /// Known before the first patch is; its size is the canvas.
    var header: ImageHeader? { get }
    /// The patches whose bytes are all there.
    var patches: [FramePatch] { get }
    /// All bytes so far.
    var bytes: [UInt8] { get }
    /// See ``AnimationDecoder/beginsWithStill``. Default true.
    var beginsWithStill: Bool { get }

    /// Takes the next bytes. A patch over ``/WebImageCore/DecodeLimits/frames`` or ``/WebImageCore/DecodeLimits/animationPixels`` is refused before it is
    /// kept: a frame may take fewer bytes in the file than in ``patches``.
    ///
    /// - Parameter file: what the bytes are all of, where they are all of an array: it is kept, not copied.
    func push(_ bytes: UnsafeRawBufferPointer, of file: [UInt8]?) throws(WebImageError)
    func finish() throws(WebImageError)

    /// Gives a patch's rows to a sink, as a decoder does: begin with the patch's size, 8 bits a channel.
    func decode(_ index: Int, into sink: any RowSink) throws(WebImageError)
}

extension FramePatchReader {
    var beginsWithStill: Bool { true }
}

extension [UInt8] {
    /// Adds bytes of a file; an array that they are all of takes the place of one that is empty.
    mutating func append(_ bytes: UnsafeRawBufferPointer, of file: [UInt8]?) {
        if isEmpty, let file { self = file } else { append(contentsOf: bytes) }
    }
}
