import WebImageCore

/// The colours of a picture in a few groups, by k-means in Oklab (Lloyd's method). Deterministic: the same colours
/// result in the same groups.
struct ColorClusters {
    /// Colours that are nearer are hardly distinguishable and make one group.
    private static let nearest = 0.04 * 0.04
    private static let maxRounds = 24

    /// The bins of each group; none is empty.
    let groups: [[ColorBins.Bin]]

    /// - Parameter count: how many groups there are at most.
    init(_ bins: [ColorBins.Bin], count: Int) {
        var centers = Self.firstCenters(bins, count: count)
        var places: [Int] = []
        for _ in 0..<Self.maxRounds {
            let next = bins.map { Self.place(of: $0.lab, in: centers) }
            if next == places { break }
            places = next
            centers = Self.means(bins, places, centers)
        }
        var groups = [[ColorBins.Bin]](repeating: [], count: centers.count)
        for (bin, place) in zip(bins, places) { groups[place].append(bin) }
        self.groups = groups.filter { !$0.isEmpty }
    }

    /// The most frequent colour first, then repeatedly the one with the greatest weighted distance to the others.
    private static func firstCenters(_ bins: [ColorBins.Bin], count: Int) -> [SIMD3<Double>] {
        guard var next = bins.indices.max(by: { bins[$0].weight < bins[$1].weight }) else { return [] }
        var centers: [SIMD3<Double>] = []
        var distances = [Double](repeating: .infinity, count: bins.count)
        while centers.count < count {
            centers.append(bins[next].lab)
            var most = 0.0
            for (index, bin) in bins.enumerated() {
                distances[index] = min(distances[index], OklabColor.squaredDistance(bin.lab, bins[next].lab))
            }
            var found: Int?
            for (index, bin) in bins.enumerated() where distances[index] > nearest {
                let worth = distances[index] * bin.weight
                if worth > most { (most, found) = (worth, index) }
            }
            guard let found else { break }
            next = found
        }
        return centers
    }

    private static func place(of color: SIMD3<Double>, in centers: [SIMD3<Double>]) -> Int {
        var (place, least) = (0, Double.infinity)
        for (index, center) in centers.enumerated() {
            let distance = OklabColor.squaredDistance(color, center)
            if distance < least { (place, least) = (index, distance) }
        }
        return place
    }

    /// The middle of each group; an empty one keeps the one that it had.
    private static func means(
        _ bins: [ColorBins.Bin], _ places: [Int], _ centers: [SIMD3<Double>]
    ) -> [SIMD3<Double>] {
        var sums = [SIMD3<Double>](repeating: .zero, count: centers.count)
        var weights = [Double](repeating: 0, count: centers.count)
        for (bin, place) in zip(bins, places) {
            sums[place] += bin.lab * bin.weight
            weights[place] += bin.weight
        }
        return centers.indices.map { weights[$0] > 0 ? sums[$0] / weights[$0] : centers[$0] }
    }
}
