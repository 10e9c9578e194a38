public import WebImageCore

extension SamplePictures {
    /// Opaque frames of rings that move outwards in a loop, for animations.
    ///
    /// - Parameters:
    ///   - size: the size of each frame.
    ///   - frames: the number of frames; the first one follows the last one.
    ///   - hue: the hue of the rings, 0 to 1.
    public static func waves(_ size: PixelSize, frames: Int, hue: Float) throws(WebImageError) -> [Image] {
        var images: [Image] = []
        for frame in 0..<frames {
            let phase = Float(frame) / Float(max(frames, 1))
            images.append(
                try Canvas.image(size, alpha: .opaque) { canvas in
                    canvas.paint { x, y in wave(x, y, size, phase, hue) }
                })
        }
        return images
    }

    private static func wave(_ x: Int, _ y: Int, _ size: PixelSize, _ phase: Float, _ hue: Float) -> Ink {
        let shorter = Float(min(size.width, size.height))
        let (dx, dy) = (
            (Float(x) + 0.5 - Float(size.width) / 2) / shorter, (Float(y) + 0.5 - Float(size.height) / 2) / shorter
        )
        let distance = (dx * dx + dy * dy).squareRoot()
        let place = distance * 5 - phase
        let ring = place - place.rounded(.down)
        let light = smoothstep(0, 0.45, ring) * (1 - smoothstep(0.55, 1, ring))
        return Ink(hue: hue + distance * 0.35, saturation: 0.75, value: 0.25 + 0.7 * light)
    }
}
