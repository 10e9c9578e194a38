public import WebImageCore

/// A table that maps each colour to another one (a "3D LUT"), or three curves that map each component (a "1D LUT"), as
/// colour grading programs write them.
///
/// Colours between those of the table are interpolated from the four nearest ones (tetrahedral interpolation).
/// Components between the points of a curve are interpolated from both neighbours.
public struct ColorCube: Hashable, Sendable {
    /// The number of colours along each edge, 2 to 129; for curves, the number of points of each curve, 2 to 65536.
    public let side: Int
    /// Whether there are curves instead of a cube.
    let isCurves: Bool
    /// Four floats for each colour, with red changing fastest, or for each point of the curves. The fourth float is not
    /// used.
    let values: [Float]
    /// Identifies the content of the cube.
    let digest: ContentDigest

    /// - Parameters:
    ///   - side: the number of colours along each edge, 2 to 129. Most cubes have 17, 33 or 65.
    ///   - color: maps a colour to another one; all components go from 0 to 1.
    public init(side: Int, color: (SIMD3<Float>) -> SIMD3<Float>) throws(WebImageError) {
        guard Self.sides.contains(side) else { throw Self.badSide(side) }
        var values: [Float] = []
        values.reserveCapacity(side * side * side * 4)
        let step = 1 / Float(side - 1)
        for blue in 0..<side {
            for green in 0..<side {
                for red in 0..<side {
                    let made = color(SIMD3(Float(red), Float(green), Float(blue)) * step)
                    values += [made.x, made.y, made.z, 0]
                }
            }
        }
        self.init(side, values, isCurves: false)
    }

    /// Reads the text of a `.cube` file (Adobe's Cube LUT Specification 1.0), with a cube or with three curves.
    ///
    /// - Throws: `corruptData` with the line if the text is not such a file; `unsupportedFeature` for a domain other
    ///   than 0 to 1.
    public init(text: String) throws(WebImageError) { self = try CubeFile(text).cube() }

    init(_ side: Int, _ values: [Float], isCurves: Bool) {
        self.side = side
        self.isCurves = isCurves
        self.values = values.map { $0.isFinite ? $0 : 0 }
        var digest = ContentDigest(of: self.values)
        if isCurves { digest.add(1) }
        self.digest = digest
    }

    static let sides = 2...129

    static func badSide(_ side: Int) -> WebImageError {
        WebImageError(
            .corruptData,
            "a colour cube must have from \(sides.lowerBound) to \(sides.upperBound) colours per side, not \(side)")
    }
}

/// Reads the text of a cube.
private struct CubeFile {
    private var rows: [SIMD3<Float>] = []
    private var side: Int?
    private var isCurves = false

    init(_ text: String) throws(WebImageError) {
        // Windows programs write a byte order mark.
        let lines = text.drop { $0 == "\u{FEFF}" }.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (number, line) in lines.enumerated() {
            let words = line.split { $0 == " " || $0 == "\t" }
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            try read(first, Array(words.dropFirst()), line: number + 1)
        }
    }

    private mutating func read(_ word: Substring, _ rest: [Substring], line: Int) throws(WebImageError) {
        switch word {
        case "TITLE": break
        case "LUT_3D_SIZE", "LUT_1D_SIZE":
            isCurves = word == "LUT_1D_SIZE"
            guard let size = rest.first.flatMap({ Int($0) }), side == nil,
                isCurves ? (2...65_536).contains(size) : ColorCube.sides.contains(size)
            else { throw fails("the size of the cube is invalid", line) }
            side = size
        case "DOMAIN_MIN", "DOMAIN_MAX", "LUT_3D_INPUT_RANGE", "LUT_1D_INPUT_RANGE":
            let wanted: [[Float]] =
                word == "DOMAIN_MIN" ? [[0, 0, 0]] : word == "DOMAIN_MAX" ? [[1, 1, 1]] : [[0, 1]]
            guard wanted.contains(rest.compactMap { Float($0) }) else {
                throw WebImageError(.unsupportedFeature, "line \(line): only cubes for colours from 0 to 1 can be used")
            }
        default:
            let numbers = ([word] + rest).compactMap { Float($0) }
            guard numbers.count == 3, rest.count == 2, numbers.allSatisfy(\.isFinite) else {
                throw fails("this is neither a colour nor a keyword of the .cube format", line)
            }
            guard rows.count < limit else { throw fails("there are more colours than the size says", line) }
            rows.append(SIMD3(numbers[0], numbers[1], numbers[2]))
        }
    }

    private var limit: Int {
        guard let side else { return 0 }
        return isCurves ? side : side * side * side
    }

    func cube() throws(WebImageError) -> ColorCube {
        guard let side, rows.count == limit else {
            throw WebImageError(.corruptData, "the cube has \(rows.count) colours, but its size says \(limit)")
        }
        return ColorCube(side, rows.flatMap { [$0.x, $0.y, $0.z, 0] }, isCurves: isCurves)
    }

    private func fails(_ message: String, _ line: Int) -> WebImageError {
        WebImageError(.corruptData, "line \(line): \(message)")
    }
}
