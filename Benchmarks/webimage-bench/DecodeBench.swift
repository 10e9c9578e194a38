import CBench
import WebImageCodecs
import WebImageCore
import WebImageTesting

/// A full decode against the bare loop of the C library into memory of the same size. Bar: 1.05 times its CPU.
enum DecodeBench {
    static func run() throws {
        let photo = try SamplePictures.grainySunset(PixelSize(width: 4000, height: 3000))
        let noisy = try SamplePictures.nebula(PixelSize(width: 2304, height: 1728))
        try compare("12 MP baseline JPEG", photo.encoded(.jpeg, EncodeOptions(quality: 88)), cb_decode_jpeg)
        try compare(
            "12 MP progressive JPEG", photo.encoded(.jpeg, EncodeOptions(quality: 88, progressive: true)),
            cb_decode_jpeg)
        try compare("4 MP PNG", noisy.encoded(.png, EncodeOptions()), cb_decode_png)
        print("ours asks the kernel for large pages for its output, which the bare loop does not: see LargePages+Linux")
    }

    private static func compare(
        _ name: String, _ bytes: [UInt8],
        _ bare: (UnsafePointer<UInt8>, Int, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>) -> UInt64
    ) throws {
        let rounds = 15
        var failure: (any Error)?
        let (ours, theirs, ratio) = Measure.alternating(
            rounds,
            {
                let begin = Measure.threadCPU
                do { try decode(bytes) } catch { failure = error }
                return Double(Measure.threadCPU - begin) / 1e6
            },
            {
                var (width, height) = (Int32(0), Int32(0))
                let begin = Measure.threadCPU
                _ = bytes.withUnsafeBufferPointer { bare($0.baseAddress!, $0.count, &width, &height) }
                return Double(Measure.threadCPU - begin) / 1e6
            })
        if let failure { throw failure }
        print(
            "\(name), \(ByteCount(bytes.count)): ours \(Measure.text(ours)) ms CPU, bare C \(Measure.text(theirs)) ms, "
                + "ratio \(Measure.text(ratio, 3)) (median of \(rounds))")
    }

    /// In pieces of 64 KiB, as they come from a network.
    private static func decode(_ bytes: [UInt8]) throws(WebImageError) {
        let sink = PixelBufferSink()
        let coder: any ImageCoder = bytes[0] == 0xFF ? JPEGCoder() : PNGCoder()
        let decoder = try coder.makeDecoder(DecodeOptions()) { _ in DecodePlan(sink: sink) }
        var failure: WebImageError?
        bytes.withUnsafeBytes { all in
            var rest = all[...]
            while !rest.isEmpty, failure == nil {
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(64 << 10))
                rest = rest.dropFirst(piece.count)
                do throws(WebImageError) { _ = try decoder.push(piece) } catch { failure = error }
            }
        }
        if let failure { throw failure }
        try decoder.finish()
    }
}

extension Image {
    func encoded(_ format: ImageFormat, _ options: EncodeOptions) throws(WebImageError) -> [UInt8] {
        try CoderRegistry.standard.encoder(for: format).encode(self, as: format, options)
    }
}
