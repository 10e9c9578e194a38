package import WebImageCore

/// The beginning of a chain that is carried out during decoding: crops, turns and at most one scaling. It depends on
/// the chain only, not on the picture.
package struct LeadingGeometry: Sendable {
    private var operations: [any GeometryOperation] = []
    /// The next operation, if it scales the picture and then reads its pixels: the scaling is carried out, too.
    private var looking: (any GeometryOperation)?
    /// The key of that operation: what is decoded for it is of use for no other one.
    package var chooserKey: String? { looking?.key }
    private let size: TargetSize?

    /// - Parameters:
    ///   - size: the size to scale to before the chain; nil: none.
    ///   - transformers: a chain.
    package init(_ size: TargetSize?, _ transformers: [any ImageTransformer]) {
        self.size = size
        var isScaled = size != nil
        for transformer in transformers {
            guard let operation = (transformer as? ImageTransform)?.operation as? any GeometryOperation else { break }
            if operation.needsPixels {
                if !isScaled, operation.scalesFirst { looking = operation }
                break
            }
            if isScaled, operation.scales { break }
            if operation.scales { isScaled = true }
            operations.append(operation)
        }
    }

    /// How many transformers of the chain are included.
    package var count: Int { operations.count }

    /// Plans the decode of a picture.
    ///
    /// - Parameters:
    ///   - stored: the size in the file.
    ///   - orientation: the turn that makes it upright.
    ///   - isTagged: whether the file states the orientation by a tag. imgproxy gets other pictures upright from their
    ///     decoders, and so crops them as they are shown.
    ///   - isVector: whether it can be drawn in any size.
    ///   - shrinking: how imgproxy decodes it; nil: in its own size.
    /// - Throws: `transformFailed` for a part outside of the picture.
    package func plan(
        stored: PixelSize, orientation: Orientation, isTagged: Bool = true, isVector: Bool,
        shrinking: ImgproxyShrinking? = nil
    ) throws(WebImageError) -> ResizePlan {
        var size = size
        if isVector { size?.upscale = true }
        let first = ResizePlan(stored: stored, orientation: orientation, target: size)
        if operations.isEmpty && looking == nil || stored.isEmpty { return first }
        var fold = GeometryFold(
            source: orientation.displaySize(of: stored), orientation: isTagged ? orientation : .up, isVector: isVector,
            shrinking: shrinking)
        if size != nil {
            let part = orientation.displayRect(of: first.crop, stored: stored)
            fold.scale(part, to: first.outputDisplay, filter: .lanczos3)
        }
        for operation in operations { try operation.fold(into: &fold) }
        try looking?.foldScaling(into: &fold)
        return ResizePlan(stored: stored, orientation: orientation, fold: fold)
    }
}
