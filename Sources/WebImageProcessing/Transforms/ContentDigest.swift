import WebImageCore

/// 128 bits that identify pictures and tables of the program. Each word takes two multiplications to 128 bits. The
/// digest is fast and safe against accidental collisions, but not against deliberate ones.
struct ContentDigest: Hashable, Sendable, CustomStringConvertible {
    private var first: UInt64 = 0x9E37_79B9_7F4A_7C15
    private var second: UInt64 = 0xC2B2_AE3D_27D4_EB4F

    init() {}

    init(of values: [Float]) {
        self.init()
        for value in values { add(UInt64(value.bitPattern)) }
        add(UInt64(values.count))
    }

    /// The digest of a picture's size, depth, alpha, pixels and orientation.
    init(of image: Image) {
        self.init()
        let facts = [
            image.size.width, image.size.height, Int(image.layout.rawValue), Int(image.alpha.rawValue),
            Int(image.info.orientation.rawValue),
        ]
        for value in facts { add(UInt64(value)) }
        image.withPixels { bytes in
            for start in stride(from: 0, to: bytes.count - 7, by: 8) {
                add(bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self))
            }
            for index in bytes.count / 8 * 8..<bytes.count { add(UInt64(bytes[index])) }
        }
    }

    mutating func add(_ word: UInt64) {
        first = Self.mixed(first ^ word, 0xA076_1D64_78BD_642F)
        second = Self.mixed(second &+ word, 0xE703_7ED1_A0B4_28DB)
    }

    private static func mixed(_ value: UInt64, _ factor: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: factor)
        return product.high ^ product.low &+ value
    }

    var description: String { String(first, radix: 16) + String(second, radix: 16) }
}
