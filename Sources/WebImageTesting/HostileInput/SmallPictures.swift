package import WebImageCodecs
package import WebImageCore

/// Small files of every format that can be made by code. Tests damage them, and fuzzers start from them.
package enum SmallPictures {
    package struct File: CustomStringConvertible, Sendable {
        package let name: String
        package let format: ImageFormat
        package let bytes: [UInt8]
        package var description: String { name }
    }

    /// Files from the registry's encoders, and files that are assembled by hand.
    package static func all(_ registry: CoderRegistry = .standard) -> [File] {
        encoded(registry) + gifs + pnms + bitmaps + tiffs + icons(registry) + drawings + sequences(registry)
    }

    private static func sequences(_ registry: CoderRegistry) -> [File] {
        #if HEIF
            guard registry.decodableFormats.contains(.heicSequence) else { return [] }
            return [false, true].map { hasAlpha in
                File(
                    name: "sequence\(hasAlpha ? " with alpha" : "")", format: .heicSequence,
                    bytes: HEICSequenceMaker(hasAlpha: hasAlpha).file())
            }
        #else
            return []
        #endif
    }

    private static func encoded(_ registry: CoderRegistry) -> [File] {
        let formats = Set(registry.coders.flatMap(\.encodableFormats)).sorted { $0.rawValue < $1.rawValue }
        let pictures: [(name: String, layout: PixelLayout, alpha: AlphaMode)] = [
            ("opaque", .rgba8, .opaque), ("alpha", .rgba8, .straight), ("deep", .rgba16, .straight),
        ]
        return formats.flatMap { format in
            pictures.compactMap { name, layout, alpha in
                guard let image = try? drawing(PixelSize(width: 24, height: 20), layout, alpha),
                    let coder = try? registry.encoder(for: format),
                    let bytes = try? coder.encode(image, as: format, EncodeOptions())
                else { return nil }
                return File(name: "\(format.rawValue) \(name)", format: format, bytes: bytes)
            }
        }
    }

    /// Smooth colours with a few hard edges.
    private static func drawing(_ size: PixelSize, _ layout: PixelLayout, _ alpha: AlphaMode) throws -> Image {
        try Image(size: size, layout: layout, alpha: alpha) { bytes in
            let step = layout.bytesPerPixel / 4
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let pixel = [x * 10, y * 12, (x / 8 + y / 8) % 2 * 200, alpha == .opaque ? 255 : (x + y) * 5]
                    for (channel, value) in pixel.enumerated() {
                        let at = ((y * size.width + x) * 4 + channel) * step
                        for byte in 0..<step { bytes[at + byte] = UInt8(truncatingIfNeeded: value) }
                    }
                }
            }
        }
    }

    // MARK: GIF

    private static var gifs: [File] {
        [false, true].map { isInterlaced in
            File(name: isInterlaced ? "gif interlaced" : "gif", format: .gif, bytes: gif(isInterlaced: isInterlaced))
        }
    }

    /// Three frames of 4 colours that loop for ever, with each disposal method.
    private static func gif(isInterlaced: Bool) -> [UInt8] {
        let palette: [UInt8] = [0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255]
        var out = Array("GIF89a".utf8) + little(12, 2) + little(10, 2) + [0x91, 0, 0] + palette
        out += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
        for (frame, disposal) in [1, 2, 3].enumerated() {
            let (x, width) = (frame, 12 - frame * 2)
            out += [0x21, 0xF9, 4, UInt8(disposal << 2 | 1), 5, 0, 3, 0]
            out += [0x2C] + little(x, 2) + little(0, 2) + little(width, 2) + little(10, 2) + [isInterlaced ? 0x40 : 0]
            let data = lzw((0..<width * 10).map { ($0 / 3 + frame) % 4 })
            out += [2, UInt8(data.count)] + data + [0]
        }
        return out + [0x3B]
    }

    /// Codes of three bits, with clear codes so often that the codes never become longer.
    private static func lzw(_ indices: [Int]) -> [UInt8] {
        let codes = indices.enumerated().flatMap { $0.offset % 2 == 0 ? [4, $0.element] : [$0.element] } + [5]
        var bits: [Int] = codes.flatMap { [$0 & 1, $0 >> 1 & 1, $0 >> 2] }
        while bits.count % 8 != 0 { bits.append(0) }
        return stride(from: 0, to: bits.count, by: 8).map { start in
            UInt8((0..<8).reduce(0) { $0 | bits[start + $1] << $1 })
        }
    }

    // MARK: Formats without compression

    private static var pnms: [File] {
        // If the last number had several digits, a cut within it would not be detectable.
        let texts = [
            "P1 # plain\n3 2\n1 0 1 0 1 0\n", "P2\n3 2\n15\n0 3 7 9 11 5\n", "P3\n2 1\n255\n1 2 3 250 251 2\n",
            "P4\n9 2\nabcd", "P5\n3 2\n255\nabcdef", "P5\n2 1\n65535\nabcd", "P6\n2 1\n255\nabcdef",
            "P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nabcdefgh",
        ]
        return texts.map { File(name: "pnm \($0.prefix(2))", format: .pnm, bytes: Array($0.utf8)) }
    }

    private static var bitmaps: [File] {
        let palette = (0..<16).flatMap { (color: Int) -> [UInt8] in
            little(color * 16, 1) + little(255 - color * 16, 1) + [128, 0]
        }
        let runs: [UInt8] = [3, 1, 0, 3, 2, 3, 4, 0, 0, 0, 2, 5, 0, 2, 1, 1, 2, 6, 0, 1]
        let four: [UInt8] = [0x12, 0x34, 0x50, 0, 0x54, 0x32, 0x10, 0]
        return [
            File(
                name: "bmp runs", format: .bmp,
                bytes: bitmap(width: 6, height: 4, depth: 8, compression: 1, palette, runs)),
            File(
                name: "bmp 4 bits", format: .bmp,
                bytes: bitmap(width: 5, height: -2, depth: 4, compression: 0, palette, four)),
        ]
    }

    private static func bitmap(
        width: Int, height: Int, depth: Int, compression: Int, _ palette: [UInt8], _ data: [UInt8]
    ) -> [UInt8] {
        let start = 54 + palette.count
        let file = Array("BM".utf8) + little(start + data.count, 4) + little(0, 4) + little(start, 4)
        return file + dib(width, height, depth, compression, data.count, palette.count / 4) + palette + data
    }

    private static func dib(
        _ width: Int, _ height: Int, _ depth: Int, _ compression: Int, _ count: Int, _ colors: Int
    ) -> [UInt8] {
        little(40, 4) + little(width, 4) + little(height, 4) + little(1, 2) + little(depth, 2) + little(compression, 4)
            + little(count, 4) + little(2835, 4) + little(2835, 4) + little(colors, 4) + little(0, 4)
    }

    private static func icons(_ registry: CoderRegistry) -> [File] {
        let pixels = (0..<16).flatMap { (pixel: Int) -> [UInt8] in
            little(pixel * 9, 1) + [80, 200] + little(pixel * 17, 1)
        }
        let bitmap = dib(4, 8, 32, 0, pixels.count, 0) + pixels + [UInt8](repeating: 0, count: 16)
        let png = encoded(registry).first { $0.format == .png }?.bytes ?? []
        let first = 6 + 2 * 16
        let small: [UInt8] = [4, 4, 0, 0, 1, 0, 32, 0]
        let large: [UInt8] = [24, 20, 0, 0, 1, 0, 32, 0]
        let entries =
            small + little(bitmap.count, 4) + little(first, 4) + large + little(png.count, 4)
            + little(first + bitmap.count, 4)
        let kinds: [(format: ImageFormat, number: Int)] = [(.ico, 1), (.cur, 2)]
        return kinds.map { format, number in
            let directory = little(0, 2) + little(number, 2) + little(2, 2)
            return File(name: format.rawValue, format: format, bytes: directory + entries + bitmap + png)
        }
    }

    private static var tiffs: [File] {
        let tags: [(id: Int, value: Int)] = [
            (256, 6), (257, 4), (258, 8), (259, 1), (262, 1), (273, 8), (274, 6), (277, 1), (278, 4), (279, 24),
        ]
        let pixels = (0..<24).map { UInt8($0 * 10) }
        let directory = tags.flatMap { little($0.id, 2) + little(4, 2) + little(1, 4) + little($0.value, 4) }
        let bytes =
            Array("II*\0".utf8) + little(8 + pixels.count, 4) + pixels + little(tags.count, 2) + directory
            + little(0, 4)
        #if TIFF
            return [File(name: "tiff", format: .tiff, bytes: bytes)]
        #else
            return []
        #endif
    }

    private static var drawings: [File] {
        var files: [File] = []
        #if SVG
            let svg = """
                <svg xmlns="http://www.w3.org/2000/svg" width="24" height="20"><rect x="2" width="9" height="7" fill="red"/>
                <g transform="scale(2)"><path d="M1 1L9 3Z" stroke="#00f8"/></g></svg>
                """
            files.append(File(name: "svg", format: .svg, bytes: Array(svg.utf8)))
        #endif
        #if PDF
            let pdf = """
                %PDF-1.4
                1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
                2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
                3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 24 20]/Contents 4 0 R>> endobj
                4 0 obj <</Length 20>> stream
                1 0 0 rg 2 2 9 7 re f
                endstream endobj
                trailer <</Root 1 0 R>>
                %%EOF
                """
            files.append(File(name: "pdf", format: .pdf, bytes: Array(pdf.utf8)))
        #endif
        return files
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
