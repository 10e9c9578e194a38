import CSysWebP
import WebImageCore

extension BareLibrary {
    static func decodeWebP(_ bytes: [UInt8]) throws -> Int {
        var (width, height) = (Int32(0), Int32(0))
        let pixels = WebPDecodeRGBA(bytes, bytes.count, &width, &height)
        defer { WebPFree(pixels) }
        try check(pixels != nil)
        return Int(width) * Int(height) * 4
    }

    static func encodeWebP(_ image: Image) throws -> Int {
        var output: UnsafeMutablePointer<UInt8>?
        let count = image.withPixels { pixels in
            WebPEncodeRGBA(
                pixels.bindMemory(to: UInt8.self).baseAddress, Int32(image.size.width), Int32(image.size.height),
                Int32(image.pixels.bytesPerRow), 80, &output)
        }
        WebPFree(output)
        try check(count > 0)
        return count
    }
}
