#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The filter that weights the source pixels around a position when a picture is scaled.
public enum ResampleFilter: String, Hashable, Sendable, Codable, CaseIterable {
    /// The mean of the area that a pixel covers; enlarging repeats pixels.
    case box
    /// A triangle: soft, never overshoots.
    case bilinear
    /// Catmull-Rom (a = -0.5).
    case bicubic
    /// A windowed sinc over three lobes: the sharpest filter, and the default.
    case lanczos3
    /// Resizes like libvips and imgproxy. It reduces with ``lanczos3``; to a fourth of the size or less, it averages
    /// several pixels first. It enlarges with ``bicubic``, half a pixel of the result to the right and down. Beyond the
    /// edges the edge pixels are repeated.
    case libvips

    /// The distance to which the filter reaches on each side, in pixels of the coarser of input and output.
    var support: Double {
        switch self {
        case .box: 0.5
        case .bilinear: 1
        case .bicubic: 2
        case .lanczos3, .libvips: 3
        }
    }

    /// Whether some of its weights are below 0.
    var overshoots: Bool { self == .bicubic || self == .lanczos3 || self == .libvips }

    /// The weight at distance `x`; not normalised.
    func weight(at x: Double) -> Double {
        let x = x.magnitude
        switch self {
        case .box: return x <= 0.5 ? 1 : 0
        case .bilinear: return max(1 - x, 0)
        case .bicubic:
            if x < 1 { return (1.5 * x - 2.5) * x * x + 1 }
            return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0
        case .lanczos3, .libvips:
            guard x < 3, x > 1e-9 else { return x < 3 ? 1 : 0 }
            // sinc(x) sinc(x / 3) with one sine: sin 3a = 3 sin a - 4 sin^3 a.
            let angle = .pi * x / 3
            let sine = sin(angle)
            return sine * sine * (3 - 4 * sine * sine) / (3 * angle * angle)
        }
    }
}
