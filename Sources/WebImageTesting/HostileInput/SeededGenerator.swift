/// SplitMix64, by Sebastiano Vigna. It gives the same numbers for the same seed in every process, so that failures can
/// be reproduced.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns `count` random bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        let words = (0..<(count + 7) / 8).map { _ in next() }
        return words.withUnsafeBytes { Array($0.prefix(count)) }
    }

    /// A number from 0 to `count` - 1.
    package mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }
}

extension [UInt8] {
    /// The same bytes with `flips` bits inverted at random positions.
    package func withFlippedBits(_ flips: Int, by generator: inout SeededGenerator) -> [UInt8] {
        var bytes = self
        for _ in 0..<flips where !isEmpty { bytes[generator.below(count)] ^= 1 << UInt8(generator.below(8)) }
        return bytes
    }
}
