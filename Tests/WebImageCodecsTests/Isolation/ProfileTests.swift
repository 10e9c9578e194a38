import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageCodecs
@testable import WebImageProcessing

/// Profiles from strangers, which are read by our own code or turned into tables in another process.
@Suite struct ProfileTests {
    private static let curves: [[UInt8]] = [
        ProfileBytes.sRGBCurve, ProfileBytes.formula(0, [1.8]), ProfileBytes.formula(1, [2.2, 0.9, 0.1]),
        ProfileBytes.formula(2, [2.2, 0.9, 0.1, 0.02]), ProfileBytes.formula(4, [2.2, 0.9, 0.1, 0.1, 0.04, 0.01, 0.0]),
        ProfileBytes.curve([]), ProfileBytes.curve([563]), ProfileBytes.curve([0, 20_000, 65_535]),
        ProfileBytes.curve((0..<1024).map { $0 * $0 / 16 }),
    ]

    static var profiles: [[UInt8]] {
        curves.flatMap { curve in
            [
                ProfileBytes.gray(curve).bytes, ProfileBytes.rgb(ProfileBytes.displayP3, curve).bytes,
                ProfileBytes.rgb(ProfileBytes.sRGB, curve, version: 0x0210_0000).bytes,
            ]
        }
    }

    /// Random colours, among which dark ones are more frequent.
    private func colors(_ layout: PixelLayout) throws -> PixelBuffer {
        let pixels = try PixelBuffer(size: PixelSize(width: 100, height: 100), layout: layout)
        var generator = SeededGenerator(seed: 5)
        let width = layout.bytesPerPixel / 4
        for y in 0..<100 {
            for x in 0..<100 {
                let pixel = pixels.row(y) + x * layout.bytesPerPixel
                // The last rows are gray.
                for byte in 0..<layout.bytesPerPixel {
                    let isSame = y >= 90 && byte >= width && byte < 3 * width
                    let value =
                        isSame
                        ? pixel.load(fromByteOffset: byte - width, as: UInt8.self)
                        : .random(in: 0...255, using: &generator)
                    pixel.storeBytes(of: value, toByteOffset: byte, as: UInt8.self)
                }
            }
        }
        return pixels
    }

    private func converted(_ converter: ColorConverter, _ layout: PixelLayout) throws -> [Int] {
        let pixels = try colors(layout)
        converter.convert(pixels)
        return levels(of: pixels)
    }

    private func levels(of pixels: PixelBuffer) -> [Int] {
        (0..<pixels.size.height).flatMap { y in
            (0..<pixels.size.width * 4).map { index in
                pixels.layout == .rgba8
                    ? Int(pixels.row(y).load(fromByteOffset: index, as: UInt8.self))
                    : Int(pixels.row(y).load(fromByteOffset: 2 * index, as: UInt16.self))
            }
        }
    }

    /// Expects that lcms2 gives the same colours from the curves that we read as from the profile's bytes.
    private func expectSame(_ profile: [UInt8]) throws {
        let unread = ProfileBytes.withUnknownTag(profile)
        #expect(ProfileTable.isNeeded(for: unread))
        for layout in [PixelLayout.rgba8, .rgba16] {
            let ours = try #require(ColorConverter(iccProfile: profile, layout: layout))
            let theirs = try #require(ColorConverter(iccProfile: unread, layout: layout))
            #expect(ours.isIdentity == theirs.isIdentity)
            let transform = try #require(ColorTransform(.profile(unread), layout, isProbe: true))
            guard layout == .rgba16, !transform.isGray, !ours.isIdentity else {
                #expect(try converted(ours, layout) == converted(theirs, layout))
                continue
            }
            // For 16 bits we are as exact as lcms2 without its tables, except where a curve jumps: lcms2 rounds the light of curves
            // that are tables to 16 bits, which is up to 13 levels in the dark.
            let pixels = try colors(layout)
            for row in 0..<pixels.size.height { transform.apply(to: pixels.row(row), count: pixels.size.width) }
            let distances = zip(try converted(ours, layout), levels(of: pixels)).map { abs($0 - $1) }
            let count = distances.count { $0 > 16 }
            #expect(count <= 10 && distances.max() ?? 0 < 6554, "\(count) of 40000 differ, by \(distances.max() ?? 0)")
        }
    }

    @Test(arguments: profiles.indices) func curvesAreReadAsLCMSReadsThem(_ index: Int) throws {
        let profile = Self.profiles[index]
        #expect(!ProfileTable.isNeeded(for: profile))
        try expectSame(profile)
    }

    @Test(.enabled(if: Corpus.isAvailable)) func profilesOfTheCorpusAreReadAsLCMSReadsThem() throws {
        var seen: Set<[UInt8]> = []
        for row in Corpus.rows where row.byteCount < 3_000_000 {
            let probe = ImageProbe()
            let header = try? Corpus.read(row.path)?.withUnsafeBytes { bytes in
                if let header = try probe.push(bytes) { return header }
                return try probe.finish()
            }
            guard let profile = header?.iccProfile, seen.insert(profile).inserted else { continue }
            if !ProfileTable.isNeeded(for: profile) { try expectSame(profile) }
        }
        #expect(seen.count > 3)
    }

    /// A profile that lcms2 might read differently is left to lcms2.
    @Test func unusualProfilesAreLeftToLCMS() {
        let whole = ProfileBytes.rgb(ProfileBytes.displayP3, ProfileBytes.sRGBCurve)
        func expect(_ change: (inout ProfileBytes) -> Void, _ comment: Comment) {
            var profile = whole
            change(&profile)
            #expect(ProfileTable.isNeeded(for: profile.bytes), comment)
        }
        expect({ $0.tags.removeLast() }, "a curve is missing")
        expect({ $0.tags[0].bytes.removeLast() }, "a number is cut")
        expect({ $0.tags.append($0.tags[0]) }, "a tag stands there twice")
        expect({ $0.connection = "Lab " }, "another space between")
        expect({ $0.kind = "abst" }, "another class")
        expect({ $0.version = 0x0500_0000 }, "another version")
        expect({ $0.tags[5].bytes = ProfileBytes.formula(5, [1]) }, "an unknown formula")
        expect({ $0.tags[5].bytes = ProfileBytes.formula(4, [1]) }, "too few numbers")
        expect(
            { $0.tags[5].bytes = Array("curv".utf8) + ProfileBytes.number(0) + ProfileBytes.number(1 << 30) },
            "too long")
        expect({ $0.tags.append(("A2B0", ProfileBytes.table(3, input: [0, 65_535]) { _ in [0, 0, 0] })) }, "a table")
        #expect(ProfileTable.isNeeded(for: []))
        for count in stride(from: 0, to: whole.bytes.count, by: 7) {
            #expect(ProfileTable.isNeeded(for: Array(whole.bytes.prefix(count))))
        }
    }

    /// The table is as close to the exact colours as lcms2 itself, which uses a grid of as many points for a picture.
    @Test(arguments: [PixelLayout.rgba8, .rgba16]) func aTableGivesTheColorsOfItsProfile(_ layout: PixelLayout) throws {
        let profile = ProfileBytes.tableOfDisplayP3.bytes
        #expect(ProfileTable.isNeeded(for: profile))
        let table = try #require(ProfileTable(iccProfile: profile))
        #expect(table.space == .rgb)
        let exact = try exactLevels(profile, layout)
        func errors(_ converter: ColorConverter?) throws -> (most: Double, mean: Double) {
            let levels = try converted(try #require(converter), layout)
            let distances = zip(levels, exact).map { abs(Double($0) - $1) * 255 / exactTop(layout) }
            return (distances.max() ?? 0, distances.reduce(0, +) / Double(distances.count))
        }
        let direct = try errors(ColorConverter(iccProfile: profile, layout: layout))
        let byTable = try errors(ColorConverter(table, layout: layout))
        #expect(byTable.most < direct.most * 1.05 && byTable.mean < direct.mean * 1.3, "\(byTable) \(direct)")
        #expect(byTable.mean < 0.3)
        let unchanged = levels(of: try colors(layout))
        #expect(zip(exact, unchanged).contains { abs($0 - Double($1)) * 255 / exactTop(layout) > 20 })
    }

    private func exactTop(_ layout: PixelLayout) -> Double { layout == .rgba8 ? 255 : 65_535 }

    /// The colours that lcms2 computes without a grid.
    private func exactLevels(_ profile: [UInt8], _ layout: PixelLayout) throws -> [Double] {
        let transform = try #require(ColorTransform(.profile(profile), .rgba16, isProbe: true))
        let pixels = try colors(layout)
        let scale = layout == .rgba8 ? 257 : 1
        var wide = levels(of: pixels).map { UInt16($0 * scale) }
        wide.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { transform.apply(to: base, count: bytes.count / 8) }
        }
        return wide.map { Double($0) / Double(scale) }
    }

    @Test func aTableOfInksGivesTheColorsOfItsProfile() throws {
        let profile = ProfileBytes.inks.bytes
        let table = try #require(ProfileTable(iccProfile: profile))
        #expect(table.space == .inks)
        let (direct, byTable) = (try #require(InkConverter(iccProfile: profile)), try #require(InkConverter(table)))
        var (first, second) = (inkPixels, inkPixels)
        first.withUnsafeMutableBufferPointer { direct.convert($0.baseAddress.unsafelyUnwrapped, count: $0.count / 4) }
        second.withUnsafeMutableBufferPointer { byTable.convert($0.baseAddress.unsafelyUnwrapped, count: $0.count / 4) }
        let most = zip(first, second).map { abs(Int($0) - Int($1)) }.max() ?? 0
        #expect(most <= 3, "most \(most)")
        #expect(first != inkPixels)
    }

    private var inkPixels: [UInt8] {
        var generator = SeededGenerator(seed: 3)
        return (0..<4000).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    @Test func aTableOfGrayIsExact() throws {
        let profile = ProfileBytes.withUnknownTag(ProfileBytes.gray(ProfileBytes.formula(0, [1])).bytes)
        let table = try #require(ProfileTable(iccProfile: profile))
        #expect(table.space == .gray)
        for layout in [PixelLayout.rgba8, .rgba16] {
            let direct = try #require(ColorConverter(iccProfile: profile, layout: layout))
            let byTable = try #require(ColorConverter(table, layout: layout))
            #expect(try converted(direct, layout) == converted(byTable, layout))
        }
    }

    #if os(Linux)
        @Test func aWorkerMakesTheTable() throws {
            let pool = DecoderPool(.automatic)
            let profile = ProfileBytes.tableOfDisplayP3.bytes
            let converter = try #require(try pool.converter(for: .profile(profile), .rgba8))
            let table = try #require(ProfileTable(iccProfile: profile))
            let here = try #require(ColorConverter(table, layout: .rgba8))
            #expect(try converted(converter, .rgba8) == converted(here, .rgba8))
            #expect(pool.report.started == 1)
            _ = try pool.converter(for: .profile(profile), .rgba16)
            #expect(try pool.inkConverter(for: ProfileBytes.inks.bytes) != nil)
            // The first profile's table is cached, a profile with curves needs none, and bytes that are not a profile
            // are refused by the worker.
            _ = try pool.converter(
                for: .profile(ProfileBytes.rgb(ProfileBytes.displayP3, ProfileBytes.sRGBCurve).bytes), .rgba8)
            #expect(try pool.converter(for: .profile([1, 2, 3]), .rgba8) == nil)
            #expect(pool.report.started <= 2)
            #expect(pool.report.crashed == 0)
            pool.shutDown()
        }
    #endif
}
