import WebImageCore
import WebImageTesting

/// The errors in which decoding damaged bytes may end.
let typedCodes: Set<WebImageError.Code> = [.corruptData, .truncatedData, .unsupportedFeature, .limitExceeded]

extension [UInt8] {
    /// The same bytes with one to four flipped bits.
    func damaged(by generator: inout SeededGenerator) -> [UInt8] {
        var bytes = self
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            bytes[Int.random(in: 0..<count, using: &generator)] ^= 1 << UInt8.random(in: 0...7, using: &generator)
        }
        return bytes
    }
}
