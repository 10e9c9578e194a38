import WebImageCore

/// A view over a lake to hills at some time of day, between pines. It is as detailed as a photograph, so that its JPEG
/// is as large as a photograph's.
struct Landscape {
    var seed: UInt32
    var skyTop: Ink
    var skyMiddle: Ink
    var skyLow: Ink
    var sun: Ink
    /// The position of the sun or moon: across in widths, down in heights.
    var sunPlace: (x: Float, y: Float)
    var sunRadius: Float
    var farHill: Ink
    var nearHill: Ink
    var foreground: Ink
    /// The density of the clouds and the brightness of the stars, 0 to 1.
    var clouds: Float
    var stars: Float
    /// The strength of the film grain, on which the size of a JPEG depends most.
    var grain: Float

    static let sunset = Landscape(
        seed: 7, skyTop: Ink(0x2B2A5E), skyMiddle: Ink(0xD9577A), skyLow: Ink(0xFFC46B), sun: Ink(0xFFF3C4),
        sunPlace: (0.62, 0.36), sunRadius: 0.055, farHill: Ink(0xB06A86), nearHill: Ink(0x4A2F55),
        foreground: Ink(0x120D1E), clouds: 0.8, stars: 0, grain: 0.03)
    static let dawn = Landscape(
        seed: 21, skyTop: Ink(0x5FA4D6), skyMiddle: Ink(0xA9D3E6), skyLow: Ink(0xFDE7CF), sun: Ink(0xFFFBEA),
        sunPlace: (0.3, 0.36), sunRadius: 0.045, farHill: Ink(0xA7C3D0), nearHill: Ink(0x3E6B6A),
        foreground: Ink(0x14302B), clouds: 0.9, stars: 0, grain: 0.03)
    static let night = Landscape(
        seed: 43, skyTop: Ink(0x050A1C), skyMiddle: Ink(0x10284F), skyLow: Ink(0x2F6B80), sun: Ink(0xF4F1DE),
        sunPlace: (0.74, 0.2), sunRadius: 0.035, farHill: Ink(0x24506B), nearHill: Ink(0x0D2238),
        foreground: Ink(0x030812), clouds: 0.35, stars: 1, grain: 0.03)

    /// The same landscape as a camera at high sensitivity takes it.
    var grainy: Landscape {
        var copy = self
        copy.grain = 0.1
        return copy
    }

    private static let horizon: Float = 0.6
    private static let layers = 4

    func draw(_ size: PixelSize) throws(WebImageError) -> Image {
        let hills = (0..<Self.layers).map { ridge($0, size) }
        let shore = self.shore(size)
        return try Image(size: size, alpha: .opaque) { bytes in
            guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            hills[0].withUnsafeBufferPointer { first in
                hills[1].withUnsafeBufferPointer { second in
                    hills[2].withUnsafeBufferPointer { third in
                        hills[3].withUnsafeBufferPointer { fourth in
                            shore.withUnsafeBufferPointer { shore in
                                let ridges = Ridges(hills: (first, second, third, fourth), shore: shore)
                                for row in 0..<size.height {
                                    drawRow(row, size, ridges, base + row * size.width * 4)
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The upper edges of the hills in every column, in heights from the top.
    private struct Ridges {
        /// From the nearest hill to the farthest.
        let hills:
            (
                UnsafeBufferPointer<Float>, UnsafeBufferPointer<Float>, UnsafeBufferPointer<Float>,
                UnsafeBufferPointer<Float>
            )
        let shore: UnsafeBufferPointer<Float>
    }

    private func drawRow(_ row: Int, _ size: PixelSize, _ ridges: Ridges, _ pixels: UnsafeMutablePointer<UInt8>) {
        let noise = Noise(seed: seed)
        let scale = 1 / Float(size.height)
        let down = (Float(row) + 0.5) * scale
        let (sunX, sunY) = (sunPlace.x * Float(size.width) * scale, sunPlace.y)
        for column in 0..<size.width {
            let across = (Float(column) + 0.5) * scale
            var ink: Ink
            if down >= ridges.shore[column] {
                let depth = down - ridges.shore[column]
                ink = foreground * (0.75 + 0.5 * noise.smooth(across * 90, down * 90)) + nearHill * (depth * 0.25)
            } else if down < Self.horizon {
                ink = view(column, across, down, sunX, sunY, ridges, noise)
            } else {
                ink = water(column, across, down, sunX, sunY, size, ridges, noise)
            }
            let speck = (noise.grain(Int32(truncatingIfNeeded: column), Int32(truncatingIfNeeded: row)) - 0.5) * grain
            ink = ink + Ink(speck, speck, speck)
            ink.write(to: pixels + column * 4)
        }
    }

    /// The colour above the horizon: hills or sky.
    @inline(__always)
    private func view(
        _ column: Int, _ across: Float, _ down: Float, _ sunX: Float, _ sunY: Float, _ ridges: Ridges, _ noise: Noise
    ) -> Ink {
        if down >= ridges.hills.0[column] { return hill(0, across, down, noise) }
        if down >= ridges.hills.1[column] { return hill(1, across, down, noise) }
        if down >= ridges.hills.2[column] { return hill(2, across, down, noise) }
        if down >= ridges.hills.3[column] { return hill(3, across, down, noise) }
        return sky(across, down, sunX, sunY, noise)
    }

    @inline(__always)
    private func hill(_ layer: Int, _ across: Float, _ down: Float, _ noise: Noise) -> Ink {
        let distance = Float(layer) / Float(Self.layers - 1)
        let haze = smoothstep(0.3, Self.horizon, down) * 0.32
        let texture = noise.smooth(across * 60, down * 110) * (1 - distance * 0.7)
        let ink = nearHill.mixed(distance, with: farHill) * (0.86 + 0.24 * texture)
        return ink.mixed(haze, with: skyLow * 0.9)
    }

    @inline(__always)
    private func sky(_ across: Float, _ down: Float, _ sunX: Float, _ sunY: Float, _ noise: Noise) -> Ink {
        var ink =
            down < 0.3
            ? skyTop.mixed(smoothstep(0, 0.3, down), with: skyMiddle)
            : skyMiddle.mixed(smoothstep(0.3, Self.horizon, down), with: skyLow)
        let (dx, dy) = (across - sunX, down - sunY)
        let distance = (dx * dx + dy * dy).squareRoot()
        if stars > 0 { ink = ink + star(across, down, noise) }
        ink = ink.mixed(0.55 / (1 + distance * distance * 38), with: sun.mixed(0.35, with: skyLow))
        if distance < sunRadius * 1.1 {
            ink = ink.mixed(1 - smoothstep(sunRadius * 0.96, sunRadius * 1.04, distance), with: sun)
        }
        if clouds > 0 {
            let density = noise.cloud(across * 2.2 + 3, down * 7.5, octaves: 5)
            let part = smoothstep(0.5, 0.78, density) * clouds
            let lit = sun.mixed(min(distance * 1.3, 1), with: skyMiddle.mixed(0.4, with: skyTop))
            ink = ink.mixed(part * 0.8, with: lit)
        }
        return ink
    }

    @inline(__always)
    private func star(_ across: Float, _ down: Float, _ noise: Noise) -> Ink {
        let cell: Float = 1 / 46
        let (column, row) = ((across / cell).rounded(.down), (down / cell).rounded(.down))
        let (x, y) = (Int32(column), Int32(row))
        guard noise.grain(x &+ 900, y) > 0.72 else { return Ink(0, 0, 0) }
        let centreX = (column + 0.2 + 0.6 * noise.grain(x, y &+ 400)) * cell
        let centreY = (row + 0.2 + 0.6 * noise.grain(x &+ 77, y)) * cell
        let (dx, dy) = (across - centreX, down - centreY)
        let size = 0.0006 + 0.0012 * noise.grain(x, y)
        let light = 1 - smoothstep(size * 0.4, size * 1.6, (dx * dx + dy * dy).squareRoot())
        let fading = 1 - smoothstep(0.1, 0.5, down)
        return Ink(1, 0.97, 0.9) * (light * stars * fading)
    }

    /// The view upside down, with ripples that grow towards the viewer.
    @inline(__always)
    private func water(
        _ column: Int, _ across: Float, _ down: Float, _ sunX: Float, _ sunY: Float, _ size: PixelSize,
        _ ridges: Ridges, _ noise: Noise
    ) -> Ink {
        let depth = down - Self.horizon
        let near = depth / (1 - Self.horizon)
        let waves = noise.cloud(across * 9, depth * (190 - 70 * near), octaves: 3) - 0.5
        let shift = waves * (0.012 + 0.1 * near)
        let mirrored = max(Self.horizon - depth * 1.15 + shift, 0.005)
        let moved = column + Int(waves * near * 0.06 * Float(size.height))
        let source = min(max(moved, 0), size.width - 1)
        var ink = view(source, across + waves * near * 0.06, mirrored, sunX, sunY, ridges, noise)
        ink = ink.mixed(0.2 + 0.35 * near, with: skyTop * 0.7)
        let path = abs(across - sunX) / (0.03 + near * 0.16)
        if path < 2 {
            let glitter = smoothstep(0.05, 0.3, waves) * (1 - smoothstep(0.3, 2, path))
            ink = ink.mixed(glitter * 0.8, with: sun)
        }
        return ink
    }

    private func ridge(_ layer: Int, _ size: PixelSize) -> [Float] {
        let noise = Noise(seed: seed &+ UInt32(layer) &* 101)
        let far = Float(layer) / Float(Self.layers - 1)
        return (0..<size.width).map { column in
            let across = Float(column) / Float(size.height)
            let shape = noise.cloud(across * (1.1 + far * 1.6) + Float(layer) * 9, 0.5, octaves: 6)
            return Self.horizon - 0.01 - far * 0.1 - (shape - 0.32) * (0.16 + 0.3 * far)
        }
    }

    /// The near shore, low in the middle, with pines on it.
    private func shore(_ size: PixelSize) -> [Float] {
        let noise = Noise(seed: seed &+ 999)
        let width = Float(size.width) / Float(size.height)
        return (0..<size.width).map { column in
            let across = Float(column) / Float(size.height)
            let side = abs(across / width - 0.46) * 2
            let ground = 1.02 - 0.17 * side * side - 0.05 * noise.cloud(across * 5, 2, octaves: 4)
            return ground - trees(across, side, width, noise)
        }
    }

    /// The height of trees above the ground: cones with ragged branches, several at each spot.
    private func trees(_ across: Float, _ side: Float, _ width: Float, _ noise: Noise) -> Float {
        let spacing: Float = 0.045
        let spot = Int32((across / spacing).rounded(.down))
        var tallest: Float = 0
        for index in (spot - 2)...(spot + 2) {
            let centre = (Float(index) + noise.grain(index, 1)) * spacing
            let height = (0.08 + 0.3 * noise.grain(index, 2)) * smoothstep(0.35, 0.95, side) * min(width, 1)
            let reach = height * 0.2
            let distance = abs(across - centre)
            guard reach > 0.004, distance < reach else { continue }
            let cone = 1 - distance / reach
            let branches = cone * 7
            let ragged = (branches - branches.rounded(.down)) * 0.16
            tallest = max(tallest, height * min(cone * cone * 0.55 + cone * 0.45 + ragged * (1 - cone), 1))
        }
        return tallest
    }
}
