import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

/// JPEGs at a half, a quarter and an eighth of their size, which are decoded without libjpeg.
@Suite struct JPEGReductionTests {
    @Test(arguments: [2, 4, 8]) func aPartOfTheSizeIsTheLowFrequenciesOfEachBlock(scale: Int) throws {
        let size = PixelSize(width: 64, height: 40)
        var seed = UInt64(7)
        let image = try Image(size: size, alpha: .opaque) { pixels in
            for index in 0..<size.width * size.height {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let (x, y) = (index % size.width, index / size.width)
                let value = UInt8(60 + x + 2 * y + Int(seed >> 59))
                for channel in 0..<3 { pixels[4 * index + channel] = value }
                pixels[4 * index + 3] = 255
            }
        }
        let bytes = try JPEGCoder().encode(image, as: .jpeg, EncodeOptions(quality: 95))
        let full = decode(bytes)
        let part = decode(bytes, scale: scale)
        #expect(part.error == nil && part.wasComplete && part.header?.isDividedByFrequencies == true)
        let count = 8 / scale
        for (blockX, blockY) in [(0, 0), (3, 2), (7, 4)] {
            let values = (0..<64).map { index in
                Double(full.pixels.bytes[((blockY * 8 + index / 8) * size.width + blockX * 8 + index % 8) * 4])
            }
            let expected = Self.lowFrequencies(of: values, count)
            for index in 0..<count * count {
                let (x, y) = (blockX * count + index % count, blockY * count + index / count)
                let found = Double(part.pixels.bytes[(y * size.width / scale + x) * 4])
                // The values of the full picture were rounded, too.
                #expect(abs(found - expected[index]) < 1.5, "block \(blockX), \(blockY), pixel \(index)")
            }
        }
    }

    /// The inverse DCT of the lowest `count` x `count` coefficients of 8 x 8 values.
    static func lowFrequencies(of values: [Double], _ count: Int) -> [Double] {
        func wave(_ frequency: Int, _ place: Int, _ length: Int) -> Double {
            let scale = frequency == 0 ? (1 / Double(length)).squareRoot() : (2 / Double(length)).squareRoot()
            return scale * cos(Double((2 * place + 1) * frequency) * .pi / Double(2 * length))
        }
        return (0..<count * count).map { pixel in
            var sum = 0.0
            for (down, across) in (0..<count * count).map({ ($0 / count, $0 % count) }) {
                var coefficient = 0.0
                for index in 0..<64 {
                    coefficient += values[index] * wave(down, index / 8, 8) * wave(across, index % 8, 8)
                }
                sum += coefficient * wave(down, pixel / count, count) * wave(across, pixel % count, count)
            }
            return sum * Double(count) / 8
        }
    }

    /// This holds for every chroma subsampling and for bytes in any pieces.
    @Test(arguments: [2, 4, 8], ChromaSubsampling.allCases)
    func coloursAreThoseOfTheFullPicture(scale: Int, chroma: ChromaSubsampling) throws {
        // The picture is smooth, because libjpeg interpolates colours at half the resolution in the full picture.
        let image = try Image(size: PixelSize(width: 203, height: 117), alpha: .opaque) { pixels in
            for (y, x) in (0..<203 * 117).map({ ($0 / 203, $0 % 203) }) {
                let values = [x * 255 / 202, y * 255 / 116, (x + y) * 255 / 318, 255]
                for channel in 0..<4 { pixels[(y * 203 + x) * 4 + channel] = UInt8(values[channel]) }
            }
        }
        var options = EncodeOptions(quality: 85)
        options.chroma = chroma
        let bytes = try JPEGCoder().encode(image, as: .jpeg, options)
        let (full, part) = (decode(bytes).pixels, decode(bytes, scale: scale))
        let (width, height) = ((203 + scale - 1) / scale, (117 + scale - 1) / scale)
        #expect(part.error == nil && part.format?.size == PixelSize(width: width, height: height))
        var means: [UInt8] = []
        for (y, x, channel) in (0..<height * width * 4).map({ ($0 / 4 / width, $0 / 4 % width, $0 % 4) }) {
            var (sum, count) = (0, 0)
            for row in y * scale..<min((y + 1) * scale, 117) {
                for column in x * scale..<min((x + 1) * scale, 203) {
                    sum += Int(full.bytes[(row * 203 + column) * 4 + channel])
                    count += 1
                }
            }
            means.append(UInt8((sum + count / 2) / count))
        }
        #expect(part.pixels.meanDifference(to: Pixels(means)) < 1.5)
        let pieces = decode(bytes, scale: scale, keepsWhole: false, length: randomLengths(seed: 3, most: 50))
        #expect(pieces.error == nil && pieces.pixels == part.pixels)
    }

    /// Blocks of one colour each, so that the full picture by libjpeg gives the right pixel for each block.
    private static let columns = 6
    private static let blocks = (0..<48).map { $0 * 37 % 200 - 100 }

    private func expectAsInFull(_ file: [UInt8], _ name: String) {
        let full = decode(file)
        for most in [1, 30, 1 << 20] {
            let part = decode(file, scale: 8, length: randomLengths(seed: 5, most: most))
            #expect(part.error?.code == full.error?.code, "\(name)")
            #expect(part.rows == full.rows / 8, "\(name)")
            guard part.rows == full.rows / 8 else { continue }
            let expected = (0..<part.rows * Self.columns).flatMap { block -> [UInt8] in
                let place = (block / Self.columns * 64 * Self.columns + block % Self.columns * 8) * 4
                return Array(full.pixels.bytes[place..<place + 4])
            }
            #expect(part.pixels == Pixels(expected), "\(name)")
        }
    }

    @Test(arguments: [false, true]) func restartsAreFoundAgainAsLibjpegDoes(isProgressive: Bool) throws {
        let file = JPEGMaker.flatBlocks(
            Self.blocks, columns: Self.columns, restartEvery: 4, isProgressive: isProgressive)
        expectAsInFull(file, "sound")
        #expect(decode(file, scale: 8).error == nil)
        let scan = try #require(JPEGMaker.scans(of: file).first).data
        let markers = scan.dropLast().filter { file[$0] == 0xFF && (0xD0...0xD7).contains(file[$0 + 1]) }
        #expect(markers.count == 11)
        for (index, place) in markers.enumerated() {
            var changed = file
            changed.removeSubrange(place..<place + 2)
            expectAsInFull(changed, "without restart \(index)")
            changed = file
            changed.insert(contentsOf: [1, 0xFF, 0, 2], at: place)
            expectAsInFull(changed, "junk before restart \(index)")
            changed = file
            changed.removeSubrange(place - 3..<place)
            expectAsInFull(changed, "less before restart \(index)")
            for other in [1, 2, 3, 6, 7] {
                changed = file
                changed[place + 1] = 0xD0 + UInt8((index + other) % 8)
                expectAsInFull(changed, "restart \(index) called \((index + other) % 8)")
            }
            // libjpeg smooths blocks that have no second scan, so that they cannot be compared.
            if isProgressive { continue }
            changed = file
            changed[place + 1] = 0xD9
            expectAsInFull(changed, "an end in place of restart \(index)")
        }
    }

    @Test func rowsEndWhereTheDataEnds() throws {
        for interval in [0, 5] {
            let file = JPEGMaker.flatBlocks(Self.blocks, columns: Self.columns, restartEvery: interval)
            for length in stride(from: file.count, to: 40, by: -3) {
                expectAsInFull(Array(file.prefix(length)), "\(length) of \(file.count), restarts \(interval)")
            }
        }
    }

    /// The inks are the same as in the full picture.
    @Test(arguments: [2, 4, 8]) func inksAreReducedToo(scale: Int) throws {
        let inks = JPEGMaker.flatCMYK([1, 2, 3, 200], width: 16, height: 16, hasAdobeMarker: true)
        let (full, part) = (decode(inks), decode(inks, scale: scale))
        #expect(part.header?.isDividedByFrequencies == true && part.error == nil)
        #expect(part.format?.size == PixelSize(width: 16 / scale, height: 16 / scale))
        #expect(part.pixels == full.pixels.prefix(part.pixels.count) && part.pixels.bytes.first != 255)
    }

    @Test func aBaselineFileOfManyScansIsReducedByLibjpeg() throws {
        let header = try #require(decode(JPEGMaker.manyScansOfBaseline, scale: 8).header)
        #expect(!header.isDividedByFrequencies)
        #expect([2, 4, 8].map { JPEGCoder().scalingMargin(for: header, denominator: $0) } == [3, 3, 3])
    }
}
