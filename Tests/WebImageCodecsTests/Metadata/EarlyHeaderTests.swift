#if AVIF && HEIF
    import Testing
    import WebImageCore
    import WebImageTesting

    @testable import WebImageCodecs

    /// How many bytes of an AVIF or HEIC a probe needs for the header, in this process and in a worker.
    @Suite(.enabled(if: Workers.areAvailable && AVIFEncoder.isAvailable && !HEIFCoder().encodableFormats.isEmpty))
    struct EarlyHeaderTests {
        private static let registries = [CoderRegistry.standard, .standard.isolated(by: Workers.pool)]
        private static let metadata = ImageMetadata(exif: EXIFMaker().block(), xmp: XMPMaker.packet(orientation: 1))

        /// - Parameter side: The picture's width and height. With 300, the noise takes more than 64 KiB.
        private func file(_ format: ImageFormat, side: Int = 120, _ metadata: ImageMetadata? = nil) throws -> [UInt8] {
            let image = try Drawings.noise(side, side, alpha: .opaque).with {
                if let metadata { $0.metadata = metadata }
            }
            let options = EncodeOptions(quality: 90, keepsMetadata: metadata != nil)
            return try CoderRegistry.standard.encoder(for: format).encode(image, as: format, options)
        }

        /// Pushes pieces into a probe until `goesOn` returns false. Returns the header and the number of bytes that
        /// were pushed.
        private func read(
            _ bytes: [UInt8], _ registry: CoderRegistry, while goesOn: (ImageProbe) -> Bool
        ) throws -> (header: ImageHeader?, count: Int) {
            let probe = ImageProbe(registry: registry)
            for start in stride(from: 0, to: bytes.count, by: 500) {
                let piece = Array(bytes[start...].prefix(500))
                let header = try piece.withUnsafeBytes { try probe.push($0) }
                if let header, !goesOn(probe) { return (header, start + piece.count) }
            }
            return (try probe.finish(), bytes.count + 1)
        }

        @Test(arguments: [ImageFormat.avif, .heic]) func aHeaderTakesTheFirstBytesOnly(_ format: ImageFormat) throws {
            let bytes = try file(format)
            for registry in Self.registries {
                let (header, count) = try read(bytes, registry) { $0.mayExtendHeader || $0.mayFindLateMetadata }
                #expect(header?.size == PixelSize(width: 120, height: 120) && header?.format == format)
                #expect(count < bytes.count / 3)
            }
        }

        @Test func metadataBeforeThePictureIsWaitedFor() throws {
            let bytes = try file(.avif, Self.metadata)
            for registry in Self.registries {
                let (header, count) = try read(bytes, registry) { $0.mayExtendHeader }
                #expect(header?.metadata.xmp == Self.metadata.xmp && header?.metadata.exif == Self.metadata.exif)
                #expect(count < bytes.count / 2)
            }
        }

        /// libheif writes metadata after the picture.
        @Test func metadataFarBehindThePictureIsFoundInBytesThatAreThere() throws {
            let bytes = try file(.heic, side: 300, Self.metadata)
            try #require(bytes.count > 70_000)
            for registry in Self.registries {
                let early = try read(bytes, registry) { $0.mayExtendHeader }
                #expect(early.count < 5000 && early.header?.metadata == ImageMetadata())
                let late = try read(bytes, registry) { $0.mayFindLateMetadata }
                #expect(late.header?.metadata.xmp == Self.metadata.xmp && late.header?.metadata.exif != nil)
            }
        }
    }
#endif
