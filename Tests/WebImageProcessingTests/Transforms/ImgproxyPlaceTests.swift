import Testing
import WebImageCore

@testable import WebImageProcessing

/// Crops of pictures that are turned lie where imgproxy puts them, which crops before it turns.
@Suite struct ImgproxyPlaceTests {
    private func crop(
        _ geometry: ImgproxyGeometry, of stored: PixelSize, _ orientation: Orientation
    ) throws -> PixelRect {
        try LeadingGeometry(nil, [.imgproxy(geometry)])
            .plan(stored: stored, orientation: orientation, isVector: false).crop
    }

    @Test func aCropOfATurnedPictureIsRoundedWhereItLies() throws {
        var geometry = ImgproxyGeometry()
        (geometry.cropWidth, geometry.cropHeight) = (50, 77)
        geometry.cropGravity = .init(.center, x: -0.05, y: 7)
        let part = try crop(geometry, of: PixelSize(width: 640, height: 427), .right)
        // (640 - 77 + 1) / 2 + 7 from the left, (427 - 50 + 1) / 2 and a twentieth from the top, as it lies.
        #expect(part == PixelRect(x: 289, y: 210, width: 77, height: 50))
    }

    /// Three pixels of room are two before the part as it lies and one behind it, whichever way it is shown.
    @Test(arguments: Orientation.allCases) func theMiddleIsTheSameInTheFile(_ orientation: Orientation) throws {
        var geometry = ImgproxyGeometry()
        (geometry.cropWidth, geometry.cropHeight) = (7, 7)
        let part = try crop(geometry, of: PixelSize(width: 10, height: 10), orientation)
        #expect(part == PixelRect(x: 2, y: 2, width: 7, height: 7))
        // Turned by the URL as well.
        geometry.rotation = 1
        geometry.flipsVertically = true
        #expect(try crop(geometry, of: PixelSize(width: 10, height: 10), orientation) == part)
        geometry.cropGravity = .init(.focusPoint, x: 0.05, y: 0.95)
        let focused = try crop(geometry, of: PixelSize(width: 10, height: 10), orientation)
        #expect([0, 3].contains(focused.x) && [0, 3].contains(focused.y))
    }
}
