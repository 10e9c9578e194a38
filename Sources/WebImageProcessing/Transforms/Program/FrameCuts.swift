import Synchronization
import WebImageCore
import WebImageSystem

/// A part of a picture, whole pixels of it.
struct CutPart: Hashable, Sendable {
    let x: Int
    let y: Int
    let size: PixelSize

    func fits(_ whole: PixelSize) -> Bool { x + size.width <= whole.width && y + size.height <= whole.height }
}

/// Keeps a part of a picture that its pixels decide. Frames of an animation all keep the same.
protocol CuttingOperation: WholeOperation {
    /// Whether frames of an animation stay whole. Default false.
    var isForStillsOnly: Bool { get }

    func part(of image: Image) throws(WebImageError) -> CutPart
}

extension CuttingOperation {
    var isForStillsOnly: Bool { false }

    var takesDeepPixels: Bool { true }

    func apply(_ image: Image) throws(WebImageError) -> Image { try image.cut(by: try part(of: image)) }
}

/// What the frames of one animation keep of themselves, where pixels decide: what those of the frame decide that comes first. Any
/// thread may use it.
package final class FrameCuts: Sendable {
    private let parts = Guarded<[Int: CutPart]>([:])

    package init() {}

    /// - Parameter number: of the operation, of those of its kind in the chain.
    func cut(_ number: Int, of image: Image, by operation: any CuttingOperation) throws(WebImageError) -> CutPart {
        if operation.isForStillsOnly { return CutPart(x: 0, y: 0, size: image.size) }
        if let known = parts.withLock({ $0[number] }), known.fits(image.size) { return known }
        let part = try operation.part(of: image)
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
