import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

/// Decodes with one coder, whatever the registry would choose.
func decode(
    _ bytes: [UInt8], with coder: any ImageCoder, options: DecodeOptions = DecodeOptions(),
    length: () -> Int = { Int.max }
) -> CoderDecode {
    CoderDecode(coder, bytes, options: options, length: length)
}

/// Decodes only the header with this coder.
func header(of bytes: [UInt8], with coder: any ImageCoder) throws -> ImageHeader? {
    let decoder = try coder.makeDecoder(DecodeOptions()) { (_) throws(WebImageError) in DecodePlan(sink: nil) }
    let state = try bytes.withUnsafeBytes { try decoder.push($0) }
    if case .stoppedAtHeader = state {} else { Issue.record("the decoder went on") }
    try decoder.finish()
    return decoder.header
}

/// Checks a decoder with cut-off files, flipped bits and bytes in pieces.
func expectToSurviveDamage(_ bytes: [UInt8], _ coder: any ImageCoder, seed: UInt64, stride step: Int = 1) {
    let whole = decode(bytes, with: coder)
    #expect(whole.error == nil && whole.wasComplete)
    for most in [1, 3, 50, 4000] {
        let pieces = decode(bytes, with: coder, length: randomLengths(seed: seed, most: most))
        #expect(pieces.error == nil && pieces.pixels == whole.pixels && pieces.header == whole.header)
    }
    for count in stride(from: 0, to: bytes.count, by: step) {
        let cut = decode(Array(bytes.prefix(count)), with: coder, length: { 20 })
        #expect(cut.error == nil || cut.error?.code == .truncatedData, "at \(count): \(String(describing: cut.error))")
        if cut.error == nil { #expect(cut.rows == whole.rows) }
    }
    var generator = SeededGenerator(seed: seed)
    // The limit is small, so that a damaged size does not take the time of a large picture.
    let options = DecodeOptions(limits: DecodeLimits(pixels: 1 << 16))
    for _ in 0..<400 {
        var damaged = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            // Half of the bits are flipped in the first bytes, which matter most.
            let limit = Bool.random(using: &generator) ? min(64, bytes.count) : bytes.count
            let index = Int.random(in: 0..<limit, using: &generator)
            damaged[index] ^= 1 << UInt8.random(in: 0...7, using: &generator)
        }
        let result = decode(damaged, with: coder, options: options, length: { 333 })
        if let error = result.error { #expect(typedCodes.contains(error.code), "\(error)") }
    }
}
