import WebImageTesting

/// Makes PNG files of every kind, uncompressed and without libpng.
struct PNGMaker {
    enum Color: Int { case grey = 0, rgb = 2, palette = 3, greyAlpha = 4, rgba = 6 }

    var width: Int
    var height: Int
    var color: Color
    var depth: Int
    var isInterlaced = false
    /// One entry for each pixel and channel, `depth` bits each.
    var samples: [UInt16]
    var palette: [[UInt8]] = []
    var transparency: [UInt8]?
    /// Additional chunks: `before` between the header and the data, `after` between the data and the end.
    var before: [(name: String, data: [UInt8])] = []
    var after: [(name: String, data: [UInt8])] = []

    var channels: Int { [.grey: 1, .rgb: 3, .palette: 1, .greyAlpha: 2, .rgba: 4][color] ?? 0 }

    /// The signature and the `IHDR` chunk.
    func header() -> [UInt8] {
        let fields = big(width, 4) + big(height, 4) + [UInt8(depth), UInt8(color.rawValue), 0, 0, isInterlaced ? 1 : 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Self.chunk("IHDR", fields)
    }

    func file() -> [UInt8] {
        var out = header()
        if color == .palette { out += Self.chunk("PLTE", palette.flatMap { $0.prefix(3) }) }
        if let transparency { out += Self.chunk("tRNS", transparency) }
        for (name, data) in before { out += Self.chunk(name, data) }
        out += Self.chunk("IDAT", Self.zlib(rows()))
        for (name, data) in after { out += Self.chunk(name, data) }
        return out + Self.chunk("IEND", [])
    }

    private func rows() -> [UInt8] {
        guard isInterlaced else {
            return (0..<height).flatMap { y in row((0..<width).map { (x: $0, y: y) }) }
        }
        // The start and step of each pass, x before y (PNG specification, 8.2).
        let passes = [(0, 8, 0, 8), (4, 8, 0, 8), (0, 4, 4, 8), (2, 4, 0, 4), (0, 2, 2, 4), (1, 2, 0, 2), (0, 1, 1, 2)]
        var out: [UInt8] = []
        for (x0, dx, y0, dy) in passes {
            for y in stride(from: y0, to: height, by: dy) {
                let pixels = stride(from: x0, to: width, by: dx).map { (x: $0, y: y) }
                if !pixels.isEmpty { out += row(pixels) }
            }
        }
        return out
    }

    private func row(_ pixels: [(x: Int, y: Int)]) -> [UInt8] {
        var out: [UInt8] = [0]
        var (bits, count) = (0, 0)
        for pixel in pixels {
            for channel in 0..<channels {
                bits = bits << depth | Int(samples[(pixel.y * width + pixel.x) * channels + channel])
                count += depth
                while count >= 8 {
                    out.append(UInt8(truncatingIfNeeded: bits >> (count - 8)))
                    count -= 8
                }
                bits &= (1 << count) - 1
            }
        }
        if count > 0 { out.append(UInt8(truncatingIfNeeded: bits << (8 - count))) }
        return out
    }

    static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + data
        return big(data.count, 4) + body + big(Int(Checksum.crc32(body)), 4)
    }

    static func zlib(_ data: [UInt8]) -> [UInt8] {
        var out: [UInt8] = [0x78, 0x01]
        var rest = data[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            let length = [UInt8(block.count & 255), UInt8(block.count >> 8)]
            out += [rest.isEmpty ? 1 : 0] + length + length.map { ~$0 } + block
        } while !rest.isEmpty
        return out + big(Int(Checksum.adler32(data)), 4)
    }
}

func big(_ value: Int, _ bytes: Int) -> [UInt8] {
    (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
}

extension PNGMaker {
    /// A picture of random samples.
    static func random(
        _ color: Color, depth: Int, size: (Int, Int), isInterlaced: Bool, isKeyed: Bool, seed: UInt64
    ) -> PNGMaker {
        var generator = SeededGenerator(seed: seed)
        var maker = PNGMaker(
            width: size.0, height: size.1, color: color, depth: depth, isInterlaced: isInterlaced, samples: [])
        let most = UInt16((1 << depth) - 1)
        maker.samples = (0..<size.0 * size.1 * maker.channels).map { _ in .random(in: 0...most, using: &generator) }
        if color == .palette {
            maker.palette = (0...Int(most)).map { _ in (0..<4).map { _ in .random(in: 0...255, using: &generator) } }
            if isKeyed { maker.transparency = maker.palette.map { $0[3] } }
        } else if isKeyed {
            // The colour of the first pixel is the transparent one.
            maker.transparency = maker.samples.prefix(maker.channels).flatMap { big(Int($0), 2) }
        }
        return maker
    }

    /// The pixels that a decoder must return, with 16 bits a channel. If the file has 8 bits, its values are the upper
    /// bytes.
    func expectedPixels() -> [[UInt16]] {
        (0..<width * height).map { index in
            let own = Array(samples[index * channels..<(index + 1) * channels])
            switch color {
            case .palette:
                let entry = palette[Int(own[0])]
                return (entry.prefix(3) + [transparency == nil ? 255 : entry[3]]).map { UInt16($0) << 8 | UInt16($0) }
            case .grey: return Array(repeating: wide(own[0]), count: 3) + [keyAlpha(own)]
            case .greyAlpha: return Array(repeating: wide(own[0]), count: 3) + [wide(own[1])]
            case .rgb: return own.map(wide) + [keyAlpha(own)]
            case .rgba: return own.map(wide)
            }
        }
    }

    /// The pixels that a decoder must return, rounded to the nearest 8 bits a channel.
    func expectedBytes() -> Pixels {
        Pixels(expectedPixels().flatMap { $0.map { UInt8((Int($0) * 255 + 32_767) / 65_535) } })
    }

    private func wide(_ sample: UInt16) -> UInt16 {
        UInt16(Int(sample) * 65_535 / ((1 << depth) - 1))
    }

    private func keyAlpha(_ own: [UInt16]) -> UInt16 {
        guard let transparency else { return 65_535 }
        return own.flatMap { big(Int($0), 2) } == transparency ? 0 : 65_535
    }
}
