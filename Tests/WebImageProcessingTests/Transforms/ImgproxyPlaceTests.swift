import Testing
import WebImageCore

@testable import WebImageProcessing

/// imgproxy crops before it applies the orientation. Crops of pictures with an orientation lie where imgproxy puts
/// them.
@Suite struct ImgproxyPlaceTests {
    private func crop(
        _ geometry: ImgproxyGeometry, of stored: PixelSize, _ orientation: Orientation, isTagged: Bool = true
    ) throws -> PixelRect {
        try LeadingGeometry(nil, [.imgproxy(geometry)])
            .plan(stored: stored, orientation: orientation, isTagged: isTagged, isVector: false).crop
    }

    @Test func aCropOfATurnedPictureIsRoundedInTheStoredPicture() throws {
        var geometry = ImgproxyGeometry()
        (geometry.cropWidth, geometry.cropHeight) = (50, 77)
        geometry.cropGravity = .init(.center, x: -0.05, y: 7)
        let part = try crop(geometry, of: PixelSize(width: 640, height: 427), .right)
        // In the stored picture: (640 - 77 + 1) / 2 + 7 from the left, (427 - 50 + 1) / 2 and a twentieth from the top.
        #expect(part == PixelRect(x: 289, y: 210, width: 77, height: 50))
    }

    /// Of three spare pixels, two lie before the part in the stored picture and one after it, whatever the orientation.
    @Test(arguments: Orientation.allCases) func theMiddleIsTheSameInTheFile(_ orientation: Orientation) throws {
        var geometry = ImgproxyGeometry()
        (geometry.cropWidth, geometry.cropHeight) = (7, 7)
        let part = try crop(geometry, of: PixelSize(width: 10, height: 10), orientation)
        #expect(part == PixelRect(x: 2, y: 2, width: 7, height: 7))
        // If the orientation is not a tag, imgproxy's decoder already returns the picture upright.
        let shown = try crop(geometry, of: PixelSize(width: 10, height: 10), orientation, isTagged: false)
        let upright = PixelRect(x: 2, y: 2, width: 7, height: 7)
        #expect(shown == orientation.storedRect(of: upright, stored: PixelSize(width: 10, height: 10)))
        // The URL turns and flips the picture as well.
        geometry.rotation = 1
        geometry.flipsVertically = true
        #expect(try crop(geometry, of: PixelSize(width: 10, height: 10), orientation) == part)
        geometry.cropGravity = .init(.focusPoint, x: 0.05, y: 0.95)
        let focused = try crop(geometry, of: PixelSize(width: 10, height: 10), orientation)
        #expect([0, 3].contains(focused.x) && [0, 3].contains(focused.y))
    }

    struct Shrunk: CustomTestStringConvertible, Sendable {
        var shrinking: ImgproxyShrinking?
        var stored: PixelSize
        var orientation: Orientation
        var spec: String
        var output: PixelSize
        var part: PixelRect
        var testDescription: String { "\(stored) \(spec)" }

        init(
            _ shrinking: ImgproxyShrinking?, _ width: Int, _ height: Int, _ orientation: Orientation,
            _ spec: String, _ output: PixelSize, _ x: Double, _ y: Double, _ across: Double, _ down: Double
        ) {
            (self.shrinking, stored, self.orientation) = (shrinking, PixelSize(width, height), orientation)
            (self.spec, self.output) = (spec, output)
            part = PixelRect(x: x, y: y, width: across, height: down)
        }
    }

    /// Expected sizes and crops, from a model of imgproxy's `scale_on_load.go` and `crop.go`.
    static let shrunk = [
        Shrunk(.jpeg, 975, 1376, .up, "40x:c=709,468:cg=fp,0.4,0.7", PixelSize(40, 27), 32, 728, 704, 472),
        Shrunk(nil, 975, 1376, .up, "40x:c=709,468:cg=fp,0.4,0.7", PixelSize(40, 26), 36, 729, 709, 468),
        Shrunk(.jpeg, 1572, 846, .up, "43x:c=610,375:cg=ce,0,-13", PixelSize(43, 27), 480, 224, 608, 376),
        Shrunk(.jpeg, 1818, 881, .down, "165x:c=352,351:cg=fp,0.4,0.7", PixelSize(165, 164), 914, 90, 352, 350),
        Shrunk(.jpeg, 3001, 2003, .right, "201x:c=1777,901:cg=soea,37,13", PixelSize(201, 102), 2080, 40, 904, 1776),
        Shrunk(.webp, 2065, 1692, .up, "97x:c=405,336:cg=ce,21,0", PixelSize(97, 81), 855, 679, 405, 338),
        Shrunk(.webp, 2525, 887, .right, "163x:c=446,513:cg=nowe,0,9", PixelSize(163, 188), 8, 441, 515, 446),
        // The reduction is too small for the JPEG to be decoded at a smaller scale.
        Shrunk(.jpeg, 1000, 800, .up, "700x:c=999,701", PixelSize(700, 491), 1, 50, 999, 701),
        // Without a crop there is nothing to round.
        Shrunk(.jpeg, 1001, 801, .up, "100x", PixelSize(100, 80), 0, 0, 1001, 801),
    ]

    /// A smart crop has the same size as any other crop. Its place depends on the pixels.
    @Test(arguments: shrunk) func aSmartCropIsRoundedToPixelsOfTheScaledPicture(_ test: Shrunk) throws {
        var geometry = try #require(try ImageTransform.imgproxyGeometry(of: "imgproxy:" + test.spec))
        geometry.cropGravity = .init(.smart)
        var original = OriginalPicture(
            ImageHeader(format: .png, size: test.stored, orientation: test.orientation))
        original.shrinking = test.shrinking
        func output(_ chain: [ImageTransform], of size: PixelSize) throws -> PixelSize? {
            try TransformProgram(chain, size: size, isOpaque: true, original: original).output
        }
        let size = original.size
        #expect(try output([.imgproxy(geometry)], of: size) == test.output)
        geometry.padding = .init(top: 1, right: 2, bottom: 3, left: 4)
        #expect(
            try output([.imgproxy(geometry), .imgproxyCanvas(geometry)], of: size)
                == PixelSize(test.output.width + 6, test.output.height + 4))
        // A picture that an earlier transform has changed is cropped without this rounding.
        geometry.padding = .init()
        let plain = geometry.layout(for: size).output
        #expect(try output([.flip(horizontally: true), .imgproxy(geometry)], of: size) == plain)
    }

    /// imgproxy crops the picture that its decoder has scaled down, so that the crop is rounded to pixels of the scaled
    /// picture.
    @Test(arguments: shrunk) func aCropIsRoundedToPixelsOfTheScaledPicture(_ test: Shrunk) throws {
        let geometry = try #require(try ImageTransform.imgproxyGeometry(of: "imgproxy:" + test.spec))
        let plan = try LeadingGeometry(nil, [.imgproxy(geometry)]).plan(
            stored: test.stored, orientation: test.orientation, isVector: false, shrinking: test.shrinking)
        #expect(plan.outputDisplay == test.output)
        let layout = geometry.layout(
            for: test.orientation.displaySize(of: test.stored), isVector: false, shrinking: test.shrinking)
        #expect(layout.output == test.output)
        let edges = [
            plan.crop.x - test.part.x, plan.crop.y - test.part.y, plan.crop.width - test.part.width,
            plan.crop.height - test.part.height,
        ]
        #expect(edges.allSatisfy { $0.magnitude < 1e-6 }, "\(plan.crop)")
    }
}
