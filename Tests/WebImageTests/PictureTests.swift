import FoundationEssentials
import Synchronization
import Testing
import WebImage
import WebImageSystem
import WebImageTesting

@Suite struct PictureTests {
    private let url = "http://pictures.test/p"

    @Test func aPictureIsTurnedUprightOrKeptAsStored() async throws {
        for orientation in Orientation.allCases {
            let upright = try SamplePictures.testCard(PixelSize(width: 120, height: 90))
            let stored = try SamplePicture(
                "card", "", width: 120, height: 90, as: .png, orientation: orientation,
                drawing: { size throws(WebImageError) in try SamplePictures.testCard(size) }
            ).encoded()
            let applied = try await image(stored) { _ in }
            #expect(applied.size == PixelSize(width: 120, height: 90) && applied.info.orientation == .up)
            #expect(try #require(PixelComparison(applied, upright)).differingPixels == 0, "\(orientation)")
            let kept = try await image(stored) { $0.decoding.appliesOrientation = false }
            #expect(kept.info.orientation == orientation && kept.displaySize == upright.size)
            let ignored = try await image(stored) { $0.decoding.ignoresOrientation = true }
            #expect(ignored.size == kept.size && ignored.info.orientation == .up)
            #expect(ignored.info.header?.orientation == .up && ignored.info.header?.ignoredOrientation == orientation)
            #expect(try #require(PixelComparison(ignored, kept.treatedAsUpright())).differingPixels == 0)
            let written = try ignored.encoded(as: .png, EncodeOptions(keepsMetadata: true))
            #expect(try await Image(data: written).info.header?.orientation == .up)
        }
    }

    /// Sizes and transformers then apply to the picture as it is stored, and are still part of decoding.
    @Test func anIgnoredOrientationSizesThePictureAsStored() async throws {
        let picture = try SamplePictures.sunset(PixelSize(width: 400, height: 300)).with { $0.orientation = .right }
        for format in [ImageFormat.jpeg, .png] {
            let bytes = try picture.encoded(as: format, EncodeOptions(keepsMetadata: true))
            let plain = try await Image(data: try picture.treatedAsUpright().encoded(as: format))
            let chain: [ImageTransform] = [
                .crop(width: 300, height: 200, at: .topLeft), .resize(width: 75), .blur(sigma: 1),
            ]
            let sized = try await image(bytes) {
                $0.decoding.ignoresOrientation = true
                $0.transformers = chain
            }
            #expect(sized.size == PixelSize(width: 75, height: 50) && sized.info.original?.size == plain.size)
            let made = try plain.transformed(by: chain)
            #expect(try #require(PixelComparison(sized, made)).maxDifference <= 3)
            let small = try await image(bytes) {
                $0.decoding.ignoresOrientation = true
                $0.size = TargetSize(width: 100)
            }
            #expect(small.size == PixelSize(width: 100, height: 75))
        }
    }

    @Test(arguments: [
        (TargetSize(width: 100), 100, 75), (TargetSize(height: 100), 133, 100),
        (TargetSize(width: 100, height: 100), 100, 75), (TargetSize(width: 100, height: 100, fit: .cover), 100, 100),
        (TargetSize(width: 100, height: 30, fit: .fill), 100, 30), (TargetSize(width: 1000), 400, 300),
        (TargetSize(width: 800, upscale: true), 800, 600), (TargetSize(width: 1), 1, 1),
    ]) func aPictureMeetsTheSize(target: TargetSize, width: Int, height: Int) async throws {
        for format in [ImageFormat.jpeg, .png] {
            let bytes = try Fixture.gradient(400, 300).encoded(as: format)
            let image = try await image(bytes) { $0.size = target }
            #expect(image.size == PixelSize(width: width, height: height), "\(format.rawValue)")
        }
    }

    @Test func aSmallCopyLooksLikeTheOriginalMadeSmall() async throws {
        let picture = try SamplePictures.sunset(PixelSize(width: 1200, height: 900))
        let bytes = try picture.encoded(as: .jpeg, EncodeOptions(quality: 95))
        let whole = try await image(bytes) { _ in }
        let small = try await image(bytes) { $0.size = TargetSize(width: 150) }
        let reference = try whole.resized(to: TargetSize(width: 150))
        #expect(try #require(PixelComparison(small, reference)).psnr > 45)
    }

    @Test func aByteLimitHoldsForEveryFormat() async throws {
        let coders = CoderRegistry.standard
        let formats = coders.encodableFormats.filter { coders.decodableFormats.contains($0) }
        #expect(Set(formats).isSuperset(of: [.jpeg, .png, .gif, .webp, .bmp, .qoi, .pnm]))
        for format in formats {
            let bytes = try Fixture.gradient(240, 180).encoded(as: format)
            let whole = try await image(bytes) { _ in }
            #expect(whole.byteCount > 40_000, "\(format.rawValue)")
            let image = try await image(bytes) { $0.decoding.bitmapLimit = 40_000 }
            // The picture is as large as the limit allows.
            #expect(image.byteCount <= 40_000 && image.byteCount > 38_000, "\(format.rawValue): \(image.byteCount)")
            #expect(image.info.originalSize == PixelSize(width: 240, height: 180), "\(format.rawValue)")
            let untouched = try await self.image(bytes) { $0.decoding.bitmapLimit = ByteCount(240 * 180 * 4) }
            #expect(untouched.size == whole.size, "\(format.rawValue)")
        }
    }

    @Test func deepPixelsAreKeptOnRequest() async throws {
        let deep = try SamplePictures.deepGradient(PixelSize(width: 64, height: 48))
        let bytes = try deep.encoded(as: .png)
        let shallow = try await image(bytes) { _ in }
        #expect(shallow.layout == .rgba8)
        let kept = try await image(bytes) { $0.decoding.keepsBitDepth = true }
        #expect(kept.layout == .rgba16)
        #expect(try #require(PixelComparison(kept, deep)).differingPixels == 0)
    }

    @Test func aCutPictureIsAnErrorAndItsPartAPreview() async throws {
        let bench = TestBench()
        let bytes = Array(try Fixture.jpeg(256, 256).prefix(4000))
        bench.answer(url, with: bytes)
        let ledger = Ledger()
        bench.manager.load(ImageRequest(url)) { ledger.take($0) }
        let result = await ledger.finished()
        guard case .failure(let error) = result else {
            Issue.record("a cut picture was taken for a whole one")
            return
        }
        #expect(error.code == .badImageData && (error.cause as? WebImageError)?.code == .truncatedData)
        #expect(ledger.previews.last?.info.isPartial == true)
        var request = ImageRequest(url)
        request.decoding.allowsPartial = true
        let partial = try await bench.manager.image(for: request)
        #expect(partial.image.info.isPartial && partial.partialError?.code == .truncatedData)
        #expect(partial.image.size == PixelSize(width: 256, height: 256))
    }

    @Test func decodingOverlapsTheTransfer() async throws {
        for progressive in [false, true] {
            let bench = TestBench()
            let gate = Gate()
            let bytes = try SamplePictures.sunset(PixelSize(width: 800, height: 600))
                .encoded(as: .jpeg, EncodeOptions(quality: 90, progressive: progressive))
            bench.transport.answer(
                url, .bytes(bytes, contentType: "image/jpeg").held(by: gate, after: bytes.count * 3 / 4))
            var previews = 0
            var isOpen = false
            for await event in bench.manager.events(for: ImageRequest(url)) {
                switch event {
                case .preview(let preview):
                    // A preview comes although the last quarter of the file has not been sent.
                    previews += 1
                    #expect(isOpen || preview.info.isPartial)
                    gate.open()
                    isOpen = true
                case .progress, .cached: break
                case .finished(let result): #expect(try !result.get().image.info.isPartial)
                }
            }
            #expect(previews > 0)
        }
    }

    /// Previews once showed what the transformers were meant to hide.
    @Test(arguments: [false, true]) func previewsAreTransformedAsThePictureIs(progressive: Bool) async throws {
        let bench = TestBench()
        let gate = Gate()
        let bytes = try SamplePictures.sunset(PixelSize(width: 800, height: 600))
            .encoded(as: .jpeg, EncodeOptions(quality: 90, progressive: progressive))
        bench.transport.answer(
            url, .bytes(bytes, contentType: "image/jpeg").held(by: gate, after: bytes.count * 3 / 4))
        var request = ImageRequest(url, size: TargetSize(width: 400))
        request.transformers = [.gray(), .resize(TargetSize(width: 100)), .roundCorners(20)]
        let ledger = Ledger()
        bench.manager.load(request) { ledger.take($0) }
        await ledger.previewed(1)
        gate.open()
        let image = try await ledger.finished().get().image
        for preview in ledger.previews {
            #expect(preview.size == image.size && preview.info.isPartial)
            preview.withPixels { pixels in
                #expect(pixels[3] == 0, "the corner is round")
                let middle = (20 * 100 + 50) * 4
                #expect(pixels[middle] == pixels[middle + 1] && pixels[middle + 1] == pixels[middle + 2])
            }
        }
    }

    /// A preview that came too soon after the last one was once dropped, so a transfer that then stalled showed less
    /// than it had received.
    @Test func aPreviewThatCameTooSoonIsShownLater() async throws {
        let clock = ManualClock()
        let transport = FakeTransport()
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let manager = ImageManager(
            configuration, coders: .standard, transport: transport, clock: clock, files: FaultlessFiles.posix)
        let bytes = try SamplePictures.sunset(PixelSize(width: 400, height: 300)).encoded(as: .jpeg)
        let (first, second) = (Gate(), Gate())
        transport.answer(
            url,
            .bytes(bytes, contentType: "image/jpeg").held(by: first, after: bytes.count / 3)
                .held(by: second, after: bytes.count * 2 / 3))
        let ledger = Ledger()
        manager.load(ImageRequest(url)) { ledger.take($0) }
        await ledger.previewed(1)
        first.open()
        // The clock moves only after the session has scheduled its wait.
        while clock.waitingCount < 2 { await Task.yield() }
        #expect(ledger.previews.count == 1)
        clock.advance(by: .seconds(1))
        await ledger.previewed(2)
        #expect(rows(ledger.previews[1]) > rows(ledger.previews[0]))
        second.open()
        #expect(try await !ledger.finished().get().image.info.isPartial)
    }

    /// The number of rows whose first pixel is not transparent.
    private func rows(_ image: Image) -> Int {
        image.withPixels { bytes in
            stride(from: 3, to: bytes.count, by: image.pixels.bytesPerRow).reduce(0) { $0 + (bytes[$1] > 0 ? 1 : 0) }
        }
    }

    @Test func aCoderOfTenLinesIsScaledLikeAnyOther() async throws {
        let bench = TestBench()
        bench.answer(url, with: [77, 40], type: "image/x-grey")
        var request = ImageRequest(url, size: TargetSize(width: 20))
        request.decoding.coder = GreyCoder()
        let image = try await bench.manager.image(for: request).image
        #expect(image.size == PixelSize(width: 20, height: 5) && image.info.format?.rawValue == "grey")
        #expect(image.withPixels { Array($0.prefix(4)) } == [77, 77, 77, 255])
        // A coder with other options, and so another key, makes another picture.
        request.decoding.coder = GreyCoder(brightness: 2)
        #expect(try await bench.manager.image(for: request).image.withPixels { $0[0] } == 154)
        request.decoding.limits.pixels = 399
        request.caching.policy = .reload
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        #expect((error?.cause as? WebImageError)?.code == .limitExceeded)
    }

    @Test func theAcceptHeaderListsTheFormatsOfTheCoders() throws {
        func accept(_ coders: [any ImageCoder], _ own: String? = nil) -> String? {
            var configuration = ImageManager.Configuration()
            configuration.disk = nil
            if let own { configuration.download.headers[.accept] = own }
            return ImageManager(configuration: configuration, coders: CoderRegistry(coders)).downloader[header: .accept]
        }
        #expect(accept([GIFCoder(), JPEGCoder()]) == "image/gif,image/jpeg,image/*;q=0.9,*/*;q=0.8")
        #expect(accept([GIFCoder()], "image/webp") == "image/webp")
        let all = try #require(accept(CoderRegistry.builtIn))
        #expect(all.hasPrefix("image/jpeg") || all.contains("image/jpeg,"))
    }

    @Test func aFormatHintNamesTheFormatOfUnknownBytes() async throws {
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let coders = CoderRegistry([GreyCoder()] + CoderRegistry.builtIn)
        let manager = ImageManager(configuration: configuration, coders: coders)
        var request = ImageRequest(data: [77, 40], name: "grey")
        let error = await #expect(throws: WebImageError.self) { try await manager.image(for: request) }
        #expect((error?.cause as? WebImageError)?.code == .unknownFormat)
        // The message explains why a registered coder was not asked.
        let told = (error?.cause as? WebImageError)?.message ?? ""
        #expect(told.contains("grey") && told.contains("formatHint") && told.contains("canDecode"))
        let plainKey = request.variantKey
        request.decoding.formatHint = ImageFormat(rawValue: "grey")
        #expect(request.variantKey != plainKey)
        #expect(try await manager.image(for: request).image.info.format?.rawValue == "grey")
        // The format found in the bytes takes precedence over the hint.
        var png = ImageRequest(data: try Fixture.png(8, 8), name: "png")
        png.decoding.formatHint = request.decoding.formatHint
        #expect(try await manager.image(for: png).image.info.format == .png)
    }

    @Test func aPageThatAFormatCannotHaveIsAnError() async throws {
        let bench = TestBench()
        bench.answer(url, with: try Fixture.png(8, 8), type: "image/png")
        var request = ImageRequest(url)
        request.decoding.page = 1
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        #expect((error?.cause as? WebImageError)?.code == .unsupportedFeature)
    }

    /// Such decodes could once take every thread, so that a small JPEG waited for seconds behind them.
    @Test func slowDecodesLeaveAThreadForOtherPictures() async throws {
        let bench = TestBench { $0.decodeThreads = 3 }
        let (gate, slow) = (Gate(), SlowCoder())
        slow.gate = gate
        let ledger = Ledger()
        for number in 0..<8 {
            var request = ImageRequest("http://pictures.test/slow/\(number)")
            bench.answer(request.url, with: [1, 2, 3], type: "image/x-slow")
            request.decoding.coder = slow
            // The time limit is long because the gate may open late on a busy machine.
            request.decoding.limits.time = .seconds(3600)
            bench.manager.load(request) { ledger.take($0) }
        }
        #expect(await eventually { slow.running == 2 })
        bench.answer(url, with: try Fixture.jpeg(8, 8))
        #expect(try await bench.manager.image(for: ImageRequest(url)).image.size == PixelSize(width: 8, height: 8))
        #expect(slow.running == 2)
        gate.open()
        _ = await ledger.finished(8)
        #expect(ledger.failures.isEmpty && slow.most == 2)
    }

    @Test func aTransformerChangesThePictureAndTheKey() async throws {
        let bench = TestBench()
        bench.answer(url, with: try Fixture.png(8, 8), type: "image/png")
        var request = ImageRequest(url)
        let counter = CountingTransformer()
        request.transformers = [counter, Failing()]
        let error = await #expect(throws: WebImageError.self) { try await bench.manager.image(for: request) }
        #expect(error?.code == .transformFailed && counter.count == 1)
        #expect(bench.manager.memoryCache.count == 0)
        request.transformers = [counter]
        _ = try await bench.manager.image(for: request)
        #expect(bench.manager.cachedImage(for: request) != nil)
        #expect(bench.manager.cachedImage(for: ImageRequest(url)) == nil)
    }

    @Test func aRequestsOwnCoderDecodes() async throws {
        let bench = TestBench()
        bench.answer(url, with: Array("2x1 white".utf8), type: "text/plain")
        var request = ImageRequest(url)
        request.decoding.coder = WhiteCoder()
        let image = try await bench.manager.image(for: request).image
        #expect(image.size == PixelSize(width: 2, height: 1))
        #expect(image.withPixels { Array($0) } == [UInt8](repeating: 255, count: 8))
    }

    @Test func detailsNeedTheFirstBytesOnly() async throws {
        let bench = TestBench()
        let bytes = try Fixture.jpeg(640, 480)
        bench.transport.answer(url, .bytes(bytes, contentType: "image/jpeg").held(by: Gate(), after: bytes.count / 2))
        let details = try await bench.manager.details(for: ImageRequest(url))
        #expect(details.header.size == PixelSize(width: 640, height: 480) && details.header.format == .jpeg)
        #expect(details.byteCount == ByteCount(bytes.count))
        await bench.transport.waitForCancels(url, 1)
    }

    @Test func detailsAndBytesAskTheDiskCacheAsThePolicySays() async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path)
        let bytes = try Fixture.png(30, 20)
        bench.answer(url, with: bytes, type: "image/png")
        var request = ImageRequest(url)
        request.caching.policy = .cacheOnly
        for _ in 0..<2 {
            let miss = await #expect(throws: WebImageError.self) { try await bench.manager.details(for: request) }
            #expect(miss?.code == .cacheMiss)
        }
        _ = try await bench.manager.image(for: ImageRequest(url))
        await bench.manager.finishStores()
        let details = try await bench.manager.details(for: request)
        #expect(details.source == .disk && details.header.size == PixelSize(width: 30, height: 20))
        #expect(try await bench.manager.data(for: request) == bytes)
        #expect(bench.transport.hits(url) == 1)
    }

    @Test func bytesCanBeHadWithoutDecoding() async throws {
        let bench = TestBench()
        bench.answer(url, with: [1, 2, 3], type: "text/plain")
        #expect(try await bench.manager.data(for: ImageRequest(url)) == [1, 2, 3])
        #expect(try await bench.manager.data(for: ImageRequest("data:,abc")) == Array("abc".utf8))
        var request = ImageRequest(data: try Fixture.png(3, 2), name: "bytes")
        request.includesData = true
        let response = try await bench.manager.image(for: request)
        #expect(response.data?.count == response.byteCount?.bytes && response.image.size.width == 3)
    }

    @Test func aPictureCanBeHadFromAFileOrBytesWithoutAManager() async throws {
        let folder = try TemporaryFolder()
        let bytes = try Fixture.png(30, 20)
        try FileTree.write(bytes, to: "\(folder.path)/a b.png")
        let fromFile = try await Image(contentsOf: URL(filePath: "\(folder.path)/a b.png"))
        let fromBytes = try await Image(data: bytes, size: TargetSize(width: 15))
        #expect(fromFile.size == PixelSize(width: 30, height: 20) && fromBytes.size == PixelSize(width: 15, height: 10))
        #expect(try fromFile.encoded(as: .png) == bytes)
        let missing = await #expect(throws: WebImageError.self) {
            try await Image(contentsOf: URL(filePath: "\(folder.path)/none.png"))
        }
        #expect(missing?.code == .fileNotFound)
        let html = await #expect(throws: WebImageError.self) { try await Image(data: Array("<html>".utf8)) }
        #expect(html?.code == .badImageData)
    }

    @Test func timingsTellTheStages() async throws {
        let server = try OriginServer()
        server.serve(
            "/a.jpg",
            .bytes(try Fixture.jpeg(300, 200), contentType: "image/jpeg").with(
                .paced(over: .milliseconds(40), pieces: 4)))
        var configuration = ImageManager.Configuration()
        configuration.disk = nil
        let manager = ImageManager(configuration: configuration)
        let timings = try await manager.image(for: ImageRequest(server.url("/a.jpg"))).timings
        let stages = [timings.queue, timings.connect, timings.firstByte, timings.transfer].compactMap { $0 }
        #expect(stages.count == 4)
        let total = try #require(timings.total)
        #expect(stages.reduce(.zero, +) <= total)
        #expect(try #require(timings.transfer) >= .milliseconds(20) && #require(timings.decode) > .zero)
    }

    private func image(_ bytes: [UInt8], _ change: (inout ImageRequest) -> Void) async throws -> Image {
        var request = ImageRequest(data: bytes, name: "bytes")
        change(&request)
        return try await TestBench().manager.image(for: request).image
    }
}
