import Testing
import WebImageCore
import WebImageProcessing
import WebImageTesting

@Suite struct ResamplerTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var layout: PixelLayout
        var alpha: AlphaMode
        var filter: ResampleFilter
        var testDescription: String { "\(layout) \(alpha) \(filter.rawValue)" }

        static let all: [Case] = [PixelLayout.rgba8, .rgba16].flatMap { layout in
            [AlphaMode.opaque, .straight].flatMap { alpha in
                ResampleFilter.allCases.map { Case(layout: layout, alpha: alpha, filter: $0) }
            }
        }
    }

    /// Reducing, enlarging, both at once, to and from one pixel, by almost nothing, by exactly two, and with windows so
    /// long that the rounding errors of their weights would add up if they were not carried over.
    static let sizes: [(PixelSize, PixelSize)] = [
        (PixelSize(40, 30), PixelSize(20, 15)), (PixelSize(41, 23), PixelSize(7, 5)),
        (PixelSize(17, 13), PixelSize(40, 29)), (PixelSize(50, 9), PixelSize(11, 31)),
        (PixelSize(33, 20), PixelSize(33, 7)), (PixelSize(20, 33), PixelSize(7, 33)),
        (PixelSize(29, 31), PixelSize(1, 1)), (PixelSize(1, 1), PixelSize(9, 4)),
        (PixelSize(31, 17), PixelSize(30, 16)), (PixelSize(12, 12), PixelSize(24, 24)),
        (PixelSize(2, 90), PixelSize(3, 4)), (PixelSize(3, 2), PixelSize(2, 3)),
        (PixelSize(3000, 2), PixelSize(1, 1)), (PixelSize(2, 3000), PixelSize(3, 1)),
    ]

    /// A decoder may give a frame that is smaller than the picture for which the part was computed.
    @Test func boundsBeyondThePictureDoNotMatter() throws {
        let pixels = try PixelBuffer.constant(PixelSize(40, 2), [200, 100, 50, 255])
        let part = PixelRect(x: 10, y: 0, width: 600, height: 600)
        for filter in [ResampleFilter.lanczos3, .box, .libvips] {
            let made = try Resampler.resample(
                pixels, alpha: .opaque, crop: part, to: PixelSize(6, 5), filter: filter, within: part)
            for y in 0..<5 { for x in 0..<6 { #expect(made.pixel(x, y) == [200, 100, 50, 255]) } }
        }
    }

    @Test(arguments: Case.all) func everyPixelIsWithinALevelOfTheBlackboard(_ test: Case) throws {
        let reference = ResampleReference(filter: test.filter)
        for (seed, (size, output)) in Self.sizes.enumerated() {
            let pixels = try PixelBuffer.random(size, test.layout, alpha: test.alpha, seed: UInt64(seed))
            let result = try Resampler.resample(pixels, alpha: test.alpha, to: output, filter: test.filter)
            let expected = reference.resample(pixels, alpha: test.alpha, crop: PixelRect(size), to: output)
            let worst = reference.worstDifference(of: result, from: expected)
            #expect(worst <= 1, "\(size) to \(output)")
        }
    }

    @Test(arguments: Case.all) func linearLightIsWithinALevelOfTheBlackboard(_ test: Case) throws {
        let reference = ResampleReference(filter: test.filter, inLinearLight: true)
        for (seed, (size, output)) in Self.sizes.enumerated() {
            let pixels = try PixelBuffer.random(size, test.layout, alpha: test.alpha, seed: UInt64(seed))
            let result = try Resampler.resample(
                pixels, alpha: test.alpha, to: output, filter: test.filter, inLinearLight: true)
            let expected = reference.resample(pixels, alpha: test.alpha, crop: PixelRect(size), to: output)
            // Near black, one level of 16 bits is a thirteenth of a level in linear light: 32-bit floats are off by a
            // few levels.
            let allowed = test.layout == .rgba8 ? 1.0 : 8
            #expect(reference.worstDifference(of: result, from: expected) <= allowed, "\(size) to \(output)")
        }
    }

    /// A crop at the top of a tall picture. The rows below it need no memory, whether the crop is copied or scaled.
    @Test(arguments: [PixelSize(8, 40), PixelSize(4, 20), PixelSize(16, 80)])
    func rowsBelowACropAreNotKept(_ output: PixelSize) throws {
        let resampler = Resampler(crop: PixelRect(x: 2, y: 30, width: 8, height: 40), output: output)
        try resampler.begin(RowFormat(size: PixelSize(32, 40_000), layout: .rgba8, alpha: .opaque))
        var places: Set<UnsafeMutableRawPointer> = []
        for row in stride(from: 0, to: 40_000, by: 16) {
            let wanted = resampler.wantsRows
            let band = try resampler.band(at: row, count: 16)
            if !wanted { places.insert(band) }
            try resampler.commit(at: row, count: 16)
        }
        #expect(!resampler.wantsRows)
        #expect(places.count <= 8)
    }

    /// Half black and half white has half of the light of white, which is stored as 188. Averaging the stored values
    /// would give 128.
    @Test(arguments: [AlphaMode.opaque, .straight, .premultiplied]) func fineDetailKeepsItsBrightness(
        _ alpha: AlphaMode
    ) throws {
        let pixels = try PixelBuffer(size: PixelSize(8, 8))
        let bytes = pixels.base.assumingMemoryBound(to: UInt8.self)
        for index in 0..<64 {
            let value: UInt8 = (index % 8 + index / 8) % 2 == 0 ? 255 : 0
            for channel in 0..<3 { bytes[index * 4 + channel] = value }
            bytes[index * 4 + 3] = 255
        }
        let light = try Resampler.resample(
            pixels, alpha: alpha, to: PixelSize(4, 4), filter: .box, inLinearLight: true)
        let stored = try Resampler.resample(pixels, alpha: alpha, to: PixelSize(4, 4), filter: .box)
        #expect(light.channels == [Int](repeating: 0, count: 16).flatMap { _ in [188, 188, 188, 255] })
        #expect(stored.channels == [Int](repeating: 0, count: 16).flatMap { _ in [128, 128, 128, 255] })
    }

    @Test(arguments: [PixelLayout.rgba8, .rgba16]) func everyLevelComesBackFromLinearLight(_ layout: PixelLayout) throws
    {
        for level in stride(from: 0, through: layout.top, by: layout == .rgba8 ? 1 : 251) {
            let pixels = try PixelBuffer.constant(PixelSize(4, 4), layout, [level, level, level, layout.top])
            let result = try Resampler.resample(
                pixels, alpha: .opaque, to: PixelSize(2, 2), filter: .box, inLinearLight: true)
            #expect(result.channels.allSatisfy { $0 == level || $0 == layout.top }, "\(level)")
        }
    }

    /// Premultiplied colours are divided by alpha before they are converted to linear light, and multiplied again
    /// afterwards.
    @Test func premultipliedColoursKeepTheirLight() throws {
        let pixels = try PixelBuffer.constant(PixelSize(4, 4), .rgba8, [100, 50, 0, 200])
        let result = try Resampler.resample(
            pixels, alpha: .premultiplied, to: PixelSize(2, 2), filter: .box, inLinearLight: true)
        let worst = zip(result.channels, [Int](repeating: 0, count: 4).flatMap { _ in [100, 50, 0, 200] })
            .map { abs($0 - $1) }.max()
        #expect(worst ?? 9 <= 1)
    }

    @Test(arguments: Case.all) func aFractionalPartIsScaledAsOnTheBlackboard(_ test: Case) throws {
        let reference = ResampleReference(filter: test.filter)
        var random = SeededGenerator(seed: 7)
        for seed in 0..<12 {
            let size = PixelSize(Int.random(in: 2...40, using: &random), Int.random(in: 2...40, using: &random))
            let x = Double.random(in: 0..<Double(size.width) - 1, using: &random)
            let y = Double.random(in: 0..<Double(size.height) - 1, using: &random)
            let crop = PixelRect(
                x: x, y: y, width: Double.random(in: 0.5...(Double(size.width) - x), using: &random),
                height: Double.random(in: 0.5...(Double(size.height) - y), using: &random))
            let output = PixelSize(Int.random(in: 1...30, using: &random), Int.random(in: 1...30, using: &random))
            let pixels = try PixelBuffer.random(size, test.layout, alpha: test.alpha, seed: UInt64(seed))
            let result = try Resampler.resample(
                pixels, alpha: test.alpha, crop: crop, to: output, filter: test.filter)
            let expected = reference.resample(pixels, alpha: test.alpha, crop: crop, to: output)
            #expect(reference.worstDifference(of: result, from: expected) <= 1, "\(size) \(crop) to \(output)")
        }
    }

    @Test(arguments: Case.all) func aConstantPictureStaysExactlyThat(_ test: Case) throws {
        let top = test.layout.top
        for level in [0, 1, 2, top / 3, top / 2 + 1, top - 1, top] {
            let alpha = test.alpha == .opaque ? top : max(level / 2, 1)
            let pixel = [level, top - level, top, alpha]
            for (size, output) in Self.sizes {
                let pixels = try PixelBuffer.constant(size, test.layout, pixel)
                let result = try Resampler.resample(pixels, alpha: test.alpha, to: output, filter: test.filter)
                let expected = try PixelBuffer.constant(output, test.layout, pixel)
                // With 16 bits and an alpha of a few levels, the colour exceeds the precision of 32-bit floats.
                guard test.layout == .rgba8 || alpha > 1000 else { continue }
                // In 32-bit floats, a sum of a thousand rows or columns is off by one level of 65535.
                let allowed = test.layout == .rgba16 && max(size.width, size.height) > 1000 ? 1 : 0
                let worst = zip(result.channels, expected.channels).map { abs($0 - $1) }.max() ?? 0
                #expect(worst <= allowed, "\(pixel) \(size) to \(output)")
            }
        }
    }

    @Test(arguments: Case.all) func rowsInAnyBandsGiveTheSamePixels(_ test: Case) throws {
        var random = SeededGenerator(seed: 11)
        for (seed, (size, output)) in Self.sizes.enumerated() {
            let pixels = try PixelBuffer.random(size, test.layout, alpha: test.alpha, seed: UInt64(seed))
            let crop = PixelRect(
                x: 0.3, y: 0.4, width: Double(size.width) - 0.5, height: Double(size.height) - 0.7)
            let whole = try Resampler.resample(
                pixels, alpha: test.alpha, crop: crop, to: output, filter: test.filter)
            for longest in [1, 3, 8, 40] {
                let sink = Resampler(crop: crop, output: output, filter: test.filter)
                try feed(pixels, test.alpha, to: sink) { Int.random(in: 1...longest, using: &random) }
                #expect(sink.isComplete)
                #expect(sink.buffer?.channels == whole.channels, "\(size) to \(output), bands up to \(longest)")
            }
        }
    }

    private func feed(
        _ pixels: PixelBuffer, _ alpha: AlphaMode, to sink: Resampler, band: () -> Int
    ) throws {
        try sink.begin(RowFormat(size: pixels.size, layout: pixels.layout, alpha: alpha))
        var row = 0
        while row < pixels.size.height {
            let count = min(band(), pixels.size.height - row)
            try sink.band(at: row, count: count)
                .copyMemory(from: pixels.row(row), byteCount: count * pixels.bytesPerRow)
            try sink.commit(at: row, count: count)
            row += count
        }
    }

    @Test func rowsOfTheResultAreThereAsSoonAsTheirInputIs() throws {
        let pixels = try PixelBuffer.random(PixelSize(8, 400), alpha: .opaque, seed: 1)
        let sink = Resampler(output: PixelSize(4, 40), filter: .bilinear)
        try sink.begin(RowFormat(size: pixels.size, layout: .rgba8, alpha: .opaque))
        #expect(sink.wholePicture == nil)
        for row in 0..<400 {
            try sink.band(at: row, count: 1).copyMemory(from: pixels.row(row), byteCount: pixels.bytesPerRow)
            try sink.commit(at: row, count: 1)
            // Output row y needs the input rows before 10 * y + 20. Input rows are taken four at a time.
            #expect(sink.rowsDone >= (row + 1 - 20 - 3) / 10)
        }
        #expect(sink.rowsDone == 40)
    }

    @Test func rowsBesideThePartChangeNothing() throws {
        let pixels = try PixelBuffer.random(PixelSize(20, 60), alpha: .opaque, seed: 2)
        let other = try pixels.copied()
        // The filter reads rows 20 to 40 and three output rows, which are six input rows, on either side.
        for row in Array(0..<14) + Array(46..<60) {
            other.row(row).initializeMemory(as: UInt8.self, repeating: 99, count: other.bytesPerRow)
        }
        let crop = PixelRect(x: 0, y: 20, width: 20, height: 20)
        let results = try [pixels, other].map {
            try Resampler.resample($0, alpha: .opaque, crop: crop, to: PixelSize(10, 10)).channels
        }
        #expect(results[0] == results[1])
    }

    @Test(arguments: [AlphaMode.opaque, .straight]) func theSameSizeIsACopyToTheBit(_ alpha: AlphaMode) throws {
        let pixels = try PixelBuffer.random(PixelSize(19, 7), alpha: alpha, seed: 3)
        let sink = Resampler(output: pixels.size)
        try feed(pixels, alpha, to: sink) { 2 }
        #expect(sink.buffer?.channels == pixels.channels)
        #expect(sink.rowsDone == 7)
        let once = try Resampler.resample(pixels, alpha: alpha, to: pixels.size)
        #expect(once.channels == pixels.channels)
    }

    @Test(arguments: [AlphaMode.opaque, .straight]) func aPartInWholePixelsIsACopyToTheBit(_ alpha: AlphaMode) throws {
        let pixels = try PixelBuffer.random(PixelSize(19, 17), .rgba16, alpha: alpha, seed: 4)
        let sink = Resampler(crop: PixelRect(x: 3, y: 5, width: 8, height: 9), output: PixelSize(8, 9))
        try feed(pixels, alpha, to: sink) { 3 }
        #expect(sink.buffer?.channels == (try pixels.cropped(x: 3, y: 5, to: PixelSize(8, 9)).channels))
    }

    @Test func symmetricPicturesStaySymmetric() throws {
        // A picture that equals its mirror image must do so afterwards; a shift by any part of a pixel would show.
        let half = try PixelBuffer.random(PixelSize(15, 21), alpha: .opaque, seed: 5)
        let mirror = try half.flipped(horizontally: true, vertically: false)
        var channels: [Int] = []
        for start in stride(from: 0, to: 21 * 60, by: 60) {
            channels += half.channels[start..<start + 60]
            channels += mirror.channels[start..<start + 60]
        }
        let pixels = try PixelBuffer.make(PixelSize(30, 21), channels)
        for filter in ResampleFilter.allCases {
            // libvips shifts pictures that it enlarges.
            for width in filter == .libvips ? [7, 15, 16] : [7, 15, 16, 44] {
                let result = try Resampler.resample(pixels, alpha: .opaque, to: PixelSize(width, 9), filter: filter)
                let turned = try result.flipped(horizontally: true, vertically: false)
                let worst = zip(result.channels, turned.channels).map { abs($0 - $1) }.max() ?? 0
                #expect(worst <= 1, "\(filter) to \(width)")
            }
        }
    }

    @Test func enlargingByBoxRepeatsPixels() throws {
        let pixels = try PixelBuffer.random(PixelSize(5, 4), alpha: .straight, seed: 6)
        let result = try Resampler.resample(pixels, alpha: .straight, to: PixelSize(15, 12), filter: .box)
        for y in 0..<12 {
            for x in 0..<15 {
                let source = pixels.pixel(x / 3, y / 3)
                #expect(result.pixel(x, y) == (source[3] == 0 ? [0, 0, 0, 0] : source))
            }
        }
    }

    @Test(arguments: ResampleFilter.allCases) func theColourOfTransparentPixelsDoesNotBleed(
        _ filter: ResampleFilter
    ) throws {
        // Opaque blue on the left; fully transparent red on the right.
        var channels: [Int] = []
        for _ in 0..<24 { for x in 0..<24 { channels += x < 12 ? [0, 0, 200, 255] : [255, 0, 0, 0] } }
        let pixels = try PixelBuffer.make(PixelSize(24, 24), channels)
        for output in [PixelSize(7, 7), PixelSize(50, 50)] {
            let result = try Resampler.resample(pixels, alpha: .straight, to: output, filter: filter)
            for x in 0..<output.width {
                let pixel = result.pixel(x, output.height / 2)
                #expect(pixel[0] == 0)
                if pixel[3] > 0 { #expect(abs(pixel[2] - 200) <= (filter == .box || filter == .bilinear ? 1 : 55)) }
            }
        }
    }

    @Test func aHardEdgeIsClampedAndDoesNotWrap() throws {
        var channels: [Int] = []
        for _ in 0..<20 { for x in 0..<20 { channels += x < 10 ? [0, 0, 0, 255] : [255, 255, 255, 255] } }
        let pixels = try PixelBuffer.make(PixelSize(20, 20), channels)
        let result = try Resampler.resample(pixels, alpha: .opaque, to: PixelSize(33, 33), filter: .lanczos3)
        #expect(result.pixel(2, 16)[0] < 10 && result.pixel(30, 16)[0] > 245)
        #expect((0..<33).allSatisfy { result.pixel($0, 16)[3] == 255 })
    }

    @Test func premultipliedPixelsStayPremultiplied() throws {
        let pixels = try PixelBuffer.random(PixelSize(23, 23), alpha: .straight, seed: 8)
        let premultiplied = try pixels.copied()
        premultiplied.premultiply()
        let result = try Resampler.resample(premultiplied, alpha: .premultiplied, to: PixelSize(9, 40)).channels
        for start in stride(from: 0, to: result.count, by: 4) {
            #expect(result[start..<start + 3].allSatisfy { $0 <= result[start + 3] })
        }
    }

    @Test func rowsThatFitNoMemoryAreALimit() throws {
        let sink = Resampler(crop: PixelRect(x: 0, y: 0, width: 1, height: 1), output: PixelSize(1, 1))
        try sink.begin(RowFormat(size: PixelSize(1 << 50, 4), layout: .rgba8, alpha: .opaque))
        let error = #expect(throws: WebImageError.self) { _ = try sink.band(at: 0, count: 1) }
        #expect(error?.code == .limitExceeded)
    }

    @Test func aPictureThatEndsEarlyHasItsFirstRowsAndThenNothing() throws {
        let pixels = try PixelBuffer.constant(PixelSize(10, 100), [9, 8, 7, 255])
        let sink = Resampler(output: PixelSize(5, 50))
        try sink.begin(RowFormat(size: pixels.size, layout: .rgba8, alpha: .opaque))
        try sink.band(at: 0, count: 50).copyMemory(from: pixels.row(0), byteCount: 50 * pixels.bytesPerRow)
        try sink.commit(at: 0, count: 50)
        sink.clearMissingRows()
        #expect((20...25).contains(sink.rowsDone))
        #expect(!sink.isComplete)
        #expect(sink.buffer?.pixel(4, sink.rowsDone - 1) == [9, 8, 7, 255])
        #expect(sink.buffer?.pixel(0, sink.rowsDone) == [0, 0, 0, 0])
        #expect(sink.buffer?.pixel(4, 49) == [0, 0, 0, 0])
    }

    @Test func aPartOutsideOfThePictureIsRefused() throws {
        let pixels = try PixelBuffer.constant(PixelSize(4, 4), [0, 0, 0, 255])
        let parts = [
            PixelRect(x: 4, y: 0, width: 2, height: 2), PixelRect(x: 0, y: -3, width: 4, height: 3),
            PixelRect(x: 0, y: 0, width: .nan, height: 1), PixelRect(x: .nan, y: 0, width: 1, height: 1),
            PixelRect(x: 0, y: 0, width: 0, height: 1),
        ]
        for part in parts {
            let error = #expect(throws: WebImageError.self) {
                try Resampler.resample(pixels, alpha: .opaque, crop: part, to: PixelSize(2, 2))
            }
            #expect(error?.code == .transformFailed)
        }
    }

    @Test func aSideTooLongToScaleIsRefusedBeforeAnythingIsMade() {
        for (size, output) in [
            (PixelSize(100_000_000, 1), PixelSize(1000, 1)), (PixelSize(1, 100_000_000), PixelSize(1, 10)),
            (PixelSize(1, 1), PixelSize(1, 2_000_000)),
        ] {
            let sink = Resampler(output: output)
            let error = #expect(throws: WebImageError.self) {
                try sink.begin(RowFormat(size: size, layout: .rgba8, alpha: .opaque))
            }
            #expect(error?.code == .limitExceeded)
        }
    }
}
