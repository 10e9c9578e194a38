import Testing
import WebImage
import WebImageTesting

/// The choice of the stored pixels from which a picture is made, and of its size, for a target size or a limit.
@Suite struct SizeChoiceTests {
    /// An ICO file with a PNG of one colour for each entry.
    private static func icon(_ entries: [(side: Int, color: [UInt8])]) throws -> [UInt8] {
        func little(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        var table = little(0, 2) + little(1, 2) + little(entries.count, 2)
        var data: [UInt8] = []
        for (side, color) in entries {
            let image = try Image(size: PixelSize(width: side, height: side), alpha: .opaque) { bytes in
                for index in bytes.indices { bytes[index] = (color + [255])[index % 4] }
            }
            let png = try image.encoded(as: .png)
            table += [UInt8(side), UInt8(side), 0, 0, 1, 0, 32, 0] + little(png.count, 4)
            table += little(6 + 16 * entries.count + data.count, 4)
            data += png
        }
        return table + data
    }

    @Test(arguments: [(10, 0), (16, 0), (17, 1), (32, 1), (40, 2), (200, 2)])
    func anIconIsMadeFromTheEntryForItsSize(_ side: Int, _ entry: Int) async throws {
        let colors: [[UInt8]] = [[250, 0, 0], [0, 250, 0], [0, 0, 250]]
        let file = try Self.icon([(64, colors[2]), (16, colors[0]), (32, colors[1])])
        let image = try await Image(data: file, size: TargetSize(width: side, height: side))
        #expect(image.size == PixelSize(width: min(side, 64), height: min(side, 64)))
        #expect(image.withPixels { Array($0[0..<3]) } == colors[entry])
        #expect(image.info.originalSize == PixelSize(width: 64, height: 64))
        #expect(try await Image(data: file).size == PixelSize(width: 64, height: 64))
    }

    @Test func aBitmapLimitCountsSixteenBits() async throws {
        let deep = try Image(size: PixelSize(width: 40, height: 30), layout: .rgba16, alpha: .opaque) { _ in }
        var request = ImageRequest(data: try deep.encoded(as: .png), name: "deep")
        request.decoding.bitmapLimit = 2400
        for keepsBitDepth in [true, false] {
            request.decoding.keepsBitDepth = keepsBitDepth
            let bench = TestBench()
            let image = try await bench.manager.image(for: request).image
            #expect(image.layout == (keepsBitDepth ? .rgba16 : .rgba8))
            #expect(image.withPixels { $0.count } <= 2400 && image.withPixels { $0.count } > 1800)
        }
    }
}
