import WebImageCore
import WebImageProcessing

extension Image {
    /// The picture for a file whose frames all have alpha; the alpha channel of an opaque picture is set to opaque.
    func withFullAlpha() throws(WebImageError) -> Image {
        guard alpha == .opaque else { return self }
        var info = self.info
        info.alpha = .straight
        guard !pixels.isOpaque else { return Image(pixels: pixels, info: info) }
        let copy = try PixelBuffer(size: size, layout: layout)
        withPixels { copy.mutableBytes.copyMemory(from: $0) }
        let (step, length) = (layout.bytesPerPixel, layout.bytesPerPixel / 4)
        let bytes = copy.mutableBytes
        for pixel in stride(from: 0, to: bytes.count, by: step) {
            for index in step - length..<step { bytes[pixel + index] = 0xFF }
        }
        return Image(pixels: copy, info: info)
    }
}
