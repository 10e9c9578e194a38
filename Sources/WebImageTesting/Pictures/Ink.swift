import WebImageCore

/// A colour to draw with: sRGB values from 0 to 1, opaque.
struct Ink: Hashable {
    var red: Float
    var green: Float
    var blue: Float

    @inline(__always)
    init(_ red: Float, _ green: Float, _ blue: Float) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Makes a colour from `0xRRGGBB`.
    init(_ hex: UInt32) {
        self.init(Float(hex >> 16 & 255) / 255, Float(hex >> 8 & 255) / 255, Float(hex & 255) / 255)
    }

    init(_ color: RGBColor) {
        self.init(Float(color.red) / 255, Float(color.green) / 255, Float(color.blue) / 255)
    }

    /// Makes a colour from hue (0 to 1: red, yellow, green ...), saturation and value, 0 to 1.
    @inline(__always)
    init(hue: Float, saturation: Float, value: Float) {
        func channel(_ shift: Float) -> Float {
            let turned = hue + shift
            let place = (turned - turned.rounded(.down)) * 6
            let distance = abs(place - 3) - 1
            return value * (1 + saturation * (min(max(distance, 0), 1) - 1))
        }
        self.init(channel(0), channel(2 / 3), channel(1 / 3))
    }

    /// A mixture of this colour with a part (0 to 1) of another.
    @inline(__always)
    func mixed(_ part: Float, with other: Ink) -> Ink {
        Ink(red + (other.red - red) * part, green + (other.green - green) * part, blue + (other.blue - blue) * part)
    }

    @inline(__always)
    static func * (ink: Ink, factor: Float) -> Ink { Ink(ink.red * factor, ink.green * factor, ink.blue * factor) }

    @inline(__always)
    static func + (left: Ink, right: Ink) -> Ink {
        Ink(left.red + right.red, left.green + right.green, left.blue + right.blue)
    }

    /// Writes the four bytes of a pixel.
    @inline(__always)
    func write(to pixel: UnsafeMutablePointer<UInt8>, alpha: Float = 1) {
        pixel[0] = Self.byte(red)
        pixel[1] = Self.byte(green)
        pixel[2] = Self.byte(blue)
        pixel[3] = Self.byte(alpha)
    }

    @inline(__always)
    static func byte(_ value: Float) -> UInt8 { UInt8(min(max(value, 0), 1) * 255 + 0.5) }
}

/// Rises smoothly from 0 at `low` to 1 at `high`.
@inline(__always)
func smoothstep(_ low: Float, _ high: Float, _ value: Float) -> Float {
    let part = min(max((value - low) / (high - low), 0), 1)
    return part * part * (3 - 2 * part)
}
