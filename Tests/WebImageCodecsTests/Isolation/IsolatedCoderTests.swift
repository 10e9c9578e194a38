import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageCodecs

/// Decoding in a process of its own gives the same result as in this process, in whatever pieces the bytes come.
@Suite(.enabled(if: Workers.areAvailable)) struct IsolatedCoderTests {
    private static let files = SmallPictures.all()

    private func isolated(_ coder: any ImageCoder) -> any ImageCoder { IsolatedCoder(coder: coder, pool: Workers.pool) }
    private func pair(_ coder: any ImageCoder) -> CoderPair { CoderPair(coder, elsewhere: isolated) }

    @Test(arguments: files) func aStillDecodesAsInThisProcess(file: SmallPictures.File) throws {
        pair(try file.coder()).expectTheSameStill(file)
    }

    @Test(arguments: files) func aCutOrBrokenStillDecodesAsInThisProcess(file: SmallPictures.File) throws {
        pair(try file.coder()).expectTheSameOfCutAndBroken(file)
    }

    @Test(arguments: files) func aPlanIsFollowedAsInThisProcess(file: SmallPictures.File) throws {
        try pair(try file.coder()).expectTheSameOfAPlan(file)
    }

    @Test func aPlanMayStopAtTheHeaderAndRefuseIt() throws {
        let file = try #require(Self.files.first { $0.format == .png })
        let coder = isolated(try file.coder())
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
        let decoder = try isolated(try file.coder()).makeDecoder(refused) { _ in DecodePlan(sink: nil) }
        let error = #expect(throws: WebImageError.self) { try file.bytes.withUnsafeBytes { try decoder.push($0) } }
        #expect(error?.code == .cancelled)
    }

    @Test(arguments: files) func anAnimationDecodesAsInThisProcess(file: SmallPictures.File) throws {
        pair(try file.coder()).expectTheSameAnimation(file)
    }

    @Test func anAnimationReportsItsWorkingMemory() throws {
        let file = try #require(Self.files.first { $0.name == "gif" })
        let (near, far) = try pair(try file.coder()).animationsThatTellTheSame(file)
        far.releaseWorkingMemory()
        #expect(far.workingByteCount == 0)
        // Memory that was released is made anew when it is needed.
        let (here, there) = (try near.frame(at: 2), try far.frame(at: 2))
        #expect(here.withBytes { Array($0) } == there.withBytes { Array($0) })
    }

    /// Rows that are longer than the usual ring buffer, and rows so long that the ring holds two of them.
    @Test(arguments: [20_000, 140_000, 400_000]) func rowsLongerThanTheRingBufferDecodeAsInThisProcess(width: Int)
        throws
    {
        let image = try Image(size: PixelSize(width: width, height: 40), alpha: .opaque) { bytes in
            for place in bytes.indices {
                bytes[place] = place % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: place / 4 + place / 4096)
            }
        }
        let file = try CoderRegistry.standard.encode(image, as: .png, EncodeOptions())
        let far = pair(PNGCoder()).expectTheSame("\(width)") { DecodeOutcome($0, file) }
        #expect(far.rows == 40 && far.error == nil)
    }

    /// The rows of a picture may fill the ring buffer to its last byte and continue at its start. Whether they do
    /// depends on the pictures before.
    @Test func aRowMayEndWhereTheRingEnds() throws {
        // The ring holds 1024 of these rows. It is full in the middle of the 43rd picture and of the 86th.
        let image = try Image(size: PixelSize(width: 1024, height: 24), alpha: .opaque) { bytes in
            for place in bytes.indices { bytes[place] = place % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: place / 4099) }
        }
        let file = try CoderRegistry.standard.encode(image, as: .png, EncodeOptions())
        let pool = DecoderPool(.all)
        let coder = IsolatedCoder(coder: PNGCoder(), pool: pool)
        let near = DecodeOutcome(PNGCoder(), file)
        for _ in 0..<90 { DecodeOutcome(coder, file).expectSame(as: near, "a picture") }
        #expect(pool.report.crashed == 0 && pool.report.started == 1)
        pool.shutDown()
    }

    @Test(.enabled(if: Corpus.isAvailable), arguments: Corpus.rows.filter { $0.byteCount < 3_000_000 })
    func theCorpusDecodesAsInThisProcess(_ row: CorpusRow) throws {
        let bytes = try #require(Corpus.read(row.path))
        guard
            let coder = try? bytes.withUnsafeBytes({
                try CoderRegistry.standard.coder(for: ImageFormat(sniffing: $0), prefix: $0)
            })
        else { return }
        let whole = pair(coder).expectTheSame(row.path) { DecodeOutcome($0, bytes) }
        guard row.byteCount < 100_000 else { return }
        let pieces = DecodeOutcome(isolated(coder), bytes, length: { row.byteCount < 3000 ? 1 : 4096 })
        #expect(pieces.hasSamePixels(as: whole) && pieces.error?.code == whole.error?.code, "\(row.path)")
    }
}
