#if HEIF
    import WebImageCore

    extension HEVCConfiguration {
        /// The parameter sets, each after its length in four bytes.
        var setUnits: [UInt8] { Self.lengthened(sets) }

        /// The data of one picture of a sequence for libde265: its parameter sets and slices, each after its length in
        /// four bytes.
        ///
        /// - Throws: `corruptData` if it is not one picture, `limitExceeded` for more parameter sets than allowed.
        func units(ofPicture data: Slice<UnsafeRawBufferPointer>) throws(WebImageError) -> [UInt8] {
            let picture = try picture(in: [UInt8](data)[...])
            return Self.lengthened(picture.sets + picture.slices)
        }

        /// Whether neither this picture of a sequence nor any later one needs the pictures before it.
        func beginsAnew(_ data: Slice<UnsafeRawBufferPointer>) -> Bool {
            (try? picture(in: [UInt8](data)[...])).map { Self.instantSlices.contains($0.type) } ?? false
        }

        /// A file for libheif in place of a picture that is already decoded.
        func placeholder(color: [UInt8]?) -> [UInt8] {
            HEIFPlainFile.make(configuration: bytes, size: parameters.size, color: color, slices: [[0]])
        }

        private static func lengthened(_ units: some Sequence<ArraySlice<UInt8>>) -> [UInt8] {
            units.reduce(into: []) { bytes, unit in
                for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: unit.count >> shift)) }
                bytes += unit
            }
        }
    }
#endif
