#if HEIF
    import WebImageCore

    extension HEVCConfiguration {
        /// Types from 0 to this are slices.
        private static let lastSlice: UInt8 = 31
        /// Far more than pictures have: parameter sets and messages.
        private static let maxUnitsBeforeSlice = 64

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

        /// Whether neither this picture of a sequence nor any later one needs the pictures before it. Reads only the beginnings of the
        /// units up to the first slice, because many pictures may be asked about for one.
        func beginsAnew(_ data: Slice<UnsafeRawBufferPointer>) -> Bool {
            let bytes = UnsafeRawBufferPointer(rebasing: data)
            var at = 0
            for _ in 0..<Self.maxUnitsBeforeSlice where bytes.count - at > lengthSize + 2 {
                let length = bytes[at..<at + lengthSize].reduce(0) { $0 << 8 | Int($1) }
                let start = at + lengthSize
                guard length <= bytes.count - start else { return false }
                at = start + length
                guard length > 2 else { continue }
                let (layer, type) = ((bytes[start] & 1) << 5 | bytes[start + 1] >> 3, bytes[start] >> 1 & 63)
                if layer == 0, type <= Self.lastSlice { return Self.instantSlices.contains(type) }
            }
            return false
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
