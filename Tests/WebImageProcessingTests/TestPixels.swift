import WebImageCore
import WebImageTesting

extension PixelSize {
    init(_ width: Int, _ height: Int) { self.init(width: width, height: height) }
}

extension PixelLayout {
    var top: Int { self == .rgba8 ? 255 : 65_535 }
}

extension PixelBuffer {
    /// All channels of all pixels, one after another, whatever their depth.
    var channels: [Int] {
        withBytes { bytes in
            layout == .rgba8
                ? bytes.map { Int($0) } : bytes.bindMemory(to: UInt16.self).map { Int($0) }
        }
    }

    static func make(_ size: PixelSize, _ channels: [Int]) throws -> PixelBuffer { try make(size, .rgba8, channels) }

    static func constant(_ size: PixelSize, _ pixel: [Int]) throws -> PixelBuffer {
        try constant(size, .rgba8, pixel)
    }

    static func make(_ size: PixelSize, _ layout: PixelLayout, _ channels: [Int]) throws -> PixelBuffer {
        let buffer = try PixelBuffer(size: size, layout: layout)
        for (index, value) in channels.enumerated() {
            if layout == .rgba8 {
                buffer.mutableBytes.storeBytes(of: UInt8(value), toByteOffset: index, as: UInt8.self)
            } else {
                buffer.mutableBytes.storeBytes(of: UInt16(value), toByteOffset: index * 2, as: UInt16.self)
            }
        }
        return buffer
    }

    static func constant(_ size: PixelSize, _ layout: PixelLayout, _ pixel: [Int]) throws -> PixelBuffer {
        try make(size, layout, Array(repeatElement(pixel, count: size.width * size.height).joined()))
    }

    /// Noise with hard edges and, if there is alpha, with fully transparent and fully opaque stretches.
    static func random(
        _ size: PixelSize, _ layout: PixelLayout = .rgba8, alpha: AlphaMode, seed: UInt64
    ) throws -> PixelBuffer {
        var random = SeededGenerator(seed: seed)
        let top = layout.top
        var channels: [Int] = []
        for _ in 0..<size.width * size.height {
            for _ in 0..<3 {
                channels.append([0, top, Int.random(in: 0...top, using: &random)].randomElement(using: &random) ?? 0)
            }
            let some = Int.random(in: 0...top, using: &random)
            channels.append(alpha == .opaque ? top : [0, top, some, 1].randomElement(using: &random) ?? 0)
        }
        return try make(size, layout, channels)
    }

    func pixel(_ x: Int, _ y: Int) -> [Int] {
        let pixel = UnsafeRawPointer(row(y) + x * layout.bytesPerPixel)
        return (0..<4).map { channel in
            layout == .rgba8
                ? Int(pixel.load(fromByteOffset: channel, as: UInt8.self))
                : Int(pixel.load(fromByteOffset: channel * 2, as: UInt16.self))
        }
    }
}
