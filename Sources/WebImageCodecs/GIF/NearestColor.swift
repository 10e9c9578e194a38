/// Finds the nearest of a few colours. Its owner must free it.
///
/// Distances weigh green more than red, and red more than blue, as human vision does.
struct NearestColor {
    /// The weights of red, green and blue.
    static let weights = SIMD3<Int32>(4, 8, 3)

    let count: Int
    /// Sorted by green, so that a search can end when the difference in green alone is too large.
    private let colors: UnsafeMutablePointer<SIMD4<Int32>>
    /// The first colour with at least that much green.
    private let firsts: UnsafeMutablePointer<Int>

    /// - Parameter sorted: by green, not empty; searches return indices into it.
    init(sorted: [UInt32]) {
        count = sorted.count
        colors = .allocate(capacity: max(count, 1))
        firsts = .allocate(capacity: 256)
        for (index, color) in sorted.enumerated() { (colors + index).initialize(to: Self.channels(of: color)) }
        var next = 0
        for green in 0..<256 {
            while next < count, colors[next].y < green { next += 1 }
            (firsts + green).initialize(to: next)
        }
    }

    func free() {
        colors.deallocate()
        firsts.deallocate()
    }

    /// Red, green and blue of a colour; the fourth is 0.
    @inline(__always)
    static func channels(of color: UInt32) -> SIMD4<Int32> {
        SIMD4(
            Int32(truncatingIfNeeded: color & 255), Int32(truncatingIfNeeded: color >> 8 & 255),
            Int32(truncatingIfNeeded: color >> 16 & 255), 0)
    }

    static func sorted(_ colors: [UInt32]) -> [UInt32] {
        colors.sorted { ($0 >> 8 & 255, $0) < ($1 >> 8 & 255, $1) }
    }

    @inline(__always)
    func color(_ number: Int) -> SIMD4<Int32> { colors[number] }

    /// - Parameter wanted: channels from 0 to 255.
    func search(_ wanted: SIMD4<Int32>) -> (number: Int, distance: Int32) {
        var up = firsts[Int(wanted.y)]
        var down = up - 1
        var best = (number: 0, distance: Int32.max)
        while up < count || down >= 0 {
            if up < count { up = look(at: up, wanted, &best) ? up &+ 1 : count }
            if down >= 0 { down = look(at: down, wanted, &best) ? down &- 1 : -1 }
        }
        return best
    }

    /// - Returns: whether colours further on may be nearer.
    @inline(__always)
    private func look(at index: Int, _ wanted: SIMD4<Int32>, _ best: inout (number: Int, distance: Int32)) -> Bool {
        let color = colors[index]
        let green = color.y &- wanted.y
        var distance = green &* green &* Self.weights.y
        guard distance < best.distance else { return false }
        let (red, blue) = (color.x &- wanted.x, color.z &- wanted.z)
        distance &+= red &* red &* Self.weights.x &+ blue &* blue &* Self.weights.z
        if distance < best.distance { best = (index, distance) }
        return true
    }
}
