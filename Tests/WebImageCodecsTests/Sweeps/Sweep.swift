import Testing
import WebImageCodecs
import WebImageCore
import WebImageTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// How much damage is done to one file.
struct SweepPlan: Sendable {
    /// The number of places at which the file is cut off.
    var cuts: Int
    /// The number of copies with flipped bits.
    var flips: Int
    /// How often the file is decoded in random pieces.
    var pieces: Int
    /// The number of frames of an animation that are compared.
    var frames: Int

    /// The plan of the soak test: pictures of up to 1 megapixel are damaged often, larger ones a few times.
    static func full(pixels: Int) -> SweepPlan {
        pixels <= 1_000_000
            ? SweepPlan(cuts: 50, flips: 200, pieces: 3, frames: 4) : SweepPlan(cuts: 5, flips: 5, pieces: 1, frames: 1)
    }

    static let sample = SweepPlan(cuts: 12, flips: 30, pieces: 2, frames: 3)
}

/// Damages one good file in every way, and checks that each decode keeps its promises. Any file that a coder of the
/// registry reads can be swept; if it is animated, its frames are swept, too.
struct Sweep {
    let name: String
    let bytes: [UInt8]
    let format: ImageFormat
    let coder: any ImageCoder
    let plan: SweepPlan

    init(_ name: String, _ bytes: [UInt8], _ plan: SweepPlan) throws {
        self.name = name
        self.bytes = bytes
        self.plan = plan
        format = try #require(ImageFormat(sniffing: bytes))
        coder = try CoderRegistry.standard.coder(for: format, bytes: bytes)
    }

    /// The counts and times of a sweep.
    struct Report {
        var decodes = 0
        var slowest = Duration.zero
        var cutsByCode: [String: Int] = [:]

        mutating func add(_ other: Report) {
            decodes += other.decodes
            slowest = max(slowest, other.slowest)
            cutsByCode.merge(other.cutsByCode, uniquingKeysWith: +)
        }
    }

    func run() -> Report {
        var report = Report()
        var random = SeededGenerator(seed: name.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) })
        let whole = decode(bytes, &report)
        #expect(whole.error == nil, "\(name)")
        guard let size = whole.format?.size else { return report }
        sweepPieces(whole, &random, &report)
        sweepCuts(whole, &random, &report)
        sweepFlips(size, &random, &report)
        if let frames = readFrames(bytes, &report) { sweepFrames(frames, size, &random, &report) }
        return report
    }

    private func sweepPieces(_ whole: DecodeOutcome, _ random: inout SeededGenerator, _ report: inout Report) {
        for _ in 0..<plan.pieces {
            // Pieces of 1 to 64 KiB, or smaller ones for files that would otherwise be a single piece.
            let most = min(64 << 10, max(bytes.count / 3, 20))
            var lengths = SeededGenerator(seed: random.next())
            let pieces = decode(bytes, keepsWhole: false, &report) {
                Int.random(in: min(1024, most / 4)...most, using: &lengths)
            }
            #expect(pieces.error == nil && pieces.header == whole.header, "\(name) in pieces")
            #expect(pieces.hasSamePixels(as: whole), "\(name) in pieces")
        }
    }

    /// The places at which the file is cut off: one at a random place in each of equally long parts.
    private func places(_ random: inout SeededGenerator) -> [Int] {
        (0..<plan.cuts).map { cut in
            let (low, high) = (bytes.count * cut / plan.cuts, bytes.count * (cut + 1) / plan.cuts)
            return low + random.below(max(high - low, 1))
        }
    }

    private func sweepCuts(_ whole: DecodeOutcome, _ random: inout SeededGenerator, _ report: inout Report) {
        for place in places(&random) {
            let cut = decode(Array(bytes.prefix(place)), keepsWhole: place % 2 == 0, &report)
            report.cutsByCode[cut.error?.code.name ?? "complete", default: 0] += 1
            // If there is no error, no part of the picture may have been after the cut.
            if cut.error == nil { #expect(cut.hasSamePixels(as: whole), "\(name) cut at \(place)") }
        }
    }

    private func sweepFlips(_ size: PixelSize, _ random: inout SeededGenerator, _ report: inout Report) {
        // The limit is that of the sound picture, not of the size in a damaged header.
        let limits = DecodeLimits(pixels: max((size.pixelCount ?? 0) * 2, 1 << 20))
        for _ in 0..<plan.flips {
            let damaged = bytes.withFlippedBits(1 + random.below(4), by: &random)
            _ = decode(damaged, options: DecodeOptions(limits: limits), keepsWhole: random.below(2) == 0, &report)
        }
    }

    private func sweepFrames(
        _ whole: AnimationOutcome, _ size: PixelSize, _ random: inout SeededGenerator, _ report: inout Report
    ) {
        #expect(whole.error == nil, "\(name): frames")
        let rounds = max(1, min(plan.cuts, 3_000_000 / max(size.pixelCount ?? 1, 1)))
        for place in places(&random).shuffled(using: &random).prefix(rounds) {
            guard let cut = readFrames(Array(bytes.prefix(place)), &report) else { continue }
            #expect(cut.agrees(with: whole), "\(name): frames cut at \(place)")
            // Some GIFs have no trailer, so a GIF that ends after a block counts as complete.
            let isBehindBlock = format == .gif && bytes[..<place].last == 0
            #expect(
                cut.error != nil || isBehindBlock || cut.delays == whole.delays, "\(name): frames cut at \(place)")
        }
        for _ in 0..<min(plan.flips, rounds) {
            let damaged = bytes.withFlippedBits(1 + random.below(4), by: &random)
            _ = readFrames(damaged, limits: DecodeLimits(pixels: 1 << 20, frames: 1000), &report)
        }
    }

    private func decode(
        _ bytes: [UInt8], options: DecodeOptions = DecodeOptions(), keepsWhole: Bool = true, _ report: inout Report,
        length: (() -> Int)? = nil
    ) -> DecodeOutcome {
        let start = ContinuousClock.now
        let outcome = DecodeOutcome(coder, bytes, options, keepsWhole: keepsWhole, length: length)
        report.slowest = max(report.slowest, ContinuousClock.now - start)
        report.decodes += 1
        #expect(outcome.faults == [], "\(name)")
        return outcome
    }

    private func readFrames(
        _ bytes: [UInt8], limits: DecodeLimits = .default, _ report: inout Report
    ) -> AnimationOutcome? {
        let start = ContinuousClock.now
        let options = DecodeOptions(limits: limits)
        guard let outcome = AnimationOutcome(coder, format, bytes, options, most: plan.frames) else { return nil }
        report.slowest = max(report.slowest, ContinuousClock.now - start)
        report.decodes += 1
        #expect(outcome.faults == [], "\(name): frames")
        return outcome
    }
}

extension CoderRegistry {
    fileprivate func coder(for format: ImageFormat, bytes: [UInt8]) throws -> any ImageCoder {
        try bytes.withUnsafeBytes { try coder(for: format, prefix: $0) }
    }
}
