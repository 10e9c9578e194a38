import Testing
import WebImageCodecs
import WebImageCore

@Suite struct WebPDecodeTests {
    @Test(arguments: [(1, 1), (7, 5), (64, 33)])
    func aLosslessPictureIsExact(_ width: Int, _ height: Int) throws {
        let maker = LosslessMaker.colorful(width, height)
        for keepsWhole in [true, false] {
            let result = decodeWebP(WebPMaker.file([maker.chunk()]), keepsWhole: keepsWhole)
            #expect(result.error == nil && result.wasComplete)
            #expect(result.pixels == maker.pixels)
            #expect(result.header?.size == maker.size && result.header?.hasAlpha == true)
            #expect(result.header?.frameCount == 1 && result.header?.loopCount == nil)
            #expect(result.format?.alpha == .straight)
        }
    }

    @Test func aPictureThatSaysItIsOpaqueIsOpaque() {
        var maker = LosslessMaker.colorful(9, 40)
        maker.saysAlpha = false
        let result = decodeWebP(WebPMaker.file([maker.chunk()]))
        #expect(result.format?.alpha == .opaque && result.header?.hasAlpha == false)
        let alphas = stride(from: 3, to: result.pixels.count, by: 4).map { result.pixels.bytes[$0] }
        #expect(alphas.count == 360 && alphas.allSatisfy { $0 == 255 })
        #expect(maker.pixels.bytes.contains(0))
    }

    @Test(arguments: [AlphaMode.opaque, .straight])
    func piecesGiveTheSamePixels(_ alpha: AlphaMode) throws {
        for bytes in [
            try encodeWebP(Drawings.picture(90, 70, alpha: alpha).with { $0.orientation = .left }),
            WebPMaker.file([LosslessMaker.colorful(61, 50).chunk()]),
            WebPMaker.animated(LosslessMaker.colorful(7, 5)),
        ] {
            let whole = decodeWebP(bytes)
            #expect(whole.error == nil)
            for most in [1, 30, 900] {
                let pieces = decodeWebP(bytes, keepsWhole: most == 30, length: randomLengths(seed: 4, most: most))
                #expect(pieces.error == nil && pieces.wasComplete && pieces.pixels == whole.pixels)
                #expect(pieces.header == whole.header)
            }
        }
    }

    @Test func rowsComeBeforeTheLastByte() throws {
        let bytes = try encodeWebP(Drawings.noise(200, 400, alpha: .opaque))
        let sink = StrictSink()
        let decoder = try WebPCoder().makeDecoder(DecodeOptions()) { (_) throws(WebImageError) in
            DecodePlan(sink: sink)
        }
        try pushWebP(Array(bytes.prefix(bytes.count / 2)), into: decoder, { 1000 })
        #expect((100...250).contains(sink.rowsDone))
        try pushWebP(Array(bytes.dropFirst(bytes.count / 2)), into: decoder, { 1000 })
        try decoder.finish()
        #expect(sink.rowsDone == 400)
    }

    @Test func aCutPictureGivesItsRows() throws {
        let bytes = try encodeWebP(Drawings.noise(200, 400, alpha: .opaque))
        let whole = decodeWebP(bytes)
        let cut = decodeWebP(Array(bytes.prefix(bytes.count / 2)))
        #expect(cut.error?.code == .truncatedData)
        #expect((100...250).contains(cut.rows) && cut.pixels == whole.pixels.prefix(cut.pixels.count))
    }

    @Test func theFirstFrameStandsOnATransparentCanvas() throws {
        let frame = LosslessMaker.colorful(7, 5)
        let result = decodeWebP(WebPMaker.animated(frame))
        #expect(result.error == nil && result.rows == 16 && result.format?.alpha == .straight)
        var expected = [UInt8](repeating: 0, count: 20 * 16 * 4)
        for y in 0..<5 {
            for x in 0..<7 * 4 { expected[((y + 4) * 20 + 2) * 4 + x] = frame.pixels.bytes[y * 28 + x] }
        }
        #expect(result.pixels == Pixels(expected))
    }

    @Test func theFrameCountIsNilUntilItIsKnown() throws {
        let bytes = WebPMaker.animated(LosslessMaker.colorful(7, 5))
        func plannedCount(_ length: Int) throws -> (Int?, ImageHeader?) {
            var planned: ImageHeader?
            let decoder = try WebPCoder().makeDecoder(DecodeOptions()) { (header) throws(WebImageError) in
                planned = header
                return DecodePlan(sink: PixelBufferSink())
            }
            try pushWebP(bytes, into: decoder, { length })
            return (planned?.frameCount, decoder.header)
        }
        let (atOnce, _) = try plannedCount(bytes.count)
        let (early, late) = try plannedCount(10)
        #expect(atOnce == 2 && early == nil && late?.frameCount == 2 && late?.loopCount == 3)
    }

    @Test func aProbeMayExtendItsHeaderByChunksBehindThePicture() throws {
        let moving = WebPMaker.animated(.colorful(7, 5))
        let turned = try encodeWebP(Drawings.picture(60, 40).with { $0.orientation = .right })
        let plain = try encodeWebP(Drawings.picture(60, 40))
        func read(_ bytes: [UInt8]) throws -> (count: Int, header: ImageHeader?) {
            let probe = ImageProbe()
            for index in bytes.indices {
                let header = try [bytes[index]].withUnsafeBytes { try probe.push($0) }
                if header != nil, !probe.mayExtendHeader { return (index + 1, header) }
            }
            return (bytes.count + 1, nil)
        }
        let (all, counted) = try read(moving)
        #expect(all >= moving.count - 1 && counted?.frameCount == 2 && counted?.loopCount == 3)
        let (most, upright) = try read(turned)
        #expect(most > turned.count - 20 && upright?.orientation == .right)
        #expect(try read(plain).count < 60)
        let cut = ImageProbe()
        let half = try Array(moving.dropLast(30)).withUnsafeBytes { try cut.push($0) }
        #expect(half?.size == PixelSize(width: 20, height: 16) && cut.mayExtendHeader)
        #expect(try cut.finish().frameCount == nil)
    }

    @Test func aHeaderIsReadWithoutThePicture() throws {
        let bytes = try encodeWebP(Drawings.picture(300, 200).with { $0.orientation = .right })
        var asked = 0
        let decoder = try WebPCoder().makeDecoder(DecodeOptions()) { (_) throws(WebImageError) in
            asked += 1
            return DecodePlan(sink: nil)
        }
        try pushWebP(Array(bytes.prefix(60)), into: decoder, { 1 })
        #expect(decoder.header?.size == PixelSize(width: 300, height: 200) && asked == 1)
        try decoder.finish()
    }

    @Test func errorsOfPlanSinkAndCheckpointEndTheDecode() throws {
        let bytes = try encodeWebP(Drawings.picture(64, 64))
        let sink = StrictSink()
        sink.failure = (20, .cancelled)
        for isPlanAtFault in [true, false] {
            let decoder = try WebPCoder().makeDecoder(DecodeOptions()) { (_) throws(WebImageError) in
                if isPlanAtFault { throw WebImageError.cancelled }
                return DecodePlan(sink: sink)
            }
            let error = #expect(throws: WebImageError.self) { try pushWebP(bytes, into: decoder) }
            #expect(error?.code == .cancelled)
        }
        #expect(sink.commits == 1)
        let stopped = decodeWebP(
            bytes, options: DecodeOptions(checkpoint: { () throws(WebImageError) in throw .cancelled }))
        #expect(stopped.error?.code == .cancelled)
    }
}
