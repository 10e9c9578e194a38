import Testing
import WebImageCore
import WebImageProcessing
import WebImageTesting

@Suite struct ImgproxyWatermarkTests {
    private func picture(_ size: PixelSize, _ pixel: (Int, Int) -> [Int]) throws -> Image {
        let channels = (0..<size.width * size.height).flatMap { pixel($0 % size.width, $0 / size.width) }
        return Image(pixels: try PixelBuffer.make(size, channels), info: Image.Info(alpha: .opaque))
    }

    /// The place within the mark that imgproxy shows at each place of the picture's side; nil in gaps. imgproxy pads
    /// each tile by the gap, or crops it if the gap is negative, and cuts the side out of the middle of an odd number
    /// of tiles.
    private func places(of length: Int, gap: Int, on side: Int) -> [Int?] {
        let tile = (0..<length + gap).map { place in
            let place = place - gap / 2
            return (0..<length).contains(place) ? place : nil
        }
        var count = (side + tile.count - 1) / tile.count
        if count % 2 == 0 { count += 1 }
        let cut = (count * tile.count - side) / 2
        return (0..<side).map { tile[($0 + cut) % tile.count] }
    }

    @Test(arguments: [(0, 0), (4, 7), (-2, -4), (-3, -1), (-1, 5), (6, -7), (-8, -7), (30, -2)])
    func tilesArePaddedOrCroppedByTheGaps(across: Int, down: Int) throws {
        let size = PixelSize(41, 32)
        let base = try picture(size) { _, _ in [9, 9, 9, 255] }
        let mark = try picture(PixelSize(9, 8)) { x, y in [100 + x, 100 + y, 0, 255] }
        // A gap of 1 or more is in pixels; a smaller one is a share of the side.
        let place = ImgproxyGeometry.Place(.center, x: Double(across), y: Double(down))
        let step = ImageTransform.imgproxyWatermark(mark, at: place, tiles: true, behind: ImgproxyGeometry())
        let marked = try base.transformed(by: [.imgproxy(ImgproxyGeometry()), step])
        let columns = places(of: 9, gap: across, on: size.width)
        let rows = places(of: 8, gap: down, on: size.height)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let wanted = columns[x].flatMap { column in rows[y].map { [100 + column, 100 + $0, 0, 255] } }
                #expect(marked.pixels.pixel(x, y) == wanted ?? [9, 9, 9, 255], "\(x), \(y)")
            }
        }
    }

    @Test func gapsThatLeaveNothingOfTheMarkAreRefused() throws {
        let base = try picture(PixelSize(20, 20)) { _, _ in [9, 9, 9, 255] }
        let mark = try picture(PixelSize(4, 4)) { _, _ in [1, 2, 3, 255] }
        let place = ImgproxyGeometry.Place(.center, x: 3, y: -4)
        let step = ImageTransform.imgproxyWatermark(mark, at: place, tiles: true, behind: ImgproxyGeometry())
        let error = #expect(throws: WebImageError.self) { try base.transformed(by: [step]) }
        #expect(error?.code == .transformFailed)
    }
}
