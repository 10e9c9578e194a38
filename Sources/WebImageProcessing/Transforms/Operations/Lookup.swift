import CPixels
import WebImageCore

extension ImageTransformer where Self == ImageTransform {
    /// Changes colours with a look-up table (a "3D LUT").
    ///
    /// - Parameters:
    ///   - cube: the table.
    ///   - name: the name of the table in the text of the transform. Default `cube`.
    ///   - amount: 1 (the default) gives the table's colours, 0 no change.
    public static func lookup(_ cube: ColorCube, name: String = "cube", amount: Double = 1) -> ImageTransform {
        ImageTransform(Lookup(cube: cube, cubeName: name, amount: amount))
    }
}

struct Lookup: WrittenOperation, PlannedOperation {
    static let name = "lut"
    static let usage = "lut:FILE.cube[:AMOUNT]"

    let cube: ColorCube
    let cubeName: String
    let amount: Double

    init(cube: ColorCube, cubeName: String, amount: Double) {
        self.cube = cube
        self.cubeName = cubeName
        self.amount = amount
    }

    init(_ arguments: inout TransformArguments) throws(TransformSyntaxError) {
        let file = try arguments.next("a .cube file")
        cubeName = file.decodedName
        do throws(WebImageError) {
            cube = try arguments.resources.cube(cubeName)
        } catch {
            throw file.fails(error.message)
        }
        amount = try arguments.nextIfAny()?.number(in: 0...1, "an amount") ?? 1
    }

    var text: String {
        let text = TransformText(Self.name).add(fileNamed: cubeName)
        return amount == 1 ? text.text : text.add(amount).text
    }

    var key: String { TransformText(Self.name).add(cube.digest.description).add(amount).text }

    func compile(into builder: inout ProgramBuilder) throws(WebImageError) {
        builder.point(LookupOperation(cube: cube, amount: Float(try checked(amount, in: 0...1, "a lut's amount"))))
    }
}

struct LookupOperation: PointOperation {
    let cube: ColorCube
    let amount: Float
    let takesLong = true

    func apply(to run: PixelPlanes, x: Int, y: Int, count: Int) {
        if cube.isCurves {
            wi_run_curves(run, count, cube.values, cube.side, amount)
        } else {
            wi_run_cube(run, count, cube.values, cube.side, amount)
        }
    }
}
