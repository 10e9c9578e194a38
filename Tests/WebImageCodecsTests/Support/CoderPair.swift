import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageCodecs

/// A coder that decodes in this process, and one that has the same decoding done elsewhere. Both must give the same
/// results.
struct CoderPair {
    let near: any ImageCoder
    let far: any ImageCoder

    /// - Parameter elsewhere: Makes the coder that has the decoding done elsewhere.
    init(_ near: any ImageCoder, elsewhere: (any ImageCoder) -> any ImageCoder) {
        self.near = near
        far = elsewhere(near)
    }

    @discardableResult
    func expectTheSame(_ name: String, _ decode: (any ImageCoder) -> DecodeOutcome) -> DecodeOutcome {
        let (near, far) = (decode(near), decode(far))
        far.expectSame(as: near, name)
        return far
    }

    func expectTheSameStill(_ file: SmallPictures.File) {
        for keepsWhole in [true, false] {
            for length in [nil, 7, 64] {
                let pieces = length.map { length in { length } }
                let far = expectTheSame(file.name) {
                    DecodeOutcome($0, file.bytes, keepsWhole: keepsWhole, previews: length == 64, length: pieces)
                }
                #expect(far.error == nil, "\(file.name)")
            }
        }
    }

    func expectTheSameOfCutAndBroken(_ file: SmallPictures.File) {
        var broken = file.bytes
        broken[broken.count * 2 / 3] ^= 0x55
        for bytes in [Array(file.bytes.prefix(file.bytes.count / 2)), Array(file.bytes.prefix(9)), broken, []] {
            expectTheSame(file.name) { DecodeOutcome($0, bytes) }
        }
    }

    /// Expects the same results for plans with a crop, a scale, a size to draw, and another of the file's sizes, as far
    /// as the format supports them.
    func expectTheSameOfAPlan(_ file: SmallPictures.File) throws {
        func decode(_ coder: any ImageCoder) throws -> PixelBuffer? {
            let sink = PixelBufferSink()
            let decoder = try coder.makeDecoder(DecodeOptions(keepsBitDepth: true)) { header throws(WebImageError) in
                let part = PixelRect(x: 1, y: 1, width: 8, height: 8)
                return DecodePlan(
                    scaleDenominator: coder.scaleDenominators(for: header).last ?? 1,
                    raster: header.isVector ? VectorRaster(part: part, size: PixelSize(width: 30, height: 20)) : nil,
                    size: header.otherSizes.last, sink: sink)
            }
            _ = try file.bytes.withUnsafeBytes { try decoder.push($0) }
            try decoder.finish()
            return sink.buffer
        }
        let (near, far) = (try #require(try decode(near)), try #require(try decode(far)))
        #expect(far.size == near.size && far.layout == near.layout)
        #expect(far.withBytes { Array($0) } == near.withBytes { Array($0) })
    }

    func expectTheSameAnimation(_ file: SmallPictures.File) {
        for (backwards, length) in [(false, nil), (true, 11)] {
            let pieces = length.map { length in { length } }
            func decode(_ coder: any ImageCoder) -> AnimationOutcome? {
                AnimationOutcome(coder, file.format, file.bytes, most: 20, backwards: backwards, length: pieces)
            }
            let (near, far) = (decode(near), decode(far))
            #expect((near == nil) == (far == nil))
            guard let near, let far else { continue }
            #expect(far.delays == near.delays && far.frames == near.frames && far.faults == near.faults)
            #expect(far.error?.code == near.error?.code)
        }
    }

    /// - Parameter file: An animation of three frames.
    /// - Returns: The decoders, which have decoded the second frame.
    func animationsThatTellTheSame(
        _ file: SmallPictures.File
    ) throws -> (near: any AnimationDecoder, far: any AnimationDecoder) {
        func animation(_ coder: any ImageCoder) throws -> any AnimationDecoder {
            let decoder = try #require(try coder.makeAnimationDecoder(file.format, DecodeOptions()))
            try decoder.push(file: file.bytes)
            try decoder.finish()
            _ = try decoder.frame(at: 1)
            return decoder
        }
        let (near, far) = (try animation(near), try animation(far))
        #expect(near.storedDelays.count == 3)
        for index in 0..<3 { #expect(far.firstFrameNeeded(for: index) == near.firstFrameNeeded(for: index)) }
        #expect(far.workingByteCount == near.workingByteCount && far.encodedByteCount == near.encodedByteCount)
        #expect(far.beginsWithStill == near.beginsWithStill && far.header == near.header)
        return (near, far)
    }
}

extension SmallPictures.File {
    func coder() throws -> any ImageCoder {
        try bytes.withUnsafeBytes { try CoderRegistry.standard.coder(for: ImageFormat(sniffing: $0), prefix: $0) }
    }
}

extension DecodeOutcome {
    func expectSame(as near: DecodeOutcome, _ name: String) {
        #expect(header == near.header && format == near.format && rows == near.rows, "\(name)")
        #expect(hasSamePixels(as: near) && faults == near.faults, "\(name): \(faults)")
        #expect(
            error?.code == near.error?.code && error?.message == near.error?.message,
            "\(name): \(error as Any) in place of \(near.error as Any)")
    }
}
