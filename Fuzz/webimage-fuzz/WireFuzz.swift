import WebImageCodecs
import WebImageCore
import WebImageTesting

/// Messages of decoder workers, which may be compromised: the host must fail the picture with a typed error, or accept
/// a whole one.
///
/// An input is a byte that chooses the request, then packets, each preceded by its length in two bytes.
enum WireFuzz {
    private static let limits = DecodeLimits(
        pixels: 1 << 16, animationPixels: 1 << 20, frames: 50, bytes: .mebibytes(1), metadata: .kibibytes(64))

    static func run(_ input: [UInt8]) {
        guard let first = input.first else { return }
        let packets = self.packets(input.dropFirst())
        let options = DecodeOptions(limits: limits, keepsBitDepth: first & 8 != 0)
        guard let coder = ImitatedWorker.coder(first & 1 == 0 ? PNGCoder() : WebPCoder(), saying: packets) else {
            return
        }
        if first & 2 == 0 {
            let outcome = DecodeOutcome(
                coder, [1, 2, 3], options, keepsWhole: first & 4 == 0, previews: first & 16 != 0)
            let faults = outcome.faults.filter { !$0.contains("decoderCrashed") && !$0.contains("decoderUnavailable") }
            check(faults.isEmpty, "\(faults)")
        } else {
            frames(coder, options)
        }
    }

    private static func frames(_ coder: any ImageCoder, _ options: DecodeOptions) {
        guard let decoder = try? coder.makeAnimationDecoder(.webp, options) else { return }
        let bytes: [UInt8] = [1, 2, 3]
        bytes.withUnsafeBytes { try? decoder.push($0) }
        try? decoder.finish()
        for index in decoder.storedDelays.indices.prefix(5) {
            if decoder.firstFrameNeeded(for: index) > index { check(false, "a frame needs a later one") }
            guard let pixels = try? decoder.frame(at: index) else { break }
            check(pixels.size == decoder.header?.size, "a frame of another size")
        }
    }

    private static func packets(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
        var (rest, packets) = (bytes, [[UInt8]]())
        while rest.count >= 2, packets.count < 100 {
            let count = Int(rest[rest.startIndex]) | Int(rest[rest.startIndex + 1]) << 8
            rest = rest.dropFirst(2)
            packets.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return packets
    }

    static var seeds: [(String, [UInt8])] {
        let png = ImageHeader(format: .png, size: PixelSize(width: 9, height: 7))
        var large = ImageHeader(format: .png, size: PixelSize(width: 200, height: 300))
        large.iccProfile = [UInt8](repeating: 3, count: 200)
        large.frameCount = 3
        let webp = ImageHeader(format: .webp, size: PixelSize(width: 9, height: 7))
        return [
            ("still", [0] + written(ImitatedWorker.conversation(about: png))),
            ("large", [4] + written(ImitatedWorker.conversation(about: large))),
            ("animation", [3] + written(ImitatedWorker.conversation(aboutAnimation: webp, frames: 3))),
        ]
    }

    private static func written(_ packets: [[UInt8]]) -> [UInt8] {
        packets.flatMap { [UInt8($0.count & 255), UInt8($0.count >> 8)] + $0 }
    }

    private static func check(_ isTrue: Bool, _ message: String) { if !isTrue { fatalError(message) } }
}
