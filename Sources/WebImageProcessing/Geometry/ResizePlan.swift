package import WebImageCore

/// Which part of a stored picture is scaled to which size, so that the upright result meets a ``TargetSize``.
///
/// A plan only computes. Hold ``outputDisplay`` against `DecodeLimits` before memory is asked for: a target may ask
/// for any size when it allows upscaling.
package struct ResizePlan: Hashable, Sendable, Codable {
    /// The size of the picture as it is stored.
    package let stored: PixelSize
    /// How the result is turned: upright, and further where the chain turns it.
    package let orientation: Orientation
    /// The part that is used, in stored coordinates. Whole pixels when nothing is scaled.
    package let crop: PixelRect
    /// The pixels that the filter may look at, whole ones in stored coordinates; nil: all.
    package let bounds: PixelRect?
    package let filter: ResampleFilter
    /// The size of the result before the orientation is applied.
    package let outputStored: PixelSize

    /// The size of the result after the orientation is applied.
    package var outputDisplay: PixelSize { orientation.displaySize(of: outputStored) }

    /// True when the result is the stored picture, pixel for pixel (but for its orientation).
    package var isIdentity: Bool { outputStored == stored && crop == PixelRect(stored) }

    /// The plan for a size that is asked for.
    ///
    /// - Parameter target: nil, or a target without sides, keeps the size.
    package init(stored: PixelSize, orientation: Orientation = .up, target: TargetSize? = nil) {
        let display = orientation.displaySize(of: stored)
        let shape = target.map { Shape(display, $0) } ?? Shape(whole: display)
        self.init(stored: stored, orientation: orientation, shape: shape)
    }

    /// The plan that keeps what the frames of a picture take in memory within a limit: as many
    /// pixels as `byteLimit / (bytesPerPixel * frames)`, aspect kept, at least 1x1, never enlarged.
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

    /// The plan for what was folded of crops, a scaling and turns.
    ///
    /// - Parameters:
    ///   - orientation: that of the stored picture.
    ///   - fold: made for the picture as it is shown.
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
    /// The answer in display orientation.
    private struct Shape {
        var output: PixelSize
        /// nil: all of it.
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
                // A side that is not given does not bind: the other one decides.
                var scale = min((wanted.width ?? .infinity) / width, (wanted.height ?? .infinity) / height)
                if !target.upscale { scale = min(scale, 1) }
                self.init(width: width * scale, height: height * scale)
            }
        }

        /// The largest part of the target's aspect, from the centre. Where nothing would be scaled (or would be, upwards,
        /// and may not) the part is whole pixels, so that it is copied and not resampled.
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
            // Rounded down, so that the limit holds. A side that would vanish is 1; then the other takes what is left.
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
    /// Without what rounding puts beyond the right and the lower edge.
    func within(_ size: PixelSize) -> PixelRect {
        PixelRect(
            x: x, y: y, width: min(width, Double(size.width) - x), height: min(height, Double(size.height) - y))
    }

    /// The same part of a picture in another size: the whole pixels that touch it.
    func scaled(_ across: Double, _ down: Double) -> PixelRect {
        let (left, top) = ((x * across).rounded(.down), (y * down).rounded(.down))
        return PixelRect(
            x: left, y: top, width: ((x + width) * across).rounded(.up) - left,
            height: ((y + height) * down).rounded(.up) - top)
    }
}
