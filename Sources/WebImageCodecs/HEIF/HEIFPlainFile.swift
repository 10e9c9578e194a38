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
            let type = BoxWriter.box("ftyp", Array("heic".utf8) + BoxWriter.number(0, 4) + Array("mif1heic".utf8))
            let fixed =
                BoxWriter.box("hdlr", BoxWriter.number(0, 8) + Array("pict".utf8) + BoxWriter.number(0, 13))
                + BoxWriter.box("pitm", BoxWriter.number(0, 4) + [0, 1])
            let item = BoxWriter.number(2, 1) + BoxWriter.number(0, 3) + [0, 1, 0, 0] + Array("hvc1".utf8) + [0]
            var properties = [
                BoxWriter.box("hvcC", configuration),
                BoxWriter.box(
                    "ispe", BoxWriter.number(0, 4) + BoxWriter.number(size.width, 4) + BoxWriter.number(size.height, 4)),
            ]
            if let color { properties.append(BoxWriter.box("colr", color)) }
            let indices = (1...properties.count).map { UInt8($0) }
            let links = BoxWriter.number(0, 4) + BoxWriter.number(1, 4) + [0, 1, UInt8(properties.count)] + indices
            let lists = BoxWriter.box(
                "iprp", BoxWriter.box("ipco", properties.flatMap { $0 }) + BoxWriter.box("ipma", links))
            let rest = BoxWriter.box("iinf", BoxWriter.number(0, 4) + [0, 1] + BoxWriter.box("infe", item)) + lists
            // The position of the data is the length of all boxes before it, which is known here.
            let location = { (offset: Int) in
                BoxWriter.box(
                    "iloc",
                    BoxWriter.number(0, 4) + [0x44, 0, 0, 1, 0, 1, 0, 0, 0, 1] + BoxWriter.number(offset, 4)
                        + BoxWriter.number(dataCount, 4))
            }
            let metaCount = 12 + fixed.count + rest.count + location(0).count
            let meta = BoxWriter.box(
                "meta", BoxWriter.number(0, 4) + fixed + location(type.count + metaCount + 8) + rest)
            var file = type + meta + BoxWriter.number(dataCount + 8, 4) + Array("mdat".utf8)
            file.reserveCapacity(file.count + dataCount)
            for slice in slices {
                file += BoxWriter.number(slice.count, 4)
                file += slice
            }
            return file
        }
    }
#endif
