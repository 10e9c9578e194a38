import WebImage

/// The colours of a picture for each of Android's moods, chosen as Android's Palette library does: among the colours
/// whose saturation and lightness are within the bounds of a mood, the one that is nearest to the target and covers
/// most. A colour stands for one mood only.
struct VibrantColors {
    enum Kind: String, CaseIterable {
        case vibrant, muted
        case lightVibrant = "light_vibrant"
        case darkVibrant = "dark_vibrant"
        case lightMuted = "light_muted"
        case darkMuted = "dark_muted"

        fileprivate var isMuted: Bool { [.muted, .lightMuted, .darkMuted].contains(self) }

        fileprivate var lightness: (bounds: ClosedRange<Double>, target: Double) {
            switch self {
            case .lightVibrant, .lightMuted: (0.55...1, 0.74)
            case .vibrant, .muted: (0.3...0.7, 0.5)
            case .darkVibrant, .darkMuted: (0...0.45, 0.26)
            }
        }

        fileprivate var saturation: (bounds: ClosedRange<Double>, target: Double) {
            isMuted ? (0...0.4, 0.3) : (0.35...1, 1)
        }

        /// The moods, nearest first, whose hue this mood takes if the picture has no colour for it.
        fileprivate var kin: [Kind] {
            let bright: [Kind] = [.vibrant, .darkVibrant, .lightVibrant]
            let dull: [Kind] = [.muted, .darkMuted, .lightMuted]
            return (isMuted ? dull + bright : bright + dull).filter { $0 != self }
        }
    }

    private static let (saturationWeight, lightnessWeight, shareWeight) = (0.24, 0.52, 0.24)

    private var colors: [Kind: RGBColor] = [:]

    init(_ palette: [ImageColors.Swatch]) {
        let largest = palette.map(\.share).max() ?? 1
        var free = palette.map { (swatch: $0, tone: Tone($0.color)) }
        for kind in [Kind.lightVibrant, .vibrant, .darkVibrant, .lightMuted, .muted, .darkMuted] {
            func score(_ index: Int) -> Double? {
                let tone = free[index].tone
                guard kind.saturation.bounds.contains(tone.saturation), kind.lightness.bounds.contains(tone.lightness)
                else { return nil }
                return Self.saturationWeight * (1 - abs(tone.saturation - kind.saturation.target))
                    + Self.lightnessWeight * (1 - abs(tone.lightness - kind.lightness.target))
                    + Self.shareWeight * free[index].swatch.share / largest
            }
            let scores = free.indices.compactMap { index in score(index).map { (index, $0) } }
            guard let best = scores.max(by: { $0.1 < $1.1 }) else { continue }
            colors[kind] = free.remove(at: best.0).swatch.color
        }
    }

    var all: [(kind: Kind, color: RGBColor)] {
        Kind.allCases.compactMap { kind in colors[kind].map { (kind, $0) } }
    }

    /// Gives each missing mood the hue of the nearest mood that has a colour.
    mutating func buildMissing() {
        let known = colors
        for kind in Kind.allCases where colors[kind] == nil {
            guard let kin = kind.kin.compactMap({ known[$0] }).first else { return }
            var tone = Tone(kin)
            let saturation = kind.saturation
            if !saturation.bounds.contains(tone.saturation) { tone.saturation = kind.isMuted ? saturation.target : 0.7 }
            // Gray has no hue, so the result stays gray.
            if Tone(kin).saturation == 0 { tone.saturation = 0 }
            tone.lightness = kind.lightness.target
            colors[kind] = tone.color
        }
    }
}

/// A colour by hue, saturation and lightness (HSL), each from 0 to 1.
private struct Tone {
    var hue: Double
    var saturation: Double
    var lightness: Double

    init(_ color: RGBColor) {
        let (red, green, blue) = (Double(color.red) / 255, Double(color.green) / 255, Double(color.blue) / 255)
        let (most, least) = (max(red, green, blue), min(red, green, blue))
        let range = most - least
        lightness = (most + least) / 2
        // Rounding could make pure colours more than saturated.
        saturation = range == 0 ? 0 : min(range / (1 - abs(2 * lightness - 1)), 1)
        let sixths =
            range == 0
            ? 0
            : most == red
                ? (green - blue) / range : most == green ? (blue - red) / range + 2 : (red - green) / range + 4
        hue = (sixths < 0 ? sixths + 6 : sixths) / 6
    }

    var color: RGBColor {
        let chroma = (1 - abs(2 * lightness - 1)) * saturation
        func channel(_ shift: Double) -> UInt8 {
            let place = (hue * 6 + shift).truncatingRemainder(dividingBy: 6)
            let part = min(max(min(place, 4 - place), 0), 1)
            return UInt8(((lightness - chroma / 2 + chroma * part) * 255).rounded())
        }
        return RGBColor(red: channel(2), green: channel(0), blue: channel(4))
    }
}
