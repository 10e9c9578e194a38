import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageCodecs

/// What is decoded in a process of its own is the same as here, in whatever pieces it comes.
@Suite(.enabled(if: Workers.areThere)) struct IsolatedCoderTests {
    private static let files = SmallPictures.all()

    private func coder(for file: SmallPictures.File) throws -> any ImageCoder {
        try file.bytes.withUnsafeBytes { bytes in
            try CoderRegistry.standard.coder(for: ImageFormat(sniffing: bytes), prefix: bytes)
        }
    }

    private func isolated(_ coder: any ImageCoder) -> any ImageCoder { IsolatedCoder(coder: coder, pool: Workers.pool) }

    @Test(arguments: files) func aStillIsTheSame(file: SmallPictures.File) throws {
        let coder = try coder(for: file)
        for keepsWhole in [true, false] {
            for length in [nil, 7, 64] {
                let pieces = length.map { length in { length } }
                let (near, far) = both(coder) {
                    DecodeOutcome($0, file.bytes, keepsWhole: keepsWhole, previews: length == 64, length: pieces)
                }
                expectSame(near, far, file.name)
                #expect(far.error == nil, "\(file.name)")
            }
        }
    }

    @Test(arguments: files) func aStillThatIsCutOrBrokenIsTheSame(file: SmallPictures.File) throws {
        let coder = try coder(for: file)
        var broken = file.bytes
        broken[broken.count * 2 / 3] ^= 0x55
        for bytes in [Array(file.bytes.prefix(file.bytes.count / 2)), Array(file.bytes.prefix(9)), broken, []] {
            let (near, far) = both(coder) { DecodeOutcome($0, bytes) }
            expectSame(near, far, file.name)
        }
    }

    @Test(arguments: files) func whatAPlanAsksForIsMade(file: SmallPictures.File) throws {
        let coder = try coder(for: file)
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
        let near = try #require(try decode(coder))
        let far = try #require(try decode(isolated(coder)))
        #expect(far.size == near.size && far.layout == near.layout)
        #expect(far.withBytes { Array($0) } == near.withBytes { Array($0) })
    }

    @Test func aPlanMayStopAtTheHeaderAndRefuseIt() throws {
        let file = try #require(Self.files.first { $0.format == .png })
        let coder = isolated(try coder(for: file))
        let decoder = try coder.makeDecoder(DecodeOptions()) { _ in DecodePlan(sink: nil) }
        let state = try file.bytes.withUnsafeBytes { try decoder.push($0) }
        guard case .stoppedAtHeader = state else {
            Issue.record("it went on: \(state)")
            return
        }
        #expect(decoder.header?.size == PixelSize(width: 24, height: 20))
        let ended = Workers.pool.report
        let picky = try coder.makeDecoder(DecodeOptions()) { _ throws(WebImageError) in
            throw WebImageError(.limitExceeded, "not this one")
        }
        let error = #expect(throws: WebImageError.self) { try file.bytes.withUnsafeBytes { try picky.push($0) } }
        #expect(error?.message == "not this one")
        #expect(Workers.pool.report.crashed == ended.crashed)
    }

    @Test func aCheckpointEndsTheDecode() throws {
        let file = try #require(Self.files.first { $0.format == .png })
        let refused = DecodeOptions { () throws(WebImageError) in throw .cancelled }
        let decoder = try isolated(try coder(for: file)).makeDecoder(refused) { _ in DecodePlan(sink: nil) }
        let error = #expect(throws: WebImageError.self) { try file.bytes.withUnsafeBytes { try decoder.push($0) } }
        #expect(error?.code == .cancelled)
    }

    @Test(arguments: files) func anAnimationIsTheSame(file: SmallPictures.File) throws {
        let coder = try coder(for: file)
        for (backwards, length) in [(false, nil), (true, 11)] {
            let pieces = length.map { length in { length } }
            let (near, far) = both(coder) {
                AnimationOutcome($0, file.format, file.bytes, most: 20, backwards: backwards, length: pieces)
            }
            #expect((near == nil) == (far == nil))
            guard let near, let far else { continue }
            #expect(far.delays == near.delays && far.frames == near.frames && far.faults == near.faults)
            #expect(far.error?.code == near.error?.code)
        }
    }

    @Test func anAnimationTellsWhatItsFramesNeed() throws {
        let file = try #require(Self.files.first { $0.name == "gif" })
        func animation(_ coder: any ImageCoder) throws -> any AnimationDecoder {
            let decoder = try #require(try coder.makeAnimationDecoder(.gif, DecodeOptions()))
            try decoder.push(file: file.bytes)
            try decoder.finish()
            _ = try decoder.frame(at: 1)
            return decoder
        }
        let near = try animation(try coder(for: file))
        let far = try animation(isolated(try coder(for: file)))
        #expect(near.storedDelays.count == 3)
        for index in 0..<3 { #expect(far.firstFrameNeeded(for: index) == near.firstFrameNeeded(for: index)) }
        #expect(far.workingByteCount == near.workingByteCount && far.encodedByteCount == near.encodedByteCount)
        #expect(far.beginsWithStill == near.beginsWithStill && far.header == near.header)
        far.releaseWorkingMemory()
        #expect(far.workingByteCount == 0)
        // What was given up is made anew.
        let (here, there) = (try near.frame(at: 2), try far.frame(at: 2))
        #expect(here.withBytes { Array($0) } == there.withBytes { Array($0) })
    }

    /// Rows longer than the ring usually is, and rows so long that it holds two of them.
    @Test(arguments: [20_000, 140_000, 400_000]) func wideRowsComeThrough(width: Int) throws {
        let image = try Image(size: PixelSize(width: width, height: 40), alpha: .opaque) { bytes in
            for place in bytes.indices {
                bytes[place] = place % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: place / 4 + place / 4096)
            }
        }
        let file = try CoderRegistry.standard.encode(image, as: .png, EncodeOptions())
        let (near, far) = both(PNGCoder()) { DecodeOutcome($0, file) }
        expectSame(near, far, "\(width)")
        #expect(far.rows == 40 && far.error == nil)
    }

    /// Rows of a picture fill the ring to its last byte, and go on at its start. What lies there depends on the pictures before.
    @Test func aRowMayEndWhereTheRingEnds() throws {
        // The ring holds 1024 of these rows: it is full in the midst of the 43rd picture, and of the 86th.
        let image = try Image(size: PixelSize(width: 1024, height: 24), alpha: .opaque) { bytes in
            for place in bytes.indices { bytes[place] = place % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: place / 4099) }
        }
        let file = try CoderRegistry.standard.encode(image, as: .png, EncodeOptions())
        let pool = DecoderPool(.all)
        let coder = IsolatedCoder(coder: PNGCoder(), pool: pool)
        let near = DecodeOutcome(PNGCoder(), file)
        for _ in 0..<90 { expectSame(near, DecodeOutcome(coder, file), "a picture") }
        #expect(pool.report.crashed == 0 && pool.report.started == 1)
        pool.shutDown()
    }

    @Test(.enabled(if: Corpus.isThere), arguments: Corpus.rows.filter { $0.byteCount < 3_000_000 })
    func theCorpusIsTheSame(_ row: CorpusRow) throws {
        let bytes = try #require(Corpus.read(row.path))
        guard
            let coder = try? bytes.withUnsafeBytes({
                try CoderRegistry.standard.coder(for: ImageFormat(sniffing: $0), prefix: $0)
            })
        else { return }
        let (near, far) = both(coder) { DecodeOutcome($0, bytes) }
        expectSame(near, far, row.path)
        guard row.byteCount < 100_000 else { return }
        let pieces = DecodeOutcome(isolated(coder), bytes, length: { row.byteCount < 3000 ? 1 : 4096 })
        #expect(pieces.hasSamePixels(as: near) && pieces.error?.code == near.error?.code, "\(row.path)")
    }

    private func both<Outcome>(_ coder: any ImageCoder, _ decode: (any ImageCoder) -> Outcome) -> (Outcome, Outcome) {
        (decode(coder), decode(isolated(coder)))
    }

    private func expectSame(_ near: DecodeOutcome, _ far: DecodeOutcome, _ name: String) {
        #expect(far.header == near.header && far.format == near.format && far.rows == near.rows, "\(name)")
        #expect(far.hasSamePixels(as: near) && far.faults == near.faults, "\(name): \(far.faults)")
        #expect(far.error?.code == near.error?.code, "\(name): \(far.error as Any) in place of \(near.error as Any)")
    }
}
