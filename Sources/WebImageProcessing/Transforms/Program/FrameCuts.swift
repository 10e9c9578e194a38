import Synchronization
import WebImageCore
import WebImageSystem

/// A part of a picture in whole pixels.
struct CutPart: Hashable, Sendable {
    let x: Int
    let y: Int
    let size: PixelSize

    func fits(_ whole: PixelSize) -> Bool { x + size.width <= whole.width && y + size.height <= whole.height }
}

/// An operation that crops a picture by the content of its pixels. All frames of an animation are cropped alike.
protocol CuttingOperation: WholeOperation {
    /// Whether frames of an animation stay whole. Default false.
    var isForStillsOnly: Bool { get }

    /// - Parameter checkpoint: called now and then; its error ends the search for the part.
    func part(of image: Image, _ checkpoint: TransformProgram.Checkpoint?) throws(WebImageError) -> CutPart
}

extension CuttingOperation {
    var isForStillsOnly: Bool { false }

    var takesDeepPixels: Bool { true }

    func apply(
        _ image: Image, to layout: PixelLayout, _ checkpoint: TransformProgram.Checkpoint?
    ) throws(WebImageError) -> Image {
        try image.cut(by: try part(of: image, checkpoint))
    }
}

/// The crops of an animation's frames that depend on pixels. The frame that is processed first determines them. Any
/// thread may use them.
package final class FrameCuts: Sendable {
    private let parts = Guarded<[Int: CutPart]>([:])

    package init() {}

    /// - Parameter number: the operation's index among those of its kind in the chain.
    func cut(
        _ number: Int, of image: Image, by operation: any CuttingOperation, _ checkpoint: TransformProgram.Checkpoint?
    ) throws(WebImageError) -> CutPart {
        if operation.isForStillsOnly { return CutPart(x: 0, y: 0, size: image.size) }
        if let known = parts.withLock({ $0[number] }), known.fits(image.size) { return known }
        let part = try operation.part(of: image, checkpoint)
        return parts.withLock { parts in
            if let known = parts[number], known.fits(image.size) { return known }
            parts[number] = part
            return part
        }
    }
}

extension Image {
    func cut(by part: CutPart) throws(WebImageError) -> Image {
        if part.size == size { return self }
        return Image(pixels: try pixels.cropped(x: part.x, y: part.y, to: part.size), info: info)
    }
}
