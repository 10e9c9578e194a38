import Testing
import WebImageCore
import WebImageProcessing

/// Convenience methods of images that are in memory: scaling, cropping, rounding corners.
@Suite struct ImageShapingTests {
    private func image(
        _ size: PixelSize = PixelSize(40, 20), alpha: AlphaMode = .opaque, layout: PixelLayout = .rgba8,
        orientation: Orientation = .up
    ) throws -> Image {
        Image(
            pixels: try PixelBuffer.random(size, layout, alpha: alpha, seed: 1),
            info: Image.Info(alpha: alpha, orientation: orientation))
    }

    @Test func aSizeIsMetAndNothingIsEnlargedUnlessThatIsAllowed() throws {
        let image = try image()
        #expect(try image.resized(to: TargetSize(width: 10)).size == PixelSize(10, 5))
        #expect(try image.resized(to: TargetSize(width: 10, height: 10, fit: .cover)).size == PixelSize(10, 10))
        #expect(try image.resized(to: TargetSize(width: 400)).size == PixelSize(40, 20))
        #expect(try image.resized(to: TargetSize(width: 80, upscale: true)).size == PixelSize(80, 40))
    }

    @Test func aResultThatNoLimitAllowsIsRefusedBeforeItsMemoryIsAskedFor() throws {
        let image = try image()
        #expect(throws: WebImageError.self) {
            try image.resized(to: TargetSize(width: 1_000_000, height: 1_000_000, fit: .fill, upscale: true))
        }
    }

    @Test(arguments: Orientation.allCases)
    func aPartIsCutFromTheUprightPicture(orientation: Orientation) throws {
        let image = try image(orientation: orientation)
        let part = PixelRect(x: 3, y: 5, width: 7, height: 4)
        let cropped = try image.cropped(to: part).upright()
        let upright = try image.upright()
        #expect(cropped.size == PixelSize(7, 4))
        for (x, y) in [(0, 0), (6, 3), (2, 1)] {
            #expect(cropped.pixels.pixel(x, y) == upright.pixels.pixel(x + 3, y + 5))
        }
    }

    @Test(arguments: [
        (PixelRect(x: -5, y: -5, width: 10, height: 10), PixelSize(5, 5)),
        (PixelRect(x: 35, y: 15, width: 1e300, height: 1e300), PixelSize(5, 5)),
        (PixelRect(x: 0.4, y: 0.6, width: 10, height: 10), PixelSize(10, 10)),
        (PixelRect(x: 0, y: 0, width: 40, height: 20), PixelSize(40, 20)),
    ])
    func aPartIsClippedToThePicture(part: PixelRect, size: PixelSize) throws {
        #expect(try image().cropped(to: part).size == size)
    }

    @Test(arguments: [
        PixelRect(x: 40, y: 0, width: 5, height: 5), PixelRect(x: 0, y: 0, width: 0, height: 5),
        PixelRect(x: .nan, y: 0, width: 5, height: 5), PixelRect(x: 0, y: 0, width: .infinity, height: 5),
        PixelRect(x: 10, y: 10, width: -5, height: -5), PixelRect(x: -1e300, y: 0, width: 5, height: 5),
    ])
    func anEmptyPartIsAnError(part: PixelRect) throws {
        let image = try image()
        let error = #expect(throws: WebImageError.self) { try image.cropped(to: part) }
        #expect(error?.code == .transformFailed)
    }

    /// The sum of all alpha values is the area of the rounded rectangle.
    @Test(arguments: [(40, 40, Double.infinity), (41, 41, .infinity), (60, 30, 10), (61, 31, 8.5), (64, 20, .infinity)])
    func roundCornersLeaveTheAreaOfTheShape(width: Int, height: Int, radius: Double) throws {
        for layout in [PixelLayout.rgba8, .rgba16] {
            let image = try image(PixelSize(width, height), layout: layout)
            let rounded = try image.rounded(radius: radius)
            #expect(rounded.alpha == .straight && rounded.size == image.size)
            let most = Double(layout == .rgba8 ? 255 : 65535)
            let covered = stride(from: 3, to: rounded.pixels.channels.count, by: 4).reduce(0.0) { sum, index in
                sum + Double(rounded.pixels.channels[index]) / most
            }
            let kept = min(radius, Double(min(width, height)) / 2)
            let area = Double(width * height) - (4 - Double.pi) * kept * kept
            #expect(abs(covered - area) < area * 0.005, "\(covered) of \(area)")
            #expect(rounded.pixels.pixel(width / 2, height / 2) == image.pixels.pixel(width / 2, height / 2))
        }
    }

    @Test func roundCornersAreTheSameInEachCornerAndKeepColours() throws {
        let image = try image(PixelSize(21, 17))
        let rounded = try image.rounded(radius: 6)
        func alpha(_ x: Int, _ y: Int) -> Int { Int(rounded.pixels.pixel(x, y)[3]) }
        for y in 0..<17 {
            for x in 0..<21 {
                #expect(alpha(x, y) == alpha(20 - x, y) && alpha(x, y) == alpha(x, 16 - y))
                #expect(rounded.pixels.pixel(x, y).prefix(3) == image.pixels.pixel(x, y).prefix(3))
            }
        }
        #expect(alpha(0, 0) == 0 && alpha(6, 0) == 255)
    }

    @Test func premultipliedColoursGoWithTheirAlpha() throws {
        let straight = try image(alpha: .straight)
        let premultiplied = try straight.with(alpha: .premultiplied).rounded(radius: 8)
        #expect(premultiplied.alpha == .premultiplied)
        for y in 0..<20 {
            for x in 0..<40 {
                let pixel = premultiplied.pixels.pixel(x, y)
                #expect(pixel.prefix(3).allSatisfy { $0 <= pixel[3] + 1 })
            }
        }
    }

    @Test func noRadiusIsNoChange() throws {
        let image = try image()
        #expect(try image.rounded(radius: 0).pixels === image.pixels)
        #expect(try image.rounded(radius: -3).pixels === image.pixels)
        #expect(try image.rounded(radius: .nan).pixels === image.pixels)
    }
}
