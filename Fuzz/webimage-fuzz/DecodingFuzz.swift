import WebImageCodecs
import WebImageCore
import WebImageTesting

/// Decodes the same bytes in one piece and in several, stills and frames, and compares.
struct DecodingFuzz {
    let format: ImageFormat
    let coder: any ImageCoder

    /// Small, so that what takes memory by a header's numbers shows.
    private static let limits = DecodeLimits(
        pixels: 1 << 16, animationPixels: 1 << 22, frames: 200, bytes: .mebibytes(1), metadata: .kibibytes(64))

    /// The formats whose bytes no library reads before us: there, damage must be found at the same place however the
    /// bytes come.
    private static let ownParsers: Set<ImageFormat> = [.gif, .bmp, .ico, .cur, .qoi, .pnm]

    func run(_ input: [UInt8]) {
        var random = SeededGenerator(seed: Self.hash(input))
        let isPNG = format == .png || format == .apng
        let bytes = isPNG && random.below(4) > 0 ? PNGChecksums.mend(input) : input
        let options = DecodeOptions(limits: Self.limits, keepsBitDepth: random.below(4) == 0)
        let whole = DecodeOutcome(coder, bytes, options, keepsWhole: random.below(2) == 0)
        let cut = random.below(bytes.count + 1)
        var lengths = [cut, bytes.count]
        if random.below(4) == 0 { lengths = (0..<8).map { _ in random.below(bytes.count / 4 + 1) } + lengths }
        lengths.reverse()
        let pieces = DecodeOutcome(coder, bytes, options, keepsWhole: random.below(2) == 0, previews: true) {
            lengths.popLast() ?? bytes.count
        }
        check(whole.faults.isEmpty, "in one piece: \(whole.faults)")
        check(pieces.faults.isEmpty, "in pieces: \(pieces.faults)")
        compare(whole, pieces)
        if let header = whole.header, coder.scaleDenominators(for: header).contains(where: { $0 > 1 }) {
            runPart(random.below(3), bytes, options, cut: cut)
        }
        runFrames(bytes, options, cut: cut)
    }

    /// libwebp and libjpeg-turbo alone give other pixels for the same damaged data, and call it good, when it comes in
    /// pieces (near the end of one libjpeg-turbo decodes by its slower way); libde265 predicts from memory of its own that
    /// such data left unwritten, in spite of planes that begin as zeros. Sound JPEGs in pieces have tests.
    private var isPredictable: Bool { ![.webp, .jpeg, .heic, .heif, .heicSequence].contains(format) }

    private func compare(_ whole: DecodeOutcome, _ pieces: DecodeOutcome) {
        if whole.error == nil, pieces.error == nil {
            check(whole.header == pieces.header, "\(whole.header as Any) in one, \(pieces.header as Any) in pieces")
        }
        let errors = "\(whole.error as Any) in one piece, \(pieces.error as Any) in several"
        guard isPredictable else { return }
        check(whole.error?.code == pieces.error?.code || isReadByLibpng, errors)
        // An interlaced picture has all its rows from the first pass on; how fine they are hangs on the same.
        let isCoarse = isReadByLibpng && whole.header?.isProgressive == true && whole.error != nil
        check(isCoarse || whole.agrees(with: pieces), "other rows in pieces; \(errors)")
    }

    /// libpng does not ask zlib for rows that it still holds when the bytes end: whether they come, and which of two kinds
    /// of damage is found first, depends on where the last piece begins.
    private var isReadByLibpng: Bool { [.png, .apng, .ico, .cur].contains(format) }

    /// The same at a part of the size.
    private func runPart(_ part: Int, _ bytes: [UInt8], _ options: DecodeOptions, cut: Int) {
        let whole = DecodeOutcome(coder, bytes, options, part: part)
        var lengths = [bytes.count, cut]
        let pieces = DecodeOutcome(coder, bytes, options, part: part) { lengths.popLast() ?? bytes.count }
        check(whole.faults.isEmpty && pieces.faults.isEmpty, "at a part: \(whole.faults + pieces.faults)")
        // Such JPEGs are read by ourselves.
        guard isPredictable || whole.header?.isDividedByFrequencies == true else { return }
        let errors = "\(whole.error as Any) in one piece, \(pieces.error as Any) in several"
        check(whole.error?.code == pieces.error?.code, "at a part: \(errors)")
        check(whole.agrees(with: pieces), "at a part: other rows in pieces; \(errors)")
    }

    private func runFrames(_ bytes: [UInt8], _ options: DecodeOptions, cut: Int) {
        guard let whole = AnimationOutcome(coder, format, bytes, options, most: 6) else { return }
        var lengths = [bytes.count, cut]
        let pieces = AnimationOutcome(coder, format, bytes, options, most: 6, backwards: true) {
            lengths.popLast() ?? bytes.count
        }
        guard let pieces else { return check(false, "no animation decoder the second time") }
        check(whole.faults.isEmpty && pieces.faults.isEmpty, "frames: \(whole.faults + pieces.faults)")
        check(whole.agrees(with: pieces), "other frames backwards and in pieces")
        guard Self.ownParsers.contains(format) else { return }
        check(whole.delays == pieces.delays, "\(whole.delays) in one piece, \(pieces.delays) in several")
    }

    private func check(_ isRight: Bool, _ message: @autoclosure () -> String) {
        if !isRight { fatalError("\(format.rawValue): \(message())") }
    }

    /// FNV-1a: the choices follow from the bytes, so that a finding can be run again.
    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }
}
