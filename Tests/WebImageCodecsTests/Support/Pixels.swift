import Testing

/// Bytes to be compared whose description is short.
struct Pixels: Equatable, CustomTestStringConvertible {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: Int { bytes.count }

    func prefix(_ count: Int) -> Pixels { Pixels(Array(bytes.prefix(count))) }
    func suffix(_ count: Int) -> Pixels { Pixels(Array(bytes.suffix(count))) }

    /// See ``premultipliedMeans(of:)``.
    var premultipliedMeans: [Double] { bytes.withUnsafeBytes { WebImageCodecsTests.premultipliedMeans(of: $0) } }

    /// Average of the absolute differences of all bytes; infinite for different sizes.
    func meanDifference(to other: Pixels) -> Double {
        guard count == other.count, count > 0 else { return .infinity }
        return Double(zip(bytes, other.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(count)
    }

    var testDescription: String {
        let sum = bytes.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        return "\(count) bytes \(String(sum, radix: 16)) from \(bytes.prefix(8))"
    }
}

/// Means of red, green, blue multiplied by alpha, and of alpha. Written for unoptimised builds, which the tests are.
func premultipliedMeans(of pixels: UnsafeRawBufferPointer) -> [Double] {
    let words = pixels.bindMemory(to: UInt32.self)
    guard let start = words.baseAddress else { return [] }
    let count = words.count
    var (red, green, blue, sum) = (UInt(0), UInt(0), UInt(0), UInt(0))
    var index = 0
    while index != count {
        let word = UInt(UInt32(littleEndian: start[index]))
        let alpha = word >> 24
        red &+= (word & 255) &* alpha
        green &+= (word >> 8 & 255) &* alpha
        blue &+= (word >> 16 & 255) &* alpha
        sum &+= alpha
        index &+= 1
    }
    return [red, green, blue].map { Double($0) / 255 / Double(count) } + [Double(sum) / Double(count)]
}
