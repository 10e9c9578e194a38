import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

/// Animated files of the corpus against a reference compositor's frames.
@Suite(.enabled(if: Corpus.isAvailable)) struct AnimationCorpusTests {
    /// Those of them that this build has.
    static let formats = Set(["apng", "avif-sequence", "gif", "jxl", "webp"])
        .intersection(CoderRegistry.standard.decodableFormats.map(\.rawValue))

    /// The manifest's reference does not read the edit lists of AVIF sequences: the first two say "for ever", the third
    /// "once", and Chrome plays the last one for ever, which has none.
    static let editLists = [
        "animated/colors-animated-8bpc-alpha-exif-xmp.avif": 0, "animated/mp4parse-loop_forever.avif": 0,
        "animated/colors-animated-8bpc.avif": 1, "animated/star.avifs": 0,
    ]

    /// Frames behind an APNG's frame that is to be undone. The reference compositor (Pillow) leaves that standing when
    /// it is asked for each frame in turn; the first file's twin, a GIF, has the frame below, and the second one has
    /// nothing but green beneath.
    static let corrections: [String: [Double]] = [
        "animated/animated-red-blue.apng 3": [241.86, 230.74, 230.74, 255],
        "animated/dispose_op_previous.png 2": [0, 255, 0, 255],
    ]

    static let rows = Corpus.rows.filter { formats.contains($0.format) && $0.expected == "ok" && $0.frames > 1 }

    @Test(arguments: rows)
    func everyFrameIsAsTheReferenceSays(_ row: CorpusRow) throws {
        let decoder = try #require(try makeDecoder(row))
        let expected = CorpusFrame.all.filter { $0.path == row.path }
        #expect(decoder.header?.size == PixelSize(width: row.width, height: row.height))
        #expect(decoder.storedDelays.count == row.frames && decoder.header?.frameCount == row.frames)
        #expect(decoder.header?.loopCount == (Self.editLists[row.path] ?? row.playCount))
        for frame in expected {
            // The reference rounds to milliseconds.
            let difference = decoder.storedDelays[frame.index] - frame.delay
            #expect(abs(difference / .microseconds(1)) < 501, "frame \(frame.index)")
            let means = premultipliedMeans(of: try decoder.frame(at: frame.index))
            let wanted = Self.corrections["\(row.path) \(frame.index)"] ?? frame.means
            let isClose = zip(wanted, means).allSatisfy { abs($0 - $1) <= 2 }
            #expect(isClose, "frame \(frame.index) has \(means), not \(wanted)")
        }
    }

    /// By another decoder: means alone would not see a frame that is mirrored.
    @Test(arguments: rows)
    func theFirstFrameIsTheStill(_ row: CorpusRow) throws {
        let decoder = try #require(try makeDecoder(row))
        guard decoder.beginsWithStill else { return }
        let still = try CoderRegistry.standard.decode(try #require(Corpus.read(row.path))).image
        let frame = Image(pixels: try decoder.frame(at: 0), info: Image.Info(alpha: .straight))
        #expect(frame.size == still.size)
        let (first, second) = (frame.bytes.seen, still.bytes.seen)
        #expect(still.layout != .rgba8 || first.meanDifference(to: second) < 0.5)
    }

    @Test(arguments: rows)
    func framesInAnyOrderAndInAnyPiecesAreTheSame(_ row: CorpusRow) throws {
        let inOrder = try #require(try makeDecoder(row))
        let count = min(inOrder.storedDelays.count, 40)
        let frames = try (0..<count).map { try pixels(of: inOrder.frame(at: $0)) }
        var random = SeededGenerator(seed: 7)
        let pieces = try #require(try makeDecoder(row, length: { Int.random(in: 1...3000, using: &random) }))
        for index in (0..<count).reversed() + (0..<count).shuffled(using: &random) {
            let isSame = try pixels(of: pieces.frame(at: index)) == frames[index]
            #expect(isSame, "frame \(index)")
        }
    }

    private func makeDecoder(
        _ row: CorpusRow, length: () -> Int = { .max }
    ) throws -> (any AnimationDecoder)? {
        let bytes = try #require(Corpus.read(row.path))
        return try bytes.withUnsafeBytes { all in
            let format = try #require(ImageFormat(sniffing: all))
            let coder = try CoderRegistry.standard.coder(for: format, prefix: all)
            guard let decoder = try coder.makeAnimationDecoder(format, DecodeOptions()) else { return nil }
            var rest = all[...]
            while !rest.isEmpty {
                let piece = rest.prefix(length())
                rest = rest.dropFirst(piece.count)
                try decoder.push(UnsafeRawBufferPointer(rebasing: piece))
            }
            try decoder.finish()
            return decoder
        }
    }

    private func pixels(of buffer: PixelBuffer) -> [UInt8] { buffer.withBytes { Array($0) } }

    private func premultipliedMeans(of buffer: PixelBuffer) -> [Double] {
        buffer.withBytes { WebImageCodecsTests.premultipliedMeans(of: $0) }
    }
}

/// A line of FRAMES.csv.
private struct CorpusFrame {
    var path: String
    var index: Int
    var delay: Duration
    /// Of premultiplied red, green and blue and of alpha.
    var means: [Double]

    static let all: [CorpusFrame] = {
        guard let bytes = Corpus.read("FRAMES.csv") else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: ",", omittingEmptySubsequences: false)
            guard fields.count >= 10, let index = Int(fields[1]), let delay = Double(fields[2]) else { return nil }
            return CorpusFrame(
                path: String(fields[0]), index: index, delay: .milliseconds(delay),
                means: [7, 8, 9, 6].compactMap { Double(fields[$0]) })
        }
    }()
}
