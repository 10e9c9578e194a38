import FoundationEssentials
import Synchronization
import Testing
import WebImage
import WebImageSystem
import WebImageTesting

/// A transformer that always fails.
struct Failing: ImageTransformer {
    let key = "failing"

    func transform(_ image: Image) throws(WebImageError) -> Image { throw WebImageError(.unsupportedFeature, "no") }
}

/// A custom format in ten lines: the first byte is the grey level, the second the width of the picture.
struct GreyCoder: WholeImageCoder {
    let decodableFormats: Set<ImageFormat> = [ImageFormat(rawValue: "grey")]
    var brightness: UInt8 = 1

    var key: String { "grey \(brightness)" }

    func decode(_ bytes: [UInt8], _ options: DecodeOptions) throws(WebImageError) -> Image {
        guard bytes.count == 2 else { throw WebImageError(.truncatedData, "a grey picture has two bytes") }
        return try Image(size: PixelSize(width: Int(bytes[1]), height: 10), alpha: .opaque) { pixels in
            for index in pixels.indices { pixels[index] = index % 4 == 3 ? 255 : bytes[0] &* brightness }
        }
    }
}

/// A custom format: any bytes are a white picture of two pixels.
struct WhiteCoder: ImageCoder {
    let decodableFormats: Set<ImageFormat> = [ImageFormat(rawValue: "white")]

    func makeDecoder(_ options: DecodeOptions, plan: @escaping DecodePlanner) throws(WebImageError) -> any ImageDecoder
    {
        WhiteDecoder(plan: plan)
    }
}

private final class WhiteDecoder: ImageDecoder {
    var header: ImageHeader?
    private let plan: DecodePlanner

    init(plan: @escaping DecodePlanner) { self.plan = plan }

    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
        let header = ImageHeader(format: ImageFormat(rawValue: "white"), size: PixelSize(width: 2, height: 1))
        self.header = header
        guard let sink = try plan(header).sink else { return .stoppedAtHeader }
        try sink.begin(RowFormat(size: header.size, layout: .rgba8, alpha: .opaque))
        try sink.band(at: 0, count: 1).initializeMemory(as: UInt8.self, repeating: 255, count: 8)
        try sink.commit(at: 0, count: 1)
        return .complete
    }

    func finish() throws(WebImageError) {}
}

/// A coder that decodes in one call, which waits at a gate.
final class SlowCoder: WholeImageCoder, @unchecked Sendable {
    // Sendable: the gate is set before the coder is used; the rest is guarded.
    var gate: Gate?
    private let counts = Guarded((running: 0, most: 0))

    let decodableFormats: Set<ImageFormat> = [ImageFormat(rawValue: "slow")]
    let decodesInOneCall = true

    var running: Int { counts.withLock { $0.running } }
    var most: Int { counts.withLock { $0.most } }

    func decode(_ bytes: [UInt8], _ options: DecodeOptions) throws(WebImageError) -> Image {
        counts.withLock { counts in
            counts.running += 1
            counts.most = max(counts.most, counts.running)
        }
        gate?.wait()
        counts.withLock { $0.running -= 1 }
        return Fixture.gradient(2, 2)
    }
}

/// A GIF coder that records the files that its animation decoders are given as a whole.
final class FileKeepingCoder: ImageCoder {
    private let given = Guarded([UInt]())

    let decodableFormats: Set<ImageFormat> = [.gif]

    /// The addresses of the files in memory.
    var places: [UInt] { given.withLock { $0 } }

    func makeDecoder(_ options: DecodeOptions, plan: @escaping DecodePlanner) throws(WebImageError) -> any ImageDecoder
    {
        try GIFCoder().makeDecoder(options, plan: plan)
    }

    func makeAnimationDecoder(
        _ format: ImageFormat, _ options: DecodeOptions
    ) throws(WebImageError) -> (any AnimationDecoder)? {
        try GIFCoder().makeAnimationDecoder(format, options).map { decoder in
            FileKeepingDecoder(decoder) { place in self.given.withLock { $0.append(place) } }
        }
    }
}

private final class FileKeepingDecoder: AnimationDecoder {
    private let decoder: any AnimationDecoder
    private let tell: (UInt) -> Void

    init(_ decoder: any AnimationDecoder, tell: @escaping (UInt) -> Void) {
        self.decoder = decoder
        self.tell = tell
    }

    var header: ImageHeader? { decoder.header }
    var storedDelays: [Duration] { decoder.storedDelays }
    var encodedByteCount: Int { decoder.encodedByteCount }

    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) { try decoder.push(bytes) }

    func push(file: [UInt8]) throws(WebImageError) {
        tell(file.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) })
        try decoder.push(file: file)
    }

    func finish() throws(WebImageError) { try decoder.finish() }
    func frame(at index: Int) throws(WebImageError) -> PixelBuffer { try decoder.frame(at: index) }
}
