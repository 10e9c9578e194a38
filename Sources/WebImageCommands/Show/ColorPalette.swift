import WebImage

/// A small set of colours that approximates those of a picture.
protocol ColorPalette {
    /// Makes a palette of at most `most` colours; an empty one if nothing of the picture is drawn.
    static func make(for bitmap: Bitmap, most: Int) -> Self
    var colors: [RGBColor] { get }
    /// The index of the nearest colour in ``colors``.
    mutating func index(of color: RGBColor) -> Int
}

/// The picture's own colours if they are few. Otherwise the averages of boxes of colours: boxes are halved at the
/// median of their longest side until there are enough (Heckbert, 1982).
struct MedianCutPalette: ColorPalette {
    private(set) var colors: [RGBColor]
    /// The palette's index by the upper 5 bits of each channel of a colour; -1 if it was not looked up yet.
    private var nearest = [Int16](repeating: -1, count: 1 << 15)
    private let isExact: Bool
    private let places: [RGBColor: Int]

    static func make(for bitmap: Bitmap, most: Int) -> MedianCutPalette {
        var bins = [Bin](repeating: Bin(), count: 1 << 15)
        var own: [RGBColor: Int] = [:]
        for y in 0..<bitmap.height {
            for x in 0..<bitmap.width {
                guard let color = bitmap.color(x, y) else { continue }
                bins[bin(of: color)].add(color)
                if own.count <= most, own[color] == nil { own[color] = own.count }
            }
        }
        if own.count <= most { return MedianCutPalette(own) }
        let boxes = cut(bins.filter { $0.count > 0 }, most: most)
        return MedianCutPalette(boxes.map(\.average))
    }

    private init(_ own: [RGBColor: Int]) {
        colors = own.sorted { $0.value < $1.value }.map(\.key)
        places = own
        isExact = true
    }

    private init(_ averages: [RGBColor]) {
        colors = averages
        places = [:]
        isExact = false
    }

    mutating func index(of color: RGBColor) -> Int {
        if isExact { return places[color] ?? 0 }
        let bin = Self.bin(of: color)
        if nearest[bin] >= 0 { return Int(nearest[bin]) }
        var (best, least) = (0, Int.max)
        for (index, other) in colors.enumerated() {
            let distance = Self.distance(color, other)
            if distance < least { (best, least) = (index, distance) }
        }
        nearest[bin] = Int16(best)
        return best
    }

    private static func bin(of color: RGBColor) -> Int {
        (Int(color.red) >> 3) << 10 | (Int(color.green) >> 3) << 5 | Int(color.blue) >> 3
    }

    /// The approximate visible difference of two colours.
    private static func distance(_ a: RGBColor, _ b: RGBColor) -> Int {
        let (red, green) = (Int(a.red) - Int(b.red), Int(a.green) - Int(b.green))
        let blue = Int(a.blue) - Int(b.blue)
        return 2 * red * red + 4 * green * green + blue * blue
    }

    /// Pixels of nearly the same colour.
    private struct Bin {
        var count = 0
        private var sums = (red: 0, green: 0, blue: 0)

        mutating func add(_ color: RGBColor) {
            count += 1
            sums.red += Int(color.red)
            sums.green += Int(color.green)
            sums.blue += Int(color.blue)
        }

        func sum(_ channel: Int) -> Int { channel == 0 ? sums.red : channel == 1 ? sums.green : sums.blue }
        func value(_ channel: Int) -> Int { sum(channel) / max(count, 1) }
    }

    private struct Box {
        let bins: [Bin]
        let count: Int
        /// The channel with the greatest range, and that range.
        let channel: Int
        let reach: Int

        init(_ bins: [Bin]) {
            self.bins = bins
            count = bins.reduce(0) { $0 + $1.count }
            let reaches = (0..<3).map { channel in
                let values = bins.map { $0.value(channel) }
                return (values.max() ?? 0) - (values.min() ?? 0)
            }
            reach = reaches.max() ?? 0
            channel = reaches.firstIndex(of: reach) ?? 0
        }

        var average: RGBColor {
            func value(_ channel: Int) -> UInt8 {
                UInt8(clamping: bins.reduce(0) { $0 + $1.sum(channel) } / max(count, 1))
            }
            return RGBColor(red: value(0), green: value(1), blue: value(2))
        }

        /// Two boxes with about the same number of pixels.
        func halves() -> [Box] {
            let sorted = bins.sorted { $0.value(channel) < $1.value(channel) }
            var (passed, place) = (0, 0)
            while place < sorted.count - 1, passed + sorted[place].count <= count / 2 || place == 0 {
                passed += sorted[place].count
                place += 1
            }
            return [Box(Array(sorted[..<place])), Box(Array(sorted[place...]))]
        }
    }

    private static func cut(_ bins: [Bin], most: Int) -> [Box] {
        var boxes = [Box(bins)]
        while boxes.count < most {
            // A large box with very different colours is split first. A box with one colour cannot be split.
            let weights = boxes.map { $0.bins.count > 1 ? $0.reach * $0.reach * $0.count : -1 }
            guard let heaviest = weights.max(), heaviest >= 0, let place = weights.firstIndex(of: heaviest) else {
                break
            }
            boxes.replaceSubrange(place...place, with: boxes[place].halves())
        }
        return boxes
    }
}
