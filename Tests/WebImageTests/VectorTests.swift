#if SVG
    import Testing
    import WebImage
    import WebImageTesting

    @Suite struct VectorTests {
        private static let drawing = """
            <svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 40 30'><rect width='40' height='30' fill='#fff'/>\
            <circle cx='20' cy='15' r='9' fill='#06c'/><path d='M0 0 L40 30' stroke='#c00' stroke-width='1.5'/></svg>
            """

        @Test(arguments: [
            (TargetSize(width: 400, height: 400), 400, 300), (TargetSize(width: 20), 20, 15),
            (TargetSize(height: 60), 80, 60), (TargetSize(width: 100, height: 100, fit: .cover), 100, 100),
            (TargetSize(width: 100, height: 30, fit: .fill), 100, 30), (TargetSize(width: 80, upscale: true), 80, 60),
            (TargetSize(), 40, 30),
        ])
        func aVectorPictureIsDrawnAtTheSizeThatIsAsked(target: TargetSize, width: Int, height: Int) async throws {
            let image = try await image { $0.size = target }
            #expect(image.size == PixelSize(width: width, height: height))
            #expect(image.info.isVector && image.info.originalSize == PixelSize(width: 40, height: 30))
        }

        @Test func aLargeVectorPictureIsSharp() async throws {
            let natural = try await image { _ in }
            let large = try await image { $0.size = TargetSize(width: 400) }
            let enlarged = try natural.resized(to: TargetSize(width: 400, upscale: true))
            // The same drawing with a natural size that is ten times as large.
            let text = Self.drawing.replacing(
                "viewBox='0 0 40 30'", with: "width='400' height='300' viewBox='0 0 40 30'")
            let reference = try await image(text) { _ in }
            #expect(try #require(PixelComparison(large, reference)).differingPixels == 0)
            #expect(try #require(PixelComparison(large, enlarged)).psnr < 30)
        }

        /// A transform that looks at pixels gets pixels of the requested size.
        @Test(arguments: [
            "resize:300x300:cover:at=smart", "imgproxy:300x300:fill:g=sm", "imgproxy:150x150:fill:g=sm:dpr=2",
            "imgproxy:300x300:fill:g=sm:rot=90",
        ])
        func aSmartCropIsSharp(chain: String) async throws {
            let square = try await image { $0.transformers = try ImageTransform.parse(chain) }
            #expect(square.size == PixelSize(width: 300, height: 300))
            // The drawing is white, blue and red; only pixels on edges have mixed colours.
            let mixed = square.withPixels { bytes in
                stride(from: 0, to: bytes.count, by: 4).count { start in
                    let pixel = Array(bytes[start..<start + 3])
                    return ![[255, 255, 255], [0, 0x66, 0xCC], [0xCC, 0, 0]].contains(pixel)
                }
            }
            #expect(mixed < 300 * 300 / 20)
        }

        /// The crop is not made from the natural picture, which would be too small or blurred.
        @Test func aSmartCropIsSharpAlsoWhereTheNaturalPictureIsInMemory() async throws {
            let bench = TestBench()
            let url = "http://pictures.test/v.svg"
            bench.answer(url, with: Array(Self.drawing.utf8), type: "image/svg+xml")
            var request = ImageRequest(url)
            #expect(try await bench.manager.image(for: request).image.size == PixelSize(width: 40, height: 30))
            request.transformers = [.resize(width: 300, height: 300, fit: .cover, at: .smart)]
            let square = try await bench.manager.image(for: request).image
            let alone = try await image { $0.transformers = request.transformers }
            #expect(square.size == PixelSize(width: 300, height: 300))
            #expect(try #require(PixelComparison(square, alone)).differingPixels == 0)
        }

        @Test func imgproxysCanvasKnowsThatADrawingIsEnlarged() async throws {
            let chain = "imgproxy:300x200:extend:dpr=2|imgproxy-canvas:300x200:extend:dpr=2"
            let image = try await image { $0.transformers = try ImageTransform.parse(chain) }
            #expect(image.size == PixelSize(width: 600, height: 400))
        }

        @Test func aHugeDrawingIsReducedToThePixelLimit() async throws {
            let huge = Self.drawing.replacing(
                "viewBox='0 0 40 30'", with: "width='40000' height='30000' viewBox='0 0 40 30'")
            let whole = try await image(huge) { $0.transformers = [Self.imgproxy { $0.maxDrawnPixels = 30_000 }] }
            #expect(whole.size == PixelSize(width: 200, height: 150))
            // The crop counts in pixels of the reduced picture.
            let corner = try await image(huge) {
                $0.transformers = [
                    Self.imgproxy {
                        ($0.maxDrawnPixels, $0.cropWidth, $0.cropHeight) = (30_000, 100, 75)
                        $0.gravity = .init(.northWest)
                    }
                ]
            }
            #expect(corner.size == PixelSize(width: 100, height: 75))
            let comparison = try #require(
                PixelComparison(corner, try whole.transformed(by: [.crop(width: 100, height: 75, at: .topLeft)])))
            #expect(comparison.psnr > 35)
        }

        private static func imgproxy(_ change: (inout ImgproxyGeometry) -> Void) -> ImageTransform {
            var geometry = ImgproxyGeometry()
            change(&geometry)
            return .imgproxy(geometry)
        }

        @Test func coverCropsTheCentre() async throws {
            let square = try await image { $0.size = TargetSize(width: 300, height: 300, fit: .cover) }
            let whole = try await image { $0.size = TargetSize(width: 400, height: 300) }
            let middle = try Image(size: square.size, alpha: .straight) { bytes in
                whole.withPixels { all in
                    for row in 0..<300 {
                        let part = UnsafeRawBufferPointer(rebasing: all[(row * 400 + 50) * 4..<(row * 400 + 350) * 4])
                        UnsafeMutableRawBufferPointer(rebasing: bytes[row * 1200..<row * 1200 + 1200])
                            .copyMemory(from: part)
                    }
                }
            }
            // cairo rounds where shapes meet the edge of the canvas, so a few pixels there differ by a few levels.
            let comparison = try #require(PixelComparison(square, middle))
            #expect(comparison.maxDifference <= 16 && comparison.differingPixels < 50)
        }

        @Test func aByteLimitMakesADrawingSmallerButNeverLarger() async throws {
            #expect(try await image { $0.decoding.bitmapLimit = 1200 }.size == PixelSize(width: 20, height: 15))
            #expect(
                try await image { $0.decoding.bitmapLimit = .mebibytes(1) }.size == PixelSize(width: 40, height: 30))
        }

        @Test func concurrentLoadsEachGetTheirOwnSize() async throws {
            let bench = TestBench()
            let url = "http://pictures.test/v.svg"
            bench.answer(url, with: Array(Self.drawing.utf8), type: "image/svg+xml")
            try await withThrowingTaskGroup(of: (Int, PixelSize).self) { group in
                for width in [40, 80, 160, 160, 200] {
                    group.addTask {
                        let request = ImageRequest(url, size: TargetSize(width: width))
                        return (width, try await bench.manager.image(for: request).image.size)
                    }
                }
                for try await (width, size) in group {
                    #expect(size == PixelSize(width: width, height: width * 3 / 4))
                }
            }
        }

        @Test func aSizeThatIsTooLargeIsRefused() async throws {
            let error = await #expect(throws: WebImageError.self) {
                try await image { $0.size = TargetSize(width: 1_000_000, height: 1_000_000) }
            }
            #expect(error?.code == .badImageData && (error?.cause as? WebImageError)?.code == .limitExceeded)
        }

        private func image(
            _ text: String = Self.drawing, _ change: (inout ImageRequest) throws -> Void
        ) async throws -> Image {
            var request = ImageRequest(data: Array(text.utf8), name: "drawing")
            try change(&request)
            return try await TestBench().manager.image(for: request).image
        }
    }
#endif
