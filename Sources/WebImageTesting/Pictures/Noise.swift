/// Reproducible noise: a pure function of position and seed.
struct Noise {
    let seed: UInt32

    /// A value from 0 to 1 that is unrelated to that of its neighbours.
    @inline(__always)
    func grain(_ x: Int32, _ y: Int32) -> Float {
        var bits = UInt32(bitPattern: x) &* 0x8DA6_B343 ^ UInt32(bitPattern: y) &* 0xD816_3841 ^ seed
        bits = (bits ^ bits >> 15) &* 0x2C1B_3C6D
        bits = (bits ^ bits >> 12) &* 0x297A_2D39
        bits ^= bits >> 15
        return Float(bits >> 8) * (1 / 16_777_216)
    }

    /// A smooth value from 0 to 1, with features of size 1.
    @inline(__always)
    func smooth(_ x: Float, _ y: Float) -> Float {
        let (left, top) = (x.rounded(.down), y.rounded(.down))
        let (column, row) = (Int32(left), Int32(top))
        let (u, v) = (x - left, y - top)
        let (across, along) = (u * u * (3 - 2 * u), v * v * (3 - 2 * v))
        let upper = grain(column, row) * (1 - across) + grain(column &+ 1, row) * across
        let lower = grain(column, row &+ 1) * (1 - across) + grain(column &+ 1, row &+ 1) * across
        return upper + (lower - upper) * along
    }

    /// A value from 0 to 1: the sum of several layers of smooth noise, each twice as fine and half as strong as the
    /// previous one.
    @inline(__always)
    func cloud(_ x: Float, _ y: Float, octaves: Int) -> Float {
        var (sum, weight, total) = (Float(0), Float(0.5), Float(0))
        var (x, y) = (x, y)
        for _ in 0..<octaves {
            sum += smooth(x, y) * weight
            total += weight
            weight *= 0.5
            (x, y) = (x * 2.03 + 17.3, y * 2.03 + 5.1)
        }
        return sum / total
    }
}
