public import WebImageCore

extension SamplePictures {
    /// One of many views over lakes, each with hills, a sky and a sun or moon of its own. Opaque.
    ///
    /// - Parameters:
    ///   - number: identifies the lake. The same number gives the same picture at all sizes.
    ///   - size: the size of the picture.
    public static func lake(_ number: Int, _ size: PixelSize) throws(WebImageError) -> Image {
        try Landscape.numbered(number).draw(size)
    }

    /// The time of day of a lake: `sunset`, `dawn` or `night`.
    public static func timeOfLake(_ number: Int) -> String { ["sunset", "dawn", "night"][number % 3] }
}

extension Landscape {
    /// One of the three times of day, slightly mixed with another one, and with hills of its own.
    fileprivate static func numbered(_ number: Int) -> Landscape {
        let times = [sunset, dawn, night]
        let noise = Noise(seed: 9001)
        func random(_ what: Int32) -> Float { noise.grain(Int32(truncatingIfNeeded: number), what) }
        var view = times[number % 3]
        let other = times[(number + 1 + number / 3 % 2) % 3]
        let part = 0.45 * random(1)
        view.seed = UInt32(truncatingIfNeeded: 100 + number &* 31)
        view.skyTop = view.skyTop.mixed(part, with: other.skyTop)
        view.skyMiddle = view.skyMiddle.mixed(part * 0.8, with: other.skyMiddle)
        view.skyLow = view.skyLow.mixed(part * 0.6, with: other.skyLow)
        view.farHill = view.farHill.mixed(part, with: other.farHill)
        view.nearHill = view.nearHill.mixed(part, with: other.nearHill)
        view.sunPlace = (0.15 + 0.7 * random(2), 0.12 + 0.3 * random(3))
        view.sunRadius *= 0.7 + 0.8 * random(4)
        view.clouds = min(view.clouds * (0.4 + random(5)), 1)
        return view
    }
}
