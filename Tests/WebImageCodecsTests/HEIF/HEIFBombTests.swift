#if HEIF
    import Testing
    import WebImageCodecs
    import WebImageCore

    /// Files that claim too much are refused before anything is decoded.
    @Suite struct HEIFBombTests {
        typealias Maker = HEIFMaker

        private static func single(
            _ set: [UInt8], _ width: Int, _ height: Int, data: [UInt8] = Maker.data([[20 << 1, 1, 0x80, 0]])
        ) -> [UInt8] {
            Maker.file(
                items: [.init(id: 1, properties: [1, 2], data: data)],
                properties: [Maker.configuration([set]), Maker.size(width, height)])
        }

        private static func result(_ file: [UInt8]) -> CoderDecode { CoderDecode(HEIFCoder(), file) }

        private static let small = Maker.sequenceSet(64, 64)

        @Test func theHeaderOfASyntheticFileIsRead() {
            for layers in [0, 3] {
                let set = Maker.sequenceSet(72, 64, layers: layers, window: [0, 1, 0, 0])
                let result = CoderDecode(HEIFCoder(), Self.single(set, 70, 64), wantsRows: false)
                #expect(result.error == nil && result.header?.size == PixelSize(width: 70, height: 64))
                #expect(result.header?.bitDepth == 8 && result.headerAt != nil)
            }
        }

        /// With a second list of properties, the items' references lead nowhere.
        @Test func propertiesReplacedByAnEmptyListAreCorrupt() {
            let file = Maker.file(
                items: [.init(id: 1, properties: [1, 2], data: Maker.data([[20 << 1, 1, 0x80, 0]]))],
                properties: [Maker.configuration([Self.small]), Maker.size(64, 64)],
                behind: Maker.box("iprp", Maker.box("ipco", [])))
            #expect(Self.result(file).error?.code == .corruptData)
        }

        @Test func aConfigurationHasALength() {
            let long = Maker.configuration([Self.small]) + [UInt8](repeating: 0, count: 0)
            var box = Array(long[8...]) + [UInt8](repeating: 0, count: 1 << 20)
            box = Maker.box("hvcC", box)
            let file = Maker.file(
                items: [.init(id: 1, properties: [1, 2], data: Maker.data([[20 << 1, 1, 0x80, 0]]))],
                properties: [box, Maker.size(64, 64)])
            #expect(Self.result(file).error?.code == .limitExceeded)
        }

        @Test func referencesAreLimited() {
            func result(_ count: Int) -> CoderDecode {
                let references = (0..<2).map { (type: "auxl", from: 2 + $0, to: [Int](repeating: 9, count: count)) }
                let file = Maker.file(
                    items: [.init(id: 1, properties: [1, 2], data: Maker.data([[20 << 1, 1, 0x80, 0]]))],
                    properties: [Maker.configuration([Self.small]), Maker.size(64, 64)], references: references)
                return CoderDecode(HEIFCoder(), file, wantsRows: false)
            }
            #expect(result(32_768).error == nil)
            #expect(result(32_769).error?.code == .limitExceeded)
        }

        @Test(arguments: [(100_000, 100_000), (16_384, 16_384)])
        func hugeParametersAreOverTheLimit(width: Int, height: Int) {
            let set = Maker.sequenceSet(width, height)
            // The file is refused whatever size the boxes state.
            for size in [(width, height), (64, 64)] {
                #expect(Self.result(Self.single(set, size.0, size.1)).error?.code == .limitExceeded)
            }
        }

        /// A picture of this size is within the limits, but libde265 decodes none of such a width.
        @Test func aWidthThatNoDecoderTakesIsCorrupt() {
            let set = Maker.sequenceSet(1 << 20, 8)
            for size in [(1 << 20, 8), (64, 64)] {
                let result = Self.result(Self.single(set, size.0, size.1))
                #expect(result.error?.code == .corruptData && result.rows == 0)
            }
        }

        @Test func hugeParametersWithinTheDataAreRefused() {
            let huge = Maker.sequenceSet(100_000, 100_000)
            let slice: [UInt8] = [20 << 1, 1, 0x80, 0]
            for units in [[huge, slice], [slice, huge], [Self.small, huge, slice]] {
                let error = Self.result(Self.single(Self.small, 64, 64, data: Maker.data(units))).error
                #expect(error?.code == .corruptData && error?.message.contains("contradicts") == true)
            }
        }

        /// Apple's encoder makes no picture narrower than 160 pixels; of such a picture, 64 are shown.
        @Test func aSmallPictureMayBeAPartOfALargerOne() {
            let part = Maker.sequenceSet(160, 64, window: [0, 48, 0, 0])
            let result = CoderDecode(HEIFCoder(), Self.single(part, 64, 64), wantsRows: false)
            #expect(result.error == nil && result.header?.size == PixelSize(width: 64, height: 64))
            let large = Maker.sequenceSet(320, 64, window: [0, 128, 0, 0])
            #expect(Self.result(Self.single(large, 64, 64)).error?.code == .corruptData)
        }

        @Test func aPictureFarAboveItsBoxIsCorrupt() {
            let error = Self.result(Self.single(Maker.sequenceSet(4096, 4096), 64, 64)).error
            #expect(error?.code == .corruptData)
            #expect(Self.result(Self.single(Self.small, 65, 64)).error?.code == .corruptData)
        }

        @Test(arguments: [
            Maker.sequenceSet(64, 64, chroma: 4), Maker.sequenceSet(64, 64, references: 16), Maker.sequenceSet(60, 64),
            Maker.sequenceSet(64, 64, depth: 17), Maker.sequenceSet(0, 64),
            Maker.sequenceSet(64, 64, window: [16, 16, 0, 0]), Maker.sequenceSet(64, 64, window: [1 << 30, 0, 0, 0]),
        ])
        func impossibleParametersAreCorrupt(_ set: [UInt8]) {
            #expect(Self.result(Self.single(set, 64, 64)).error?.code == .corruptData)
        }

        @Test func everyCutOfTheParametersIsRefused() {
            for length in 1..<22 {
                let set = Array(Self.small.prefix(length))
                #expect(Self.result(Self.single(set, 64, 64)).error?.code == .corruptData, "at \(length)")
            }
        }

        @Test func moreBitsThanAreDecodedAreUnsupported() {
            let error = Self.result(Self.single(Maker.sequenceSet(64, 64, depth: 16), 64, 64)).error
            #expect(error?.code == .unsupportedFeature)
        }

        @Test func manyParameterSetsAreOverTheLimit() {
            let sets = (0..<30).map { [34 << 1, 1, UInt8($0), 0x80] }
            let data = Maker.data(sets + [[20 << 1, 1, 0x80, 0]])
            #expect(Self.result(Self.single(Self.small, 64, 64, data: data)).error?.code == .limitExceeded)
        }

        @Test func aParameterSetThatFitsNoConfigurationIsCorrupt() {
            for (length, code) in [(65_536, WebImageError.Code.corruptData), (70_000, .corruptData)] {
                let long: [UInt8] = [34 << 1, 1] + [UInt8](repeating: 7, count: length - 2)
                let data = Maker.data([long, [20 << 1, 1, 0x80, 0]])
                #expect(Self.result(Self.single(Self.small, 64, 64, data: data)).error?.code == code)
            }
        }

        @Test func anItemThatIsNotOneIndependentPictureIsRefused() {
            let slice: [UInt8] = [20 << 1, 1, 0x80, 0]
            let cases: [([[UInt8]], WebImageError.Code)] = [
                ([slice, slice], .corruptData), ([], .corruptData), ([[1 << 1, 1, 0x80, 0]], .unsupportedFeature),
                ([slice, [1 << 1, 1, 0, 0]], .unsupportedFeature),
            ]
            for (units, code) in cases {
                let data = Maker.data([Self.small] + units)
                #expect(Self.result(Self.single(Self.small, 64, 64, data: data)).error?.code == code)
            }
            let long = Maker.number(1000, 4) + slice
            #expect(Self.result(Self.single(Self.small, 64, 64, data: long)).error?.code == .corruptData)
        }

        private static func grid(
            rows: Int, columns: Int, _ width: Int, _ height: Int, tiles: [Int], set: [UInt8] = small
        ) -> [UInt8] {
            let slice = Maker.data([[20 << 1, 1, 0x80, 0]])
            return Maker.file(
                items: [
                    .init(id: 1, type: "grid", data: Maker.grid(rows: rows, columns: columns, width, height)),
                    .init(id: 2, properties: [1, 2], data: slice),
                ],
                properties: [Maker.configuration([set]), Maker.size(64, 64)], references: [("dimg", 1, tiles)])
        }

        @Test func theDescriptionOfAGridMayLieInSeveralPlaces() {
            var grid = Maker.Item(id: 1, type: "grid", data: Maker.grid(rows: 1, columns: 1, 60, 64))
            // The first byte of data, after the `ftyp` box of 20 bytes and the head of the `mdat` box.
            let start = 28
            grid.extents = [(start, 3), (start + 3, grid.data.count - 3)]
            let file = Maker.file(
                items: [grid, .init(id: 2, properties: [1, 2], data: Maker.data([[20 << 1, 1, 0x80, 0]]))],
                properties: [Maker.configuration([Self.small]), Maker.size(64, 64)], references: [("dimg", 1, [2])],
                dataFirst: true)
            let result = CoderDecode(HEIFCoder(), file, wantsRows: false)
            #expect(result.error == nil && result.header?.size == PixelSize(width: 60, height: 64))
        }

        @Test func gridsThatContradictTheirTilesAreRefused() {
            let good = CoderDecode(
                HEIFCoder(), Self.grid(rows: 2, columns: 2, 100, 128, tiles: [2, 2, 2, 2]), wantsRows: false)
            #expect(good.error == nil && good.header?.size == PixelSize(width: 100, height: 128))
            let cases: [([UInt8], WebImageError.Code)] = [
                (Self.grid(rows: 2, columns: 2, 100, 128, tiles: [2, 2, 2]), .corruptData),
                (Self.grid(rows: 2, columns: 2, 129, 128, tiles: [2, 2, 2, 2]), .corruptData),
                (Self.grid(rows: 2, columns: 2, 64, 128, tiles: [2, 2, 2, 2]), .corruptData),
                (Self.grid(rows: 1, columns: 1, 100_000, 100_000, tiles: [2]), .limitExceeded),
                (Self.grid(rows: 1, columns: 1, 0, 64, tiles: [2]), .corruptData),
                (Self.grid(rows: 1, columns: 1, 64, 64, tiles: []), .corruptData),
                (Self.grid(rows: 1, columns: 1, 64, 64, tiles: [1]), .unsupportedFeature),
                (Self.grid(rows: 1, columns: 1, 64, 64, tiles: [9]), .unsupportedFeature),
                (
                    Self.grid(
                        rows: 100, columns: 100, 6400, 6400, tiles: [Int](repeating: 2, count: 10_000)),
                    .limitExceeded
                ),
            ]
            for (index, (file, code)) in cases.enumerated() {
                let error = Self.result(file).error
                #expect(error?.code == code, "case \(index): \(String(describing: error))")
            }
        }

        @Test func itemsThatStandForEachOtherAreCorrupt() {
            func aliases(_ references: [(type: String, from: Int, to: [Int])]) -> [UInt8] {
                Maker.file(
                    items: (1...20).map { .init(id: $0, type: "iden") }, properties: [], references: references)
            }
            let chains = [
                [("dimg", 1, [1])], [("dimg", 1, [2]), ("dimg", 2, [1])], [("dimg", 1, [2, 3])], [],
                (1..<20).map { ("dimg", $0, [$0 + 1]) },
            ]
            for chain in chains {
                let references = chain.map { (type: $0.0, from: $0.1, to: $0.2) }
                #expect(Self.result(aliases(references)).error?.code == .corruptData)
            }
        }

        @Test(arguments: ["av01", "tmap", "jpeg", "unci", "vvc1"])
        func otherKindsAreUnsupported(_ type: String) {
            let file = Maker.file(
                items: [.init(id: 1, type: type, properties: [1], data: [1, 2, 3])], properties: [Maker.size(64, 64)])
            let error = Self.result(file).error
            #expect(error?.code == .unsupportedFeature && error?.message.contains(type) == true)
        }

        @Test func aSequenceWithoutAStillIsUnsupported() {
            let type = Maker.box("ftyp", Array("hevc".utf8) + [0, 0, 0, 0] + Array("msf1".utf8))
            for tail in [Maker.box("moov", [0, 0]), Maker.box("moov", []) + Maker.box("meta", Maker.number(0, 4))] {
                let error = Self.result(type + tail).error
                #expect(error?.code == .unsupportedFeature && error?.message.contains("sequence") == true)
            }
            #expect(Self.result(Maker.file(primary: nil, items: [], properties: [])).error?.code == .corruptData)
        }

        @Test func dataInManyPlacesIsOverTheLimit() {
            let places = [(offset: Int, length: Int)](repeating: (0, 1 << 30), count: 40)
            for (count, code) in [(40, WebImageError.Code.limitExceeded), (3, .corruptData)] {
                let file = Maker.file(
                    items: [.init(id: 1, properties: [1, 2], extents: Array(places.prefix(count)))],
                    properties: [Maker.configuration([Self.small]), Maker.size(64, 64)])
                #expect(Self.result(file).error?.code == code)
            }
        }
    }
#endif
