package import WebImageCore

/// The beginning of a chain that is carried out during decoding: crops, turns and at most one scaling. It depends on
/// the chain only, not on the picture.
package struct LeadingGeometry: Sendable {
    private var operations: [any GeometryOperation] = []
    /// The next operation, if it scales the picture and then reads its pixels. Its scaling is carried out during
    /// decoding, too.
    private var chooser: (any GeometryOperation)?
    /// The key of the next operation, if its scaling is included: the decoded picture is of no use to other operations.
    package var chooserKey: String? { chooser?.key }
    private let size: TargetSize?

    /// - Parameters:
    ///   - size: the size to which pictures are scaled before the chain; nil if they are not.
    ///   - transformers: the chain.
    package init(_ size: TargetSize?, _ transformers: [any ImageTransformer]) {
        self.size = size
        var isScaled = size != nil
        for transformer in transformers {
            guard let operation = (transformer as? ImageTransform)?.operation as? any GeometryOperation else { break }
            if operation.needsPixels {
                if !isScaled, operation.scalesFirst { chooser = operation }
                break
            }
            if isScaled, operation.scales { break }
            // imgproxy's later steps need the size that its picture had before, which is not that of the file here.
            if operation is Imgproxy, !operations.isEmpty { break }
            if operation.scales { isScaled = true }
            operations.append(operation)
        }
    }

    /// The number of transformers at the beginning of the chain that are included.
    package var count: Int { operations.count }

    /// Plans the decode of a picture.
    ///
    /// - Parameters:
    ///   - stored: the size in the file.
    ///   - orientation: the turn that makes the picture upright.
    ///   - isTagged: whether the file states the orientation by a tag. Other pictures reach imgproxy already upright
    ///     from its decoders, so that it crops them as they are shown.
    ///   - isVector: whether the picture can be drawn in any size.
    ///   - shrinking: how imgproxy's decoder scales the picture down; nil if it does not.
    /// - Throws: `transformFailed` for a part outside of the picture.
    package func plan(
        stored: PixelSize, orientation: Orientation, isTagged: Bool = true, isVector: Bool,
        shrinking: ImgproxyShrinking? = nil
    ) throws(WebImageError) -> ResizePlan {
        var size = size
        if isVector { size?.upscale = true }
        let first = ResizePlan(stored: stored, orientation: orientation, target: size)
        if operations.isEmpty && chooser == nil || stored.isEmpty { return first }
        var fold = GeometryFold(
            source: orientation.displaySize(of: stored), orientation: isTagged ? orientation : .up, isVector: isVector,
            shrinking: shrinking)
        if size != nil {
            let part = orientation.displayRect(of: first.crop, stored: stored)
            fold.scale(part, to: first.outputDisplay, filter: .lanczos3)
        }
        for operation in operations { try operation.fold(into: &fold) }
        try chooser?.foldScaling(into: &fold)
        return ResizePlan(stored: stored, orientation: orientation, fold: fold)
    }
}
