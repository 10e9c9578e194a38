import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

/// Animated files of the corpus, compared with the frames of a reference compositor.
@Suite(.enabled(if: Corpus.isAvailable)) struct AnimationCorpusTests {
    /// The animated formats that this build reads.
    static let formats = Set(["apng", "avif-sequence", "gif", "jxl", "webp"])
        .intersection(CoderRegistry.standard.decodableFormats.map(\.rawValue))

    /// The manifest's reference does not read the edit lists of AVIF sequences. The lists of the first two files say
    /// "for ever", that of the third "once". The last file has none, and Chrome plays it for ever.
    static let editLists = [
        "animated/colors-animated-8bpc-alpha-exif-xmp.avif": 0, "animated/mp4parse-loop_forever.avif": 0,
        "animated/colors-animated-8bpc.avif": 1, "animated/star.avifs": 0,
    ]

    /// Means of frames that follow a frame with the disposal "previous". The reference compositor (Pillow) does not
    /// undo that frame when it is asked for each frame in turn. The GIF that corresponds to the first file has the
    /// right frame, and in the second file there is only green below.
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
            // The reference rounds delays to milliseconds.
            let difference = decoder.storedDelays[frame.index] - frame.delay
            #expect(abs(difference / .microseconds(1)) < 501, "frame \(frame.index)")
            let means = premultipliedMeans(of: try decoder.frame(at: frame.index))
            let wanted = Self.corrections["\(row.path) \(frame.index)"] ?? frame.means
            let isClose = zip(wanted, means).allSatisfy { abs($0 - $1) <= 2 }
            #expect(isClose, "frame \(frame.index) has \(means), not \(wanted)")
        }
    }

    /// Compares the first frame with the result of the decoder of stills. Means alone would not show that a frame is
    /// mirrored.
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
    /// The means of premultiplied red, green and blue, and of alpha.
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
