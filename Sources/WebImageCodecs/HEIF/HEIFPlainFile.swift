#if HEIF
    import WebImageCore

    /// Writes the smallest HEIF file of one HEVC picture. libheif gets these instead of the original file, so that all
    /// boxes are our own.
    enum HEIFPlainFile {
        /// - Parameters:
        ///   - size: the decoded size of the picture.
        ///   - color: the content of a `colr` box, if there is one.
        ///   - slices: the picture's NAL units.
        static func make(
            configuration: [UInt8], size: PixelSize, color: [UInt8]?, slices: [ArraySlice<UInt8>]
        ) -> [UInt8] {
            let dataCount = slices.reduce(0) { $0 + 4 + $1.count }
            let type = box("ftyp", Array("heic".utf8) + number(0, 4) + Array("mif1heic".utf8))
            let fixed =
                box("hdlr", number(0, 8) + Array("pict".utf8) + number(0, 13)) + box("pitm", number(0, 4) + [0, 1])
            let item = number(2, 1) + number(0, 3) + [0, 1, 0, 0] + Array("hvc1".utf8) + [0]
            var properties = [
                box("hvcC", configuration), box("ispe", number(0, 4) + number(size.width, 4) + number(size.height, 4)),
            ]
            if let color { properties.append(box("colr", color)) }
            let indices = (1...properties.count).map { UInt8($0) }
            let links = number(0, 4) + number(1, 4) + [0, 1, UInt8(properties.count)] + indices
            let lists = box("iprp", box("ipco", properties.flatMap { $0 }) + box("ipma", links))
            let rest = box("iinf", number(0, 4) + [0, 1] + box("infe", item)) + lists
            // The position of the data is the length of all boxes before it, which is known here.
            let location = { (offset: Int) in
                box(
                    "iloc", number(0, 4) + [0x44, 0, 0, 1, 0, 1, 0, 0, 0, 1] + number(offset, 4) + number(dataCount, 4))
            }
            let metaCount = 12 + fixed.count + rest.count + location(0).count
            let meta = box("meta", number(0, 4) + fixed + location(type.count + metaCount + 8) + rest)
            var file = type + meta + number(dataCount + 8, 4) + Array("mdat".utf8)
            file.reserveCapacity(file.count + dataCount)
            for slice in slices {
                file += number(slice.count, 4)
                file += slice
            }
            return file
        }

        private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
            number(content.count + 8, 4) + Array(type.utf8) + content
        }

        private static func number(_ value: Int, _ length: Int) -> [UInt8] {
            (0..<length).map { UInt8(truncatingIfNeeded: value >> min(8 * (length - 1 - $0), 63)) }
        }
    }
#endif
