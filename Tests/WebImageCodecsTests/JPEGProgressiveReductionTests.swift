import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

/// Progressive JPEGs at a half, a quarter and an eighth of their size, which are decoded without libjpeg.
@Suite struct JPEGProgressiveReductionTests {
    /// Noise over a gradient, so that all kinds of scans have data.
    private static func picture(_ width: Int, _ height: Int, isGray: Bool = false) throws -> Image {
        var generator = SeededGenerator(seed: 5)
        return try Image(size: PixelSize(width: width, height: height), alpha: .opaque) { pixels in
            for index in 0..<width * height {
                let slope = 60 + 120 * (index % width) / width
                let values = (0..<3).map { _ in UInt8(slope + Int.random(in: -40...40, using: &generator)) }
                for channel in 0..<3 { pixels[4 * index + channel] = values[isGray ? 0 : channel] }
                pixels[4 * index + 3] = 255
            }
        }
    }

    private static func encoded(
        _ image: Image, _ chroma: ChromaSubsampling, progressive: Bool, quality: Int = 88
    ) throws -> [UInt8] {
        var options = EncodeOptions(quality: quality, progressive: progressive)
        options.chroma = chroma
        return try JPEGCoder().encode(image, as: .jpeg, options)
    }

    /// The sequential and the progressive picture have the same coefficients.
    @Test(arguments: [2, 4, 8], ChromaSubsampling.allCases)
    func thePixelsAreThoseOfTheSequentialPicture(scale: Int, chroma: ChromaSubsampling) throws {
        let image = try Self.picture(203, 117)
        let sequential = decode(try Self.encoded(image, chroma, progressive: false), scale: scale)
        let bytes = try Self.encoded(image, chroma, progressive: true)
        for most in [1, 40, 5000, 1 << 20] {
            let result = decode(bytes, scale: scale, length: randomLengths(seed: 3, most: most))
            #expect(result.error == nil && result.wasComplete && result.header?.isDividedByFrequencies == true)
            #expect(result.pixels == sequential.pixels)
        }
    }

    @Test func previewsBecomeEverFiner() throws {
        let bytes = try Self.encoded(Self.picture(256, 128), .yuv420, progressive: true)
        let result = decode(bytes, scale: 2, previewEvery: 1, length: { 1000 })
        let differences = result.previews.map { $0.meanDifference(to: result.pixels) }
        #expect(result.error == nil && differences.count > 10)
        let (first, last) = try (#require(differences.first), #require(differences.last))
        #expect(first > 4 && last < first / 4)
        let steps = zip(differences, differences.dropFirst())
        #expect(steps.allSatisfy { $1 <= $0 + 0.1 }, "\(differences)")
    }

    /// Within the first scan only some rows are there; after it, all are.
    @Test func rowsEndWhereTheFirstScanEnds() throws {
        let bytes = try Self.encoded(Self.picture(64, 160), .yuv444, progressive: true)
        let first = try #require(JPEGMaker.scans(of: bytes).first).data
        var known: [Int] = []
        for length in stride(from: first.lowerBound, through: first.upperBound, by: 9) {
            let cut = decode(Array(bytes.prefix(length)), scale: 4)
            #expect(cut.error?.code == .truncatedData)
            known.append(cut.rows)
        }
        #expect(known == known.sorted() && known.first == 0 && Set(known).count > 10)
        let later = decode(Array(bytes.prefix(first.upperBound + 100)), scale: 4)
        #expect(later.error?.code == .truncatedData && later.rows == 40)
    }

    /// The weight of each pixel of a block in each of the block's four pixels at a quarter of the size.
    private static let weights: [[Double]] = {
        let shares = (0..<64).map { pixel in
            JPEGReductionTests.lowFrequencies(of: (0..<64).map { $0 == pixel ? 1 : 0 }, 2)
        }
        return (0..<4).map { part in shares.map { $0[part] } }
    }()

    /// The largest difference of a gray picture at a quarter of the size from the low frequencies of the full picture,
    /// and the number of blocks that were compared. Blocks with values of 0 or 255 are not, because they may have been
    /// clamped.
    private static func difference(_ part: CoderDecode, _ full: CoderDecode, width: Int, height: Int) -> (Double, Int) {
        var (most, count) = (0.0, 0)
        for (blockY, blockX) in (0..<height / 8 * (width / 8)).map({ ($0 / (width / 8), $0 % (width / 8)) }) {
            let values = (0..<64).map { full.pixels.bytes[((blockY * 8 + $0 / 8) * width + blockX * 8 + $0 % 8) * 4] }
            guard values.allSatisfy({ $0 > 0 && $0 < 255 }) else { continue }
            count += 1
            for (index, weights) in weights.enumerated() {
                var sum = 0.0
                for pixel in 0..<64 { sum += weights[pixel] * Double(values[pixel]) }
                let place = ((blockY * 2 + index / 2) * width / 4 + blockX * 2 + index % 2) * 4
                most = max(most, abs(min(max(sum, 0), 255) - Double(part.pixels.bytes[place])))
            }
        }
        return (most, count)
    }

    /// Damages one byte in four, from the first scan on: in the tables, headers and data of all scans.
    @Test func damageShowsAsInLibjpeg() throws {
        let (width, height) = (48, 32)
        let sound = try Self.encoded(Self.picture(width, height, isGray: true), .automatic, progressive: true)
        let start = try #require(JPEGMaker.scans(of: sound).first).data.lowerBound
        var (compared, failed, others, different) = (0, 0, 0, [Int]())
        for place in stride(from: start, to: sound.count - 2, by: 4) {
            var file = sound
            file[place] ^= [0x10, 0x81, 0xFF][place / 4 % 3]
            let (full, part) = (decode(file), decode(file, scale: 4))
            if part.error?.code != full.error?.code {
                // Data that the full picture lacks may not matter here, and a table that continues after the end counts
                // as cut off.
                let isCoarse = full.error?.code == .truncatedData && full.rows == height && part.error == nil
                let isCut = full.error?.code == .corruptData && part.error?.code == .truncatedData
                #expect(isCoarse || isCut, "byte \(place)")
                others += 1
                continue
            }
            #expect(part.rows == full.rows / 4, "byte \(place)")
            guard full.error == nil else {
                failed += 1
                continue
            }
            let (difference, blocks) = Self.difference(part, full, width: width, height: height)
            // The values of the full picture were rounded, too.
            if difference > 1.6 { different.append(place) }
            compared += blocks
        }
        #expect(compared > 3000 && failed > 5 && others < 10)
        // Coefficients that no real picture has overflow the 16-bit sums of libjpeg.
        #expect(different.count < 3, "\(different)")
    }
}
