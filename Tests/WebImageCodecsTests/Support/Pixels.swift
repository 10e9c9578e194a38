import Testing

/// Bytes of pixels that can be compared and have a short description.
struct Pixels: Equatable, CustomTestStringConvertible {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: Int { bytes.count }

    func prefix(_ count: Int) -> Pixels { Pixels(Array(bytes.prefix(count))) }
    func suffix(_ count: Int) -> Pixels { Pixels(Array(bytes.suffix(count))) }

    /// See ``premultipliedMeans(of:)``.
    var premultipliedMeans: [Double] { bytes.withUnsafeBytes { WebImageCodecsTests.premultipliedMeans(of: $0) } }

    /// The mean absolute difference of all bytes; infinite if the counts differ.
    func meanDifference(to other: Pixels) -> Double {
        guard count == other.count, count > 0 else { return .infinity }
        return Double(zip(bytes, other.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(count)
    }

    var testDescription: String {
        let sum = bytes.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        return "\(count) bytes \(String(sum, radix: 16)) from \(bytes.prefix(8))"
    }
}

/// The means of red, green and blue multiplied by alpha, and of alpha. The code is written to be fast in unoptimised
/// builds, in which the tests run.
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
