import Synchronization
import Testing
import WebImageCodecs
import WebImageCore
import WebImageSystem

private struct PaintCoder: ImageCoder {
    static let paint = ImageFormat(rawValue: "paint")
    var decodableFormats: Set<ImageFormat> { [Self.paint] }

    func canDecode(_ format: ImageFormat?, prefix: UnsafeRawBufferPointer) -> Bool {
        format == .jpeg || prefix.starts(with: "PAINT".utf8)
    }

    func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        throw WebImageError(.unsupportedFeature, "nothing is painted", format: Self.paint)
    }
}

@Suite struct CoderRegistryTests {
    @Test func theRegistryRefusesLosslessOptionsForJPEG() throws {
        let registry = CoderRegistry([JPEGCoder(), PNGCoder(), WebPCoder(), BMPCoder(), QOICoder(), PNMCoder()])
        for format in [ImageFormat.png, .webp, .bmp, .qoi, .pnm] {
            #expect(throws: Never.self) { try registry.encoder(for: format, EncodeOptions(isLossless: true)) }
        }
        let error = #expect(throws: WebImageError.self) {
            try registry.encoder(for: .jpeg, EncodeOptions(isLossless: true))
        }
        #expect(error?.code == .cannotEncode)
        #expect(throws: Never.self) { try registry.encoder(for: .jpeg, EncodeOptions()) }
    }

    @Test func theLatestRegisteredIsAskedFirst() throws {
        let registry = CoderRegistry()
        #expect(try coder(registry, Drawings.jpeg(8, 8)) is JPEGCoder)
        registry.register(PaintCoder())
        #expect(try coder(registry, Drawings.jpeg(8, 8)) is PaintCoder)
        #expect(coder(registry, Array("PAINT".utf8)) is PaintCoder)
        #expect(registry.coders.count == CoderRegistry.builtIn.count + 1)
        registry.remove(PaintCoder.self)
        #expect(try coder(registry, Drawings.jpeg(8, 8)) is JPEGCoder)
        #expect(registry.coders.count == CoderRegistry.builtIn.count)
    }

    @Test func theStandardRegistryReadsAndWritesTheBuiltInFormats() throws {
        #expect(try CoderRegistry.standard.encoder(for: .jpeg) is JPEGCoder)
        #expect(try CoderRegistry.standard.encoder(for: .png) is PNGCoder)
        #expect(coder(.standard, PNGMaker.chunk("IHDR", [])) { $0.code == .unknownFormat } == nil)
    }

    @Test(arguments: [
        ("<!DOCTYPE html><title>404</title>", "HTML"), ("\u{FEFF}\n <html>", "HTML"), ("{\"error\": 404}", "JSON"),
        ("", "no bytes"), ("Not found", "text"), ("<?xml version=\"1.0\"?><error/>", "XML"),
        ("\u{1}\u{2}abc", "01 02 61"), ("8BPS\u{0}\u{1}", "PSD"), ("\0\0\0\u{C}jP  \r\n\u{7F}", "JPEG 2000"),
        ("\0\0\0\u{18}ftypisom", "video"), ("\0\0\0\u{18}ftypabcd", "66 74 79 70"),
    ])
    func bytesThatNoCoderReadsAreNamed(_ content: String, _ word: String) {
        #expect(coder(.standard, Array(content.utf8)) { $0.code == .unknownFormat && $0.message.contains(word) } == nil)
    }

    @Test func aFormatThatIsNotBuiltNamesItsTrait() {
        let svg = Array("<svg xmlns='x'/>".utf8)
        let isBuilt = CoderRegistry.builtIn.contains { $0.decodableFormats.contains(.svg) }
        let advice = isBuilt ? "CoderRegistry" : "trait SVG"
        #expect(coder(CoderRegistry([]), svg) { $0.code == .formatNotBuilt && $0.message.contains(advice) } == nil)
        for (format, word) in [(ImageFormat.svg, "version"), (.cur, "version")] {
            do {
                _ = try CoderRegistry.standard.encoder(for: format)
                Issue.record("\(format.rawValue) was written")
            } catch {
                #expect(error.code == .formatNotBuilt && error.message.contains(word) && error.format == format)
            }
        }
    }

    /// For a format that a program had not registered, the error once said that this version has no coder for it.
    @Test func aFormatThatIsOnlyNotRegisteredIsNotSaidToBeMissingInTheBuild() throws {
        let registry = CoderRegistry(reading: [.png])
        let says: (WebImageError) -> Bool = {
            $0.code == .formatNotBuilt && $0.message.contains("CoderRegistry") && !$0.message.contains("version")
        }
        #expect(try coder(registry, Drawings.jpeg(8, 8), says) == nil)
        let error = #expect(throws: WebImageError.self) { try registry.encoder(for: .jpeg) }
        #expect(error.map(says) == true)
    }

    @Test func aProbeKnowsTheHeaderAsSoonAsItIsThere() throws {
        let fixtures = [
            try Drawings.jpeg(300, 200), try PNGCoder().encode(Drawings.noise(300, 200), as: .png, EncodeOptions()),
        ]
        for bytes in fixtures {
            let probe = ImageProbe()
            var seen: (at: Int, header: ImageHeader)?
            for (index, byte) in bytes.enumerated() {
                guard let header = try withUnsafeBytes(of: byte, { try probe.push($0) }) else { continue }
                seen = (index, header)
                break
            }
            let header = try #require(seen)
            #expect(header.header.size == PixelSize(width: 300, height: 200) && header.at < 1000)
            #expect(try CoderRegistry.standard.readHeader(of: bytes) == header.header)
        }
    }

    /// A probe counts frames up to the end of the file. Waiting for bytes does not count as decoding time.
    @Test func aProbeTakesNoLongerThanTheLimit() throws {
        let file = try encodeAnimation((0..<9).map { try Drawings.noise(20, 20, seed: $0) }, as: .gif)
        let start = ContinuousClock.now
        for (within, between) in [(Duration.milliseconds(400), Duration.zero), (.zero, .seconds(3600))] {
            let passed = Guarded(Duration.zero)
            let probe = ImageProbe(DecodeOptions(limits: DecodeLimits(time: .seconds(2)))) {
                start
                    + passed.withLock { time in
                        time += within
                        return time
                    }
            }
            let error = Result { () throws(WebImageError) in
                for piece in stride(from: 0, to: file.count, by: 100) {
                    let bytes = Array(file[piece..<min(piece + 100, file.count)])
                    try bytes.withUnsafeBufferPointer { bytes throws(WebImageError) in
                        _ = try probe.push(UnsafeRawBufferPointer(bytes))
                    }
                    passed.withLock { $0 += between }
                }
                _ = try probe.finish()
            }
            if between == .zero {
                #expect(throws: WebImageError.self) { try error.get() }
            } else {
                #expect(throws: Never.self) { try error.get() }
            }
        }
    }

    @Test func aProbeOfTooFewBytesThrowsUnknownFormatOrTruncatedData() throws {
        let bytes = try Drawings.jpeg(30, 20)
        for (length, code) in [(0, WebImageError.Code.unknownFormat), (2, .unknownFormat), (20, .truncatedData)] {
            let error = #expect(throws: WebImageError.self) {
                try CoderRegistry.standard.readHeader(of: Array(bytes.prefix(length)))
            }
            #expect(error?.code == code)
        }
    }

    @Test func aCutPictureIsMarkedAsPartial() throws {
        let bytes = try PNGCoder().encode(Drawings.noise(64, 64, alpha: .opaque), as: .png, EncodeOptions())
        let part = try CoderRegistry.standard.decode(Array(bytes.prefix(bytes.count / 2)))
        #expect(part.error?.code == .truncatedData && part.image.info.isPartial && part.image.alpha == .straight)
        #expect(part.image.bytes.suffix(256) == Pixels([UInt8](repeating: 0, count: 256)))
        let whole = try CoderRegistry.standard.decode(bytes)
        #expect(whole.error == nil && !whole.image.info.isPartial && whole.image.alpha == .opaque)
        let error = #expect(throws: WebImageError.self) { try CoderRegistry.standard.decode(Array(bytes.prefix(60))) }
        #expect(error?.code == .truncatedData)
    }

    private func coder(
        _ registry: CoderRegistry, _ bytes: [UInt8], _ isExpected: (WebImageError) -> Bool = { _ in false }
    ) -> (any ImageCoder)? {
        bytes.withUnsafeBytes { all in
            do throws(WebImageError) {
                return try registry.coder(for: ImageFormat(sniffing: all), prefix: all)
            } catch {
                #expect(isExpected(error), "\(error)")
                return nil
            }
        }
    }
}
