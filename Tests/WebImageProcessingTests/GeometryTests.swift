import Testing
import WebImageCore
import WebImageProcessing

@Suite struct GeometryTests {
    static let layouts: [PixelLayout] = [.rgba8, .rgba16]
    static let sizes = [PixelSize(1, 1), PixelSize(7, 3), PixelSize(33, 70), PixelSize(64, 32), PixelSize(1, 40)]

    /// Where the pixel that is shown at (x, y) is stored, by the definition in EXIF of the first row and column.
    static func source(_ orientation: Orientation, _ x: Int, _ y: Int, _ stored: PixelSize) -> (x: Int, y: Int) {
        let (right, bottom) = (stored.width - 1, stored.height - 1)
        return switch orientation {
        case .up: (x, y)
        case .upMirrored: (right - x, y)
        case .down: (right - x, bottom - y)
        case .downMirrored: (x, bottom - y)
        case .leftMirrored: (y, x)
        case .right: (y, bottom - x)
        case .rightMirrored: (right - y, bottom - x)
        case .left: (right - y, x)
        }
    }

    @Test(arguments: Orientation.allCases, layouts)
    func everyPixelGoesWhereItsTagSays(_ orientation: Orientation, _ layout: PixelLayout) throws {
        for size in Self.sizes {
            let pixels = try PixelBuffer.random(size, layout, alpha: .straight, seed: 1)
            let upright = try pixels.oriented(by: orientation)
            #expect(upright.size == orientation.displaySize(of: size))
            let from = pixels.channels
            let expected = (0..<upright.size.height).flatMap { y in
                (0..<upright.size.width).flatMap { x in
                    let place = Self.source(orientation, x, y, size)
                    let start = (place.y * size.width + place.x) * 4
                    return from[start..<start + 4]
                }
            }
            #expect(upright.channels == expected, "\(size)")
        }
    }

    @Test func quarterTurnsAddUp() throws {
        let pixels = try PixelBuffer.random(PixelSize(37, 5), alpha: .straight, seed: 2)
        let half = try pixels.oriented(by: .right).oriented(by: .right)
        #expect(half.channels == (try pixels.oriented(by: .down).channels))
        #expect(try half.oriented(by: .right).oriented(by: .right).channels == pixels.channels)
        #expect(try pixels.oriented(by: .left).oriented(by: .right).channels == pixels.channels)
        for mirrored in [Orientation.upMirrored, .downMirrored, .leftMirrored, .rightMirrored, .down] {
            #expect(try pixels.oriented(by: mirrored).oriented(by: mirrored).channels == pixels.channels)
        }
        let mirrorThenTurn = try pixels.oriented(by: .upMirrored).oriented(by: .left)
        #expect(mirrorThenTurn.channels == (try pixels.oriented(by: .leftMirrored).channels))
    }

    @Test func flippingIsMirroring() throws {
        let pixels = try PixelBuffer.random(PixelSize(5, 4), .rgba16, alpha: .straight, seed: 3)
        #expect(try pixels.flipped(horizontally: true, vertically: false).pixel(0, 1) == pixels.pixel(4, 1))
        #expect(try pixels.flipped(horizontally: false, vertically: true).pixel(2, 0) == pixels.pixel(2, 3))
        #expect(try pixels.flipped(horizontally: true, vertically: true).pixel(0, 0) == pixels.pixel(4, 3))
        #expect(try pixels.flipped(horizontally: false, vertically: false) === pixels)
    }

    @Test(arguments: layouts) func aCropIsClippedToThePicture(_ layout: PixelLayout) throws {
        let pixels = try PixelBuffer.random(PixelSize(9, 6), layout, alpha: .straight, seed: 4)
        let part = try pixels.cropped(x: 2, y: 1, to: PixelSize(3, 4))
        #expect(part.size == PixelSize(3, 4))
        for y in 0..<4 { for x in 0..<3 { #expect(part.pixel(x, y) == pixels.pixel(x + 2, y + 1)) } }
        let corner = try pixels.cropped(x: 7, y: -2, to: PixelSize(.max, 4))
        #expect(corner.size == PixelSize(2, 2))
        #expect(corner.pixel(1, 1) == pixels.pixel(8, 1))
        for (x, y, width) in [(9, 0, 1), (0, 6, 1), (-3, 0, 3), (0, 0, 0), (0, 0, -1), (.max, 0, .max)] {
            let error = #expect(throws: WebImageError.self) {
                try pixels.cropped(x: x, y: y, to: PixelSize(width, 1))
            }
            #expect(error?.code == .transformFailed)
        }
    }
}
