import WebImageCore

extension ImageTransformer where Self == ImageTransform {
    /// Mirrors the picture left to right, top to bottom, or both.
    public static func flip(horizontally: Bool = false, vertically: Bool = false) -> ImageTransform {
        ImageTransform(Flip(horizontally: horizontally, vertically: vertically))
    }

    /// Turns the picture by quarter turns, clockwise.
    ///
    /// - Parameter quarters: the number of quarter turns; negative ones turn counter-clockwise.
    public static func turn(quarters: Int) -> ImageTransform {
        ImageTransform(Turn(quarters: ((quarters % 4) + 4) % 4))
    }
}

struct Flip: WrittenOperation, GeometryOperation {
    static let name = "flip"
    static let usage = "flip:x|y|xy"

    let horizontally: Bool
    let vertically: Bool

    init(horizontally: Bool, vertically: Bool) {
        self.horizontally = horizontally
        self.vertically = vertically
    }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        let way = try arguments.next("a direction")
        guard ["x", "y", "xy", "none"].contains(way.value) else {
            throw way.fails("a flip must be x (left to right), y or xy")
        }
        horizontally = way.value.contains("x")
        vertically = way.value.contains("y")
    }

    var text: String {
        let way = (horizontally ? "x" : "") + (vertically ? "y" : "")
        return TransformText(Self.name).add(way.isEmpty ? "none" : way).text
    }

    func fold(into fold: inout GeometryFold) {
        switch (horizontally, vertically) {
        case (false, false): break
        case (true, false): fold.turn(by: .upMirrored)
        case (false, true): fold.turn(by: .downMirrored)
        case (true, true): fold.turn(by: .down)
        }
    }
}

struct Turn: WrittenOperation, GeometryOperation {
    static let name = "turn"
    static let usage = "turn:90|180|270"

    /// The number of clockwise quarter turns, 0 to 3.
    let quarters: Int

    init(quarters: Int) { self.quarters = quarters }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        let angle = try arguments.next("an angle")
        guard let degrees = Int(angle.value), degrees % 90 == 0, (-360...360).contains(degrees) else {
            throw angle.fails("a turn must be 90, 180 or 270 degrees clockwise; rotate takes any angle")
        }
        quarters = (degrees / 90 + 4) % 4
    }

    var text: String { TransformText(Self.name).add(Double(quarters * 90)).text }

    func fold(into fold: inout GeometryFold) {
        let turns: [Orientation] = [.up, .right, .down, .left]
        fold.turn(by: turns[quarters])
    }
}
