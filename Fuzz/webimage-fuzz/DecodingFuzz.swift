import WebImageCodecs
import WebImageCore
import WebImageTesting

/// Decodes the same bytes in one piece and in several, as a still and as frames, and compares the results.
struct DecodingFuzz {
    let format: ImageFormat
    let coder: any ImageCoder

    /// The limits are small, so that memory that is allocated according to a header's numbers is noticed.
    private static let limits = DecodeLimits(
        pixels: 1 << 16, animationPixels: 1 << 22, frames: 200, bytes: .mebibytes(1), metadata: .kibibytes(64))

    /// The formats that are parsed by our code before any library. For these, damage must be found at the same place
    /// however the bytes are divided.
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

    /// Whether damaged data gives the same result however it is divided. For damaged data in pieces, libwebp and
    /// libjpeg-turbo themselves produce other pixels and report no error (near the end of a piece, libjpeg-turbo
    /// decodes in its slower way). libde265 predicts from memory that such data left unwritten, although its planes
    /// begin as zeros. Valid JPEGs in pieces are covered by tests.
    private var isPredictable: Bool { ![.webp, .jpeg, .heic, .heif, .heicSequence].contains(format) }

    private func compare(_ whole: DecodeOutcome, _ pieces: DecodeOutcome) {
        if whole.error == nil, pieces.error == nil {
            check(whole.header == pieces.header, "\(whole.header as Any) in one, \(pieces.header as Any) in pieces")
        }
        let errors = "\(whole.error as Any) in one piece, \(pieces.error as Any) in several"
        guard isPredictable else { return }
        check(whole.error?.code == pieces.error?.code || isReadByLibpng, errors)
        // An interlaced picture has all its rows from the first pass on, but how fine they are depends on the last
        // piece as well.
        let isCoarse = isReadByLibpng && whole.header?.isProgressive == true && whole.error != nil
        check(isCoarse || whole.agrees(with: pieces), "other rows in pieces; \(errors)")
    }

    /// libpng does not ask zlib for rows that zlib still holds when the bytes end. Where the last piece begins decides
    /// whether these rows are produced, and which of two kinds of damage is found first.
    private var isReadByLibpng: Bool { [.png, .apng, .ico, .cur].contains(format) }

    /// Compares the decodes at a reduced size.
    private func runPart(_ part: Int, _ bytes: [UInt8], _ options: DecodeOptions, cut: Int) {
        let whole = DecodeOutcome(coder, bytes, options, part: part)
        var lengths = [bytes.count, cut]
        let pieces = DecodeOutcome(coder, bytes, options, part: part) { lengths.popLast() ?? bytes.count }
        check(whole.faults.isEmpty && pieces.faults.isEmpty, "at a part: \(whole.faults + pieces.faults)")
        // JPEGs that are divided by frequencies are decoded by our code.
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

    /// FNV-1a. All choices follow from the bytes, so that a finding can be reproduced.
    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }
}
