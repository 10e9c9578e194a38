import Testing
import WebImageCore
import WebImageProcessing

/// Sizes and places as imgproxy computes them for a source of 200 x 100.
@Suite struct ImgproxyGeometryTests {
    /// A geometry that comes from a file may have any numbers.
    @Test(arguments: [-1e18, -1, 0, 1e300, .infinity, -.infinity])
    func anyFactorsGiveALayout(_ factor: Double) {
        var geometry = ImgproxyGeometry()
        (geometry.width, geometry.height, geometry.dpr, geometry.enlarge) = (100, 50, factor, true)
        #expect(geometry.layout(for: PixelSize(100, 100)).output.width > 0)
    }

    typealias Geometry = ImgproxyGeometry

    struct Case: CustomTestStringConvertible, Sendable {
        var spec: String
        var output: PixelSize
        var dpr: Double?
        var source = PixelSize(200, 100)
        var testDescription: String { spec }

        init(_ spec: String, _ width: Int, _ height: Int, dpr: Double? = nil) {
            self.spec = spec
            output = PixelSize(width, height)
            self.dpr = dpr
        }
    }

    static let cases: [Case] = [
        Case("50x50", 50, 25), Case("50x20", 40, 20), Case("300x300", 200, 100),
        Case("300x125:enlarge", 250, 125), Case("x200:extend", 200, 200), Case("300x:extend", 300, 100),
        Case("300x300:extend", 300, 300), Case("50x50:fill", 50, 50), Case("300x300:fill", 200, 100),
        Case("300x50:fill", 200, 50), Case("100x300:fill", 100, 100), Case("100x26:fill:dpr=2", 200, 52, dpr: 2),
        Case("26x100:fill:dpr=2", 26, 100, dpr: 1), Case("50x80:force", 50, 80), Case("50x:force", 50, 100),
        Case("300x50:force", 200, 33), Case("80x60:auto", 80, 60), Case("60x80:auto", 60, 30),
        Case("50x50:min=80x", 50, 40), Case("300x300:fill-down", 100, 100), Case("300x125:fill-down", 200, 83),
        Case("250x300:fill-down", 83, 100), Case("300x125:exar", 240, 100), Case("250x500:exar", 200, 400),
        Case("1000x50:fill-down:mrd=50", 50, 3), Case("1000x50:fill:mrd=50", 50, 13),
        Case("100x150:rot=90:mrd=100", 50, 100), Case("100x150:fill:rot=90:mrd=100", 67, 100),
        Case("100x100:pd=100,200,300,400:mrd=200", 200, 129), Case("500x500:extend:dpr=0.5", 250, 250),
        Case("500x500:extend:dpr=2", 500, 500, dpr: 1),
        // Halves are rounded as libvips does it.
        Case("19x", 19, 10), Case("31x", 31, 15), Case("mrd=59", 59, 29), Case("x75", 150, 75),
    ]

    private func layout(_ test: Case) throws -> Geometry.Layout {
        let geometry = try #require(try ImageTransform.imgproxyGeometry(of: "imgproxy:" + test.spec))
        let turned = geometry.rotation % 2 == 0 ? test.source : test.source.transposed
        return geometry.layout(for: turned)
    }

    @Test(arguments: cases) func sizesAreThoseOfTheTable(_ test: Case) throws {
        let layout = try layout(test)
        #expect(layout.output == test.output)
        if let dpr = test.dpr { #expect(layout.dpr == dpr) }
    }

    /// A vector drawing is enlarged without the option for it, and its limit counts pixels instead of sides.
    @Test(arguments: [
        ("400x400", 400, 200), ("50x50:dpr=2", 100, 50), ("300x300:extend:dpr=2", 600, 600), ("mdp=5000", 100, 50),
        ("400x:mdp=20000", 200, 100), ("400x:enlarge:mdp=20000", 400, 200), ("c=0.5,0.5:mdp=5000", 50, 25),
        ("100x:mdp=5000", 100, 50), ("z=2:mdp=5000", 100, 50),
    ])
    func aDrawingHasSizesOfItsOwn(spec: String, width: Int, height: Int) throws {
        let geometry = try #require(try ImageTransform.imgproxyGeometry(of: "imgproxy:" + spec))
        #expect(geometry.layout(for: PixelSize(200, 100), isVector: true).output == PixelSize(width, height))
        #expect(try ImageTransform.parse("imgproxy:" + spec) == [.imgproxy(geometry)])
    }

    /// From end to end: the transforms make pictures of the sizes in the table.
    @Test(arguments: cases) func picturesHaveTheSizesOfTheTable(_ test: Case) throws {
        let image = Image(
            pixels: try PixelBuffer.random(test.source, alpha: .opaque, seed: 3), info: Image.Info(alpha: .opaque))
        let chain = try ImageTransform.parse("imgproxy:\(test.spec)|imgproxy-canvas:\(test.spec)")
        #expect(try image.transformed(by: chain).size == test.output)
    }

    @Test(arguments: [
        ("ce", 76, 26), ("fp,0.5,0.5", 75, 25), ("ce,10,10", 86, 36), ("soea,10,10", 140, 40), ("ce,0.1,0.1", 96, 36),
        ("ce,-5,-5", 71, 21), ("nowe", 0, 0), ("soea", 150, 50), ("no", 76, 0), ("fp,0,1", 0, 50),
        ("nowe,1000,1000", 150, 50),
    ])
    func aPartLiesWhereImgproxyPutsIt(gravity: String, x: Int, y: Int) throws {
        // The red and green of each pixel are its place.
        let pixels = try PixelBuffer.make(
            PixelSize(200, 100), (0..<200 * 100).flatMap { [$0 % 200, $0 / 200, 0, 255] })
        let image = Image(pixels: pixels, info: Image.Info(alpha: .opaque))
        let cropped = try image.transformed(by: try ImageTransform.parse("imgproxy:c=50,50:g=\(gravity)"))
        #expect(cropped.size == PixelSize(50, 50))
        #expect(cropped.pixels.pixel(0, 0) == [x, y, 0, 255])
    }
}
