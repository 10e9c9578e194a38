import WebImageCore
import WebImageProcessing

/// Writes one picture in one of Netpbm's formats, always as bytes.
struct PNMEncoder {
    private struct Pixel {
        var red: Int
        var green: Int
        var blue: Int
        var alpha: Int
    }

    /// The picture, upright and with straight alpha.
    private let picture: Image
    private let kind: PortableAnymap
    private let paper: RGBColor
    /// The sample that means white.
    private let most: Int

    /// - Throws: `cannotEncode` if the encoding must be lossless, and the format cannot store all of the picture.
    init(_ image: Image, _ options: EncodeOptions) throws(WebImageError) {
        picture = try image.plain()
        paper = options.background
        most = picture.layout == .rgba16 ? 65_535 : 255
        let hasAlpha = picture.alpha != .opaque
        kind = options.anymap == .automatic ? (hasAlpha ? .arbitrary : .pixmap) : options.anymap
        let keepsAll =
            switch kind {
            case .arbitrary: true
            case .automatic, .pixmap: !hasAlpha
            case .graymap: !hasAlpha && picture.pixels.isGray
            case .bitmap: !hasAlpha && Self.isBlackAndWhite(picture)
            }
        guard !options.isLossless || keepsAll else {
            throw WebImageError(.cannotEncode, "a PNM \(kind.rawValue) does not keep all of the picture", format: .pnm)
        }
    }

    /// - Parameter picture: opaque.
    private static func isBlackAndWhite(_ picture: Image) -> Bool {
        guard picture.pixels.isGray else { return false }
        let length = picture.layout.bytesPerPixel
        return picture.withPixels { bytes in
            stride(from: 0, to: bytes.count, by: length).allSatisfy { red in
                (bytes[red] == 0 || bytes[red] == 255) && bytes[red + length / 4 - 1] == bytes[red]
            }
        }
    }

    func encode() -> [UInt8] {
        let (width, height) = (picture.size.width, picture.size.height)
        switch kind {
        case .graymap:
            return samples(behind: "P5\n\(width) \(height)\n\(most)\n", 1) { output, pixel in put(luma(pixel), &output)
            }
        case .bitmap: return bits(behind: "P4\n\(width) \(height)\n")
        case .arbitrary where picture.alpha != .opaque:
            return samples(behind: arbitraryHeader(4, "RGB_ALPHA"), 4) { output, pixel in
                putColors(pixel, &output)
                put(pixel.alpha, &output)
            }
        case .arbitrary:
            return samples(behind: arbitraryHeader(3, "RGB"), 3) { output, pixel in putColors(pixel, &output) }
        case .automatic, .pixmap:
            return samples(behind: "P6\n\(width) \(height)\n\(most)\n", 3) { output, pixel in
                putColors(onPaper(pixel), &output)
            }
        }
    }

    private func arbitraryHeader(_ depth: Int, _ type: String) -> String {
        "P7\nWIDTH \(picture.size.width)\nHEIGHT \(picture.size.height)\nDEPTH \(depth)\nMAXVAL \(most)\n"
            + "TUPLTYPE \(type)\nENDHDR\n"
    }

    // MARK: samples

    private func samples(
        behind header: String, _ channels: Int, _ append: (inout [UInt8], Pixel) -> Void
    ) -> [UInt8] {
        var output = Array(header.utf8)
        let count = picture.size.width * picture.size.height * channels
        output.reserveCapacity(output.count + count * (most > 255 ? 2 : 1))
        forEachPixel { append(&output, $0) }
        return output
    }

    private func put(_ sample: Int, _ output: inout [UInt8]) {
        if most > 255 { output.append(UInt8(sample >> 8)) }
        output.append(UInt8(truncatingIfNeeded: sample))
    }

    private func putColors(_ pixel: Pixel, _ output: inout [UInt8]) {
        put(pixel.red, &output)
        put(pixel.green, &output)
        put(pixel.blue, &output)
    }

    /// Eight pixels a byte, the first highest, 1 for black; each row begins a byte (Netpbm's pbm(5)).
    private func bits(behind header: String) -> [UInt8] {
        var output = Array(header.utf8)
        let width = picture.size.width
        output.reserveCapacity(output.count + (width + 7) / 8 * picture.size.height)
        var column = 0
        forEachPixel { pixel in
            if column & 7 == 0 { output.append(0) }
            if luma(pixel) * 2 < most { output[output.count - 1] |= 0x80 >> UInt8(column & 7) }
            column = column + 1 == width ? 0 : column + 1
        }
        return output
    }

    // MARK: pixels

    private func forEachPixel(_ body: (Pixel) -> Void) {
        picture.withPixels { bytes in
            if most > 255 {
                forEachPixel(of: bytes.bindMemory(to: UInt16.self), body)
            } else {
                forEachPixel(of: bytes.bindMemory(to: UInt8.self), body)
            }
        }
    }

    private func forEachPixel(
        of channels: UnsafeBufferPointer<some FixedWidthInteger>, _ body: (Pixel) -> Void
    ) {
        let isOpaque = picture.alpha == .opaque
        for index in stride(from: 0, to: channels.count, by: 4) {
            body(
                Pixel(
                    red: Int(channels[index]), green: Int(channels[index + 1]), blue: Int(channels[index + 2]),
                    alpha: isOpaque ? most : Int(channels[index + 3])))
        }
    }

    private func onPaper(_ pixel: Pixel) -> Pixel {
        if pixel.alpha == most { return pixel }
        func laid(_ color: Int, _ paper: UInt8) -> Int {
            (color * pixel.alpha + Int(paper) * (most / 255) * (most - pixel.alpha) + most / 2) / most
        }
        return Pixel(
            red: laid(pixel.red, paper.red), green: laid(pixel.green, paper.green),
            blue: laid(pixel.blue, paper.blue), alpha: most)
    }

    private func luma(_ pixel: Pixel) -> Int {
        let pixel = onPaper(pixel)
        return (pixel.red * 299 + pixel.green * 587 + pixel.blue * 114 + 500) / 1000
    }
}
