package import WebImageCore

/// Which part of a stored picture is scaled to which size, so that the upright result has a ``TargetSize``.
///
/// A plan only computes. Check ``outputDisplay`` against `DecodeLimits` before you allocate memory: a target that
/// allows upscaling may have any size.
package struct ResizePlan: Hashable, Sendable, Codable {
    /// The size of the picture as it is stored.
    package let stored: PixelSize
    /// The orientation of the result, including turns of the chain.
    package let orientation: Orientation
    /// The used part, in stored coordinates. Whole pixels if nothing is scaled.
    package let crop: PixelRect
    /// The whole pixels that the filter may use, in stored coordinates; nil means all.
    package let bounds: PixelRect?
    package let filter: ResampleFilter
    /// The size of the result before the orientation is applied.
    package let outputStored: PixelSize

    /// The size of the result after the orientation is applied.
    package var outputDisplay: PixelSize { orientation.displaySize(of: outputStored) }

    /// True if the result has exactly the pixels of the stored picture, apart from its orientation.
    package var isIdentity: Bool { outputStored == stored && crop == PixelRect(stored) }

    /// The plan for a requested size.
    ///
    /// - Parameter target: the requested size; nil, or a target without sides, keeps the size.
    package init(stored: PixelSize, orientation: Orientation = .up, target: TargetSize? = nil) {
        let display = orientation.displaySize(of: stored)
        let shape = target.map { Shape(display, $0) } ?? Shape(whole: display)
        self.init(stored: stored, orientation: orientation, shape: shape)
    }

    /// The plan that limits the memory of a picture's frames: at most `byteLimit / (bytesPerPixel * frames)` pixels,
    /// with the same aspect ratio, at least 1x1, never enlarged.
    package init(
        stored: PixelSize, orientation: Orientation = .up, byteLimit: ByteCount, bytesPerPixel: Int = 4, frames: Int = 1
    ) {
        let display = orientation.displaySize(of: stored)
        let pixels = max(byteLimit.bytes, 0) / max(bytesPerPixel, 1) / max(frames, 1)
        self.init(stored: stored, orientation: orientation, shape: Shape(display, pixels: pixels))
    }

    /// The plan with the same result for the same picture in another size.
    package init(_ plan: ResizePlan, from size: PixelSize) {
        stored = size
        orientation = plan.orientation
        outputStored = plan.outputStored
        filter = plan.filter
        let x = Double(size.width) / Double(plan.stored.width)
        let y = Double(size.height) / Double(plan.stored.height)
        let part = plan.crop
        crop =
            part == PixelRect(plan.stored)
            ? PixelRect(size)
            : PixelRect(x: part.x * x, y: part.y * y, width: part.width * x, height: part.height * y).within(size)
        bounds = plan.bounds.map { $0.scaled(x, y).within(size) }
    }

    /// The plan for combined crops, scaling and turns.
    ///
    /// - Parameters:
    ///   - orientation: the orientation of the stored picture.
    ///   - fold: the combined steps, made for the displayed picture.
    init(stored: PixelSize, orientation: Orientation, fold: GeometryFold) {
        let turned = orientation.followed(by: fold.turn)
        self.stored = stored
        self.orientation = turned
        crop = turned.storedRect(of: fold.part, stored: stored)
        let view = turned.storedRect(of: fold.view, stored: stored)
        bounds = view == PixelRect(stored) ? nil : view
        outputStored = turned.storedSize(of: fold.size)
        filter = fold.filter
    }

    private init(stored: PixelSize, orientation: Orientation, shape: Shape) {
        self.stored = stored
        self.orientation = orientation
        self.crop = shape.crop.map { orientation.storedRect(of: $0, stored: stored) } ?? PixelRect(stored)
        self.outputStored = orientation.storedSize(of: shape.output)
        bounds = nil
        filter = .lanczos3
    }
}

extension ResizePlan {
    /// The result in display orientation.
    private struct Shape {
        var output: PixelSize
        /// The part that is kept; nil means the whole picture.
        var crop: PixelRect?

        init(whole size: PixelSize) { output = size }

        init(_ original: PixelSize, _ target: TargetSize) {
            guard !original.isEmpty, target.width != nil || target.height != nil else {
                self.init(whole: original)
                return
            }
            let (width, height) = (Double(original.width), Double(original.height))
            let wanted = (width: target.width.map(Double.init), height: target.height.map(Double.init))
            switch (target.fit, wanted.width, wanted.height) {
            case (.fill, let wantedWidth?, let wantedHeight?):
                self.init(
                    width: target.upscale ? wantedWidth : min(wantedWidth, width),
                    height: target.upscale ? wantedHeight : min(wantedHeight, height))
            case (.cover, let wantedWidth?, let wantedHeight?):
                let scale = max(wantedWidth / width, wantedHeight / height)
                self.init(covering: (wantedWidth, wantedHeight), of: original, scale: scale, upscale: target.upscale)
            default:
                // A missing side does not limit: the other one decides.
                var scale = min((wanted.width ?? .infinity) / width, (wanted.height ?? .infinity) / height)
                if !target.upscale { scale = min(scale, 1) }
                self.init(width: width * scale, height: height * scale)
            }
        }

        /// The largest centred part with the target's aspect ratio. If nothing is scaled (or would only be enlarged,
        /// which is not allowed) the part is whole pixels, so that it is copied and not resampled.
        private init(
            covering wanted: (width: Double, height: Double), of original: PixelSize, scale: Double, upscale: Bool
        ) {
            let (width, height) = (Double(original.width), Double(original.height))
            guard scale == 1 || (scale > 1 && !upscale) else {
                self.init(width: wanted.width, height: wanted.height)
                let part = (min(wanted.width / scale, width), min(wanted.height / scale, height))
                crop = PixelRect(
                    x: (width - part.0) / 2, y: (height - part.1) / 2, width: part.0, height: part.1)
                return
            }
            self.init(width: min(wanted.width / scale, width), height: min(wanted.height / scale, height))
            crop = PixelRect(
                x: Double((original.width - output.width) / 2), y: Double((original.height - output.height) / 2),
                width: Double(output.width), height: Double(output.height))
        }

        init(_ original: PixelSize, pixels: Int) {
            guard !original.isEmpty, original.pixelCount.map({ $0 > pixels }) ?? true else {
                self.init(whole: original)
                return
            }
            let limit = Double(max(pixels, 1))
            let aspect = Double(original.width) / Double(original.height)
            // The number is rounded down, so that the limit holds. A side that would be 0 is 1; the other side then
            // takes the remaining pixels.
            let width = min(max((limit * aspect).squareRoot().rounded(.down), 1), limit)
            let height = min(max((limit / aspect).squareRoot().rounded(.down), 1), limit)
            self.init(width: width, height: height)
        }

        private init(width: Double, height: Double) {
            output = PixelSize(width: Self.side(width), height: Self.side(height))
        }

        /// The nearest whole side, at least 1; no finite picture has more than 2^40 pixels in a row.
        private static func side(_ length: Double) -> Int {
            Int(min(max(length.rounded(.toNearestOrAwayFromZero), 1), 0x1p40))
        }
    }
}

extension PixelRect {
    /// The rectangle without what rounding puts beyond the right and the lower edge.
    func within(_ size: PixelSize) -> PixelRect {
        PixelRect(
            x: x, y: y, width: min(width, Double(size.width) - x), height: min(height, Double(size.height) - y))
    }

    /// The same part of a picture in another size: the whole pixels that it touches.
    func scaled(_ across: Double, _ down: Double) -> PixelRect {
        let (left, top) = ((x * across).rounded(.down), (y * down).rounded(.down))
        return PixelRect(
            x: left, y: top, width: ((x + width) * across).rounded(.up) - left,
            height: ((y + height) * down).rounded(.up) - top)
    }
}
