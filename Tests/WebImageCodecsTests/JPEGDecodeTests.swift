import Testing
import WebImageCodecs
import WebImageCore

@Suite struct JPEGDecodeTests {
    @Test(arguments: [false, true], [1, 2, 4, 8])
    func anyPiecesAndAnySinkGiveTheSamePixels(isProgressive: Bool, scale: Int) throws {
        let bytes = try Drawings.jpeg(203, 117, progressive: isProgressive)
        let whole = decode(bytes, scale: scale)
        #expect(whole.error == nil && whole.wasComplete)
        #expect(whole.format?.size == PixelSize(width: (203 + scale - 1) / scale, height: (117 + scale - 1) / scale))
        #expect(whole.rows == (117 + scale - 1) / scale)
        for seed in UInt64(1)...6 {
            let pieces = decode(
                bytes, scale: scale, keepsWhole: seed % 2 == 0, previewEvery: seed % 3 == 0 ? 3 : 0,
                length: randomLengths(seed: seed, most: seed == 1 ? 1 : 700))
            #expect(pieces.error == nil)
            #expect(pieces.pixels == whole.pixels)
        }
    }

    @Test(arguments: [false, true])
    func aDrawnPictureComesBackNearly(isProgressive: Bool) throws {
        let image = try Drawings.picture(120, 90)
        let bytes = try JPEGCoder().encode(image, as: .jpeg, EncodeOptions(quality: 95, progressive: isProgressive))
        let result = decode(bytes)
        #expect(result.pixels.meanDifference(to: image.bytes) < 2)
        #expect(result.format?.alpha == .opaque && result.format?.layout == .rgba8)
        #expect(result.header?.isProgressive == isProgressive)
        #expect(result.header?.format == .jpeg && result.header?.bitDepth == 8 && result.header?.hasAlpha == false)
    }

    /// A file of a stereo camera (MPO), or one that is followed by a preview or a gain map, begins with the picture
    /// itself.
    @Test func ofSeveralPicturesInAFileTheFirstIsDecoded() throws {
        let first = try Drawings.jpeg(64, 40)
        var file = first
        // The head of an index of two pictures (CIPA DC-007).
        file.insert(contentsOf: JPEGMaker.marker(0xE2, Array("MPF".utf8) + [0, 0x4D, 0x4D, 0, 42, 0, 0, 0, 8]), at: 2)
        file += try Drawings.jpeg(32, 20)
        for length in [Int.max, 100] {
            let result = decode(file, length: { length })
            #expect(result.error == nil && result.wasComplete && result.pixels == decode(first).pixels)
            #expect(result.header?.frameCount == 1 && result.header?.iccProfile == nil)
        }
    }

    @Test func aScaledPictureLooksLikeTheFullOne() throws {
        let bytes = try Drawings.jpeg(256, 128)
        let mean = { (pixels: Pixels) in Double(pixels.bytes.reduce(0) { $0 + Int($1) }) / Double(pixels.count) }
        let full = mean(decode(bytes).pixels)
        for scale in [2, 4, 8] { #expect(abs(mean(decode(bytes, scale: scale).pixels) - full) < 2) }
    }

    /// libjpeg keeps all coefficients of it, as of a progressive one, which was not announced.
    @Test func aPictureWithAScanForEachComponentIsKeptWhole() {
        let frame: [UInt8] =
            [0xFF, 0xD8, 0xFF, 0xC0, 0, 17, 8, 0, 16, 0, 16, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]
        let header = decode(frame + [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0]).header
        #expect(header?.keepsWholePicture == true && header?.isProgressive == false)
        let all = decode(frame + [0xFF, 0xDA, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0]).header
        #expect(all?.keepsWholePicture == false)
    }

    /// A picture at an eighth of the size shows only the mean of each block, so that scans of other coefficients are
    /// left out. Of colours at half the resolution (at quality 80) it needs more coefficients.
    @Test(arguments: [80, 92]) func anEighthOfAProgressivePictureNeedsItsMeansOnly(quality: Int) throws {
        let (plain, progressive) = try (
            Drawings.jpeg(203, 117, quality: quality), Drawings.jpeg(203, 117, progressive: true, quality: quality)
        )
        let expected = decode(progressive, scale: 8).pixels
        // In a sequential picture, colours at half the resolution are not reduced to means.
        #expect(expected.meanDifference(to: decode(plain, scale: 8).pixels) < (quality > 90 ? 1 : 6))
        // Damages the other scans. This would end a decode at full size or change its pixels.
        let scans = JPEGMaker.scans(of: progressive)
        let means = scans.filter(\.isOfMeans)
        let others = scans.filter { !$0.isOfMeans && (quality > 90 || $0.component == 1) }
        #expect(means.count == 2 && others.count >= (quality > 90 ? 8 : 4))
        var damaged = progressive
        for place in others.flatMap(\.data) where damaged[place] != 0xFF && damaged[place - 1] != 0xFF {
            damaged[place] = 0x55
        }
        #expect(decode(damaged).pixels != decode(progressive).pixels)
        for most in [1, 13, 5000] {
            let result = decode(damaged, scale: 8, length: randomLengths(seed: 3, most: most))
            #expect(result.error == nil && result.wasComplete && result.pixels == expected)
        }
        // A file that is cut off within the last scan is complete; one that is cut off before the means are exact is
        // not.
        let last = try #require(scans.last).data
        let first = try #require(others.first).data
        #expect(decode(Array(progressive.prefix(last.lowerBound + last.count / 2)), scale: 8).error == nil)
        let coarse = decode(Array(progressive.prefix(first.lowerBound + 1)), scale: 8)
        #expect(coarse.error?.code == .truncatedData && coarse.rows == 15)
    }

    @Test func rowsComeBeforeTheDataIsAllThere() throws {
        let bytes = try JPEGCoder().encode(
            Drawings.noise(256, 256, alpha: .opaque), as: .jpeg, EncodeOptions(quality: 90))
        let half = decode(Array(bytes.prefix(bytes.count / 2)), keepsWhole: false, length: { 1000 })
        #expect(half.error?.code == .truncatedData)
        #expect(half.rows > 100 && half.rows < 140 && half.commits > 5)
        #expect(half.pixels == decode(bytes).pixels.prefix(half.rows * 256 * 4))
    }

    @Test(arguments: [1, 8])
    func aCutFileGivesOnlyRowsOfTheWholePicture(scale: Int) throws {
        // 4:2:0 and 4:4:4, that is, with and without rows that are smoothed across the edges of blocks.
        for quality in [85, 92] {
            let bytes = try Drawings.jpeg(64, 80, quality: quality)
            let whole = decode(bytes, scale: scale)
            for length in stride(from: 0, to: bytes.count - 2, by: 7) {
                let cut = decode(Array(bytes.prefix(length)), scale: scale)
                #expect(cut.pixels == whole.pixels.prefix(cut.pixels.count))
                if length < bytes.count - 40 { #expect(cut.error != nil) }
            }
        }
    }

    /// An end marker after half of the data claims that the file is complete. The picture is shown as in libjpeg,
    /// Pillow, libvips and browsers, which make up the rest.
    @Test(arguments: [1, 8])
    func aPictureThatItsEndMarkerCallsWholeIsTakenAsWhole(scale: Int) throws {
        let bytes = try JPEGCoder().encode(
            Drawings.noise(256, 256, alpha: .opaque), as: .jpeg, EncodeOptions(quality: 90))
        let whole = decode(bytes, scale: scale)
        let data = try #require(bytes.indices.first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
        for most in [100, 1 << 20] {
            let cut = decode(
                Array(bytes.prefix((data + bytes.count) / 2)) + [0xFF, 0xD9], scale: scale, length: { most })
            #expect(cut.error == nil && cut.rows == whole.rows)
            let known = whole.pixels.count / whole.rows * (100 / scale)
            #expect(cut.pixels.prefix(known) == whole.pixels.prefix(known))
            #expect(cut.pixels != whole.pixels)
        }
    }

    @Test func aMissingEndMarkerIsNoLoss() throws {
        for isProgressive in [false, true] {
            let bytes = try Drawings.jpeg(64, 80, progressive: isProgressive)
            let result = decode(Array(bytes.dropLast(2)))
            #expect(result.error == nil)
            #expect(result.pixels == decode(bytes).pixels)
        }
    }

    @Test func aCutProgressivePictureIsWholeButCoarse() throws {
        let bytes = try Drawings.jpeg(160, 160, progressive: true)
        let whole = decode(bytes)
        for keepsWhole in [true, false] {
            let cut = decode(Array(bytes.prefix(bytes.count * 3 / 4)), keepsWhole: keepsWhole, length: { 100 })
            #expect(cut.error?.code == .truncatedData)
            #expect(cut.rows == 160 && cut.pixels != whole.pixels)
            #expect(cut.pixels.meanDifference(to: whole.pixels) < 20)
        }
    }

    @Test func aPictureCutInItsFirstScanGivesOnlyTheRowsThere() throws {
        let bytes = try JPEGCoder().encode(
            Drawings.noise(256, 256, alpha: .opaque), as: .jpeg, EncodeOptions(quality: 90, progressive: true))
        let start = try #require(bytes.indices.first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
        let cut = decode(Array(bytes.prefix(start + 900)))
        #expect(cut.error?.code == .truncatedData)
        #expect(cut.rows > 0 && cut.rows < 256)
    }

    @Test func previewsGrowFiner() throws {
        let bytes = try Drawings.jpeg(160, 160, progressive: true)
        let result = decode(bytes, previewEvery: 1, length: { 250 })
        let differences = result.previews.map { $0.meanDifference(to: result.pixels) }
        #expect(differences.count >= 4)
        #expect(try #require(differences.first) > (try #require(differences.last)))
        #expect(decode(bytes).pixels == result.pixels)
    }

    @Test func aPreviewIsGivenOnceForTheSameBytes() throws {
        let bytes = try Drawings.jpeg(160, 160, progressive: true)
        let sink = PixelBufferSink()
        let decoder = try makeDecoder(bytes) { (_) throws(WebImageError) in DecodePlan(sink: sink) }
        _ = try bytes.withUnsafeBytes {
            try decoder.push(UnsafeRawBufferPointer(rebasing: $0.prefix(bytes.count * 3 / 4)))
        }
        #expect(try decoder.preview() != nil)
        #expect(try decoder.preview() == nil)
    }

    @Test func bytesAfterTheEndMarkerAreIgnored() throws {
        let bytes = try Drawings.jpeg(64, 64)
        let result = decode(bytes + bytes, length: { 100 })
        #expect(result.error == nil && result.wasComplete && result.pixels == decode(bytes).pixels)
    }

    @Test func endlessFillBytesAreRefused() throws {
        let bytes = try Drawings.jpeg(64, 64)
        let start = try #require(bytes.indices.first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
        let result = decode(
            Array(bytes.prefix(start + 20)) + [UInt8](repeating: 0xFF, count: 2 << 20), length: { 65_536 })
        #expect(result.error?.code == .corruptData)
    }

    @Test(arguments: Orientation.allCases)
    func theOrientationIsReadFromTheTag(_ orientation: Orientation) throws {
        let bytes = try Drawings.jpeg(20, 10, orientation: orientation)
        #expect(try CoderRegistry.standard.readHeader(of: bytes).orientation == orientation)
        #expect(try CoderRegistry.standard.decode(bytes).image.info.orientation == orientation)
    }

    @Test(arguments: [false, true]) func inksAreStoredInverted(hasAdobeMarker: Bool) {
        // A stored value of 255 means no ink, also in files without Adobe's marker, as in every other reader.
        let ink: [UInt8] = [200, 100, 50, 240]
        let result = decode(JPEGMaker.flatCMYK(ink, width: 16, height: 8, hasAdobeMarker: hasAdobeMarker))
        #expect(result.error == nil && result.rows == 8)
        #expect(result.pixels.prefix(4).bytes == [188, 94, 47, 255])
    }

    @Test func anAbsurdNumberOfScansIsRefused() throws {
        let bytes = JPEGMaker.manyScans(600)
        #expect(decode(bytes).error?.code == .limitExceeded)
        #expect(decode(JPEGMaker.manyScans(20)).error == nil)
    }
}
