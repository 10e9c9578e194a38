#if HEIF
    import Testing
    import WebImageCodecs
    import WebImageCore

    @Suite struct HEIFDeepTests {
        /// 32x16 pixels in four rectangles of one gray each, 10 bits, encoded by x265 without sample adaptive offset, as
        /// by cameras. libde265 asks us for the memory of such pictures only.
        static let picture = HEIFMaker.file(
            items: [HEIFMaker.Item(id: 1, properties: [1, 2], data: data)], properties: properties)
        static let data = bytes(slice)
        /// The configuration and the size.
        static let properties = [HEIFMaker.box("hvcC", bytes(configuration)), HEIFMaker.size(32, 16)]

        @Test func tenBitsWithoutTheLastFilterHaveTheirRows() throws {
            let result = CoderDecode(HEIFCoder(), Self.picture, options: DecodeOptions(keepsBitDepth: true))
            #expect(result.error == nil && result.header?.bitDepth == 10 && result.format?.layout == .rgba16)
            try #require(result.pixels.count == 32 * 16 * 8)
            for (x, y) in [(2, 2), (13, 7), (29, 2), (18, 5), (2, 13), (12, 9), (29, 13), (18, 10)] {
                let expected = (y < 8 ? x < 16 ? 1000 : 100 : x < 16 ? 300 : 700) * 64
                let at = (y * 32 + x) * 8
                let value = Int(result.pixels.bytes[at]) | Int(result.pixels.bytes[at + 1]) << 8
                #expect(abs(value - expected) < 256, "\(x),\(y): \(value), not \(expected)")
            }
        }

        private static func bytes(_ digits: String) -> [UInt8] {
            let values = digits.compactMap(\.hexDigitValue)
            return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
        }

        private static let configuration = """
            0104080000009db8000000001ef000fcfdfafa00000f03600001001740010c01ffff0408000003009db8
            00000300001eba0240610001002a4201010408000003009db800000300001ea0208104d96eaae92e6e02
            1a0c0800000300c800000300084062000100064401c173c189
            """
        private static let slice = """
            000000672801ac18c867d552a21634f337e0ff466d5bd3bfc68b642e9516dbf42cca899a3bf4a717449a
            bd3aac4e1b751f88c93b5d75f4de1cdb17f393dc3312831201e485a2ebaafcb67e6d7e77e5be1d9d6e8f
            9d8140001d995a6557e5b3f36bf3bf2de301e418374fe0
            """
    }
#endif
