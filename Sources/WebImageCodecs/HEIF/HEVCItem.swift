#if HEIF
    import WebImageCore

    /// The configuration of an `hvc1` item (ISO/IEC 14496-15, 8.3.3): how its data is divided, and its parameter sets.
    struct HEVCConfiguration {
        let parameters: HEVCParameters
        /// How many bytes the length of a unit has in the data.
        let lengthSize: Int
        private(set) var sets: [ArraySlice<UInt8>] = []

        private static let sequenceSet: UInt8 = 33
        private static let parameterSets: ClosedRange<UInt8> = 32...34
        /// libde265 stores tables of the picture's size for each set.
        private static let maxSets = 12
        /// In bytes: the maximum number of sets with their maximum length. It is read for each tile.
        static let longest = maxSets << 16
        /// Pictures that do not depend on others (H.265, table 7-1).
        private static let intraSlices: ClosedRange<UInt8> = 16...21
        /// The pictures among these for which a decoder needs no memory for earlier pictures.
        static let instantSlices: ClosedRange<UInt8> = 19...20

        /// - Throws: `corruptData`, `unsupportedFeature`, and `limitExceeded` for parameter sets of pictures that are
        ///   too large.
        init(_ content: ArraySlice<UInt8>, limits: DecodeLimits) throws(WebImageError) {
            var at = content.startIndex + 23
            guard content.count > 23, content[content.startIndex] == 1 else { throw Self.damage }
            lengthSize = Int(content[content.startIndex + 21] & 3) + 1
            let lists = content[content.startIndex + 22]
            var found: [ArraySlice<UInt8>] = []
            for _ in 0..<lists {
                guard content.endIndex - at >= 3 else { throw Self.damage }
                let count = Int(content[at + 1]) << 8 | Int(content[at + 2])
                at += 3
                for _ in 0..<count {
                    guard let unit = Self.unit(in: content, at: &at, lengthSize: 2) else { throw Self.damage }
                    if Self.parameterSets.contains(Self.type(of: unit)) { found.append(unit) }
                }
            }
            guard let first = found.first(where: { Self.type(of: $0) == Self.sequenceSet }) else { throw Self.damage }
            parameters = try Self.parameters(of: first)
            try limits.check(parameters.codedSize, of: .heif)
            for unit in found { try add(unit) }
        }

        /// Adds a new parameter set, if it describes the same kind of pictures as the first.
        private mutating func add(_ unit: ArraySlice<UInt8>) throws(WebImageError) {
            // The length of a set has two bytes in the configuration that we write.
            guard unit.count <= Int(UInt16.max) else { throw Self.damage }
            guard !sets.contains(unit) else { return }
            if Self.type(of: unit) == Self.sequenceSet {
                let other = try Self.parameters(of: unit)
                guard
                    other.codedSize == parameters.codedSize, other.size == parameters.size,
                    other.chroma == parameters.chroma, other.lumaDepth == parameters.lumaDepth,
                    other.chromaDepth == parameters.chromaDepth
                else { throw WebImageError(.corruptData, "the HEVC data contradicts itself", format: .heif) }
            }
            guard sets.count < Self.maxSets else {
                throw WebImageError(
                    .limitExceeded, "the HEVC data has more than \(Self.maxSets) parameter sets", format: .heif)
            }
            sets.append(unit)
        }

        /// A file with only the item's picture, in which everything that determines the memory of libheif and libde265
        /// has been checked.
        ///
        /// - Parameters:
        ///   - size: that of the result, if the decoder makes it smaller; nil: that of the picture.
        ///   - color: the content of an `nclx` colour property; nil: the data itself determines the colours.
        /// - Throws: `corruptData` if it is not one picture, `unsupportedFeature` if it depends on others,
        ///   `limitExceeded` for more parameter sets or pixels than allowed.
        func file(
            of data: [UInt8], size: PixelSize? = nil, color: [UInt8]?, limits: DecodeLimits
        ) throws(WebImageError) -> [UInt8] {
            let picture = try picture(in: data[...])
            guard Self.intraSlices.contains(picture.type),
                picture.slices.allSatisfy({ Self.type(of: $0) == picture.type })
            else {
                throw WebImageError(
                    .unsupportedFeature, "the HEVC picture is made from other pictures", format: .heif)
            }
            // libde265 may create all reference pictures if one begins within a sequence.
            if !Self.instantSlices.contains(picture.type) { try checkReferences(limits) }
            return HEIFPlainFile.make(
                configuration: picture.configuration.bytes, size: size ?? parameters.size, color: color,
                slices: picture.slices)
        }

        /// Checks that the limits allow the memory of all pictures that a decoder may keep as references for others.
        ///
        /// - Throws: `limitExceeded`.
        func checkReferences(_ limits: DecodeLimits) throws(WebImageError) {
            guard (parameters.codedSize.pixelCount ?? .max) <= limits.pixels / 8 else {
                throw WebImageError(
                    .limitExceeded, "the HEVC picture is too large for one from within a sequence", format: .heif)
            }
        }

        struct Picture {
            /// The configuration with the picture's own parameter sets.
            var configuration: HEVCConfiguration
            /// Its own parameter sets.
            var sets: [ArraySlice<UInt8>] = []
            var slices: [ArraySlice<UInt8>] = []
            /// The kind of its first slice.
            var type: UInt8 = 0
        }

        /// Takes apart the units of one picture.
        ///
        /// - Throws: `corruptData` if it is not one picture, `limitExceeded` for more parameter sets than allowed.
        func picture(in data: ArraySlice<UInt8>) throws(WebImageError) -> Picture {
            var picture = Picture(configuration: self)
            var (at, pictures) = (data.startIndex, 0)
            while at < data.endIndex {
                guard let unit = Self.unit(in: data, at: &at, lengthSize: lengthSize) else { throw Self.damage }
                // Higher layers (H.265, annex F) are other views of the picture.
                guard unit.count > 2, Self.layer(of: unit) == 0 else { continue }
                switch Self.type(of: unit) {
                case Self.parameterSets:
                    try picture.configuration.add(unit)
                    picture.sets.append(unit)
                case 0...31:
                    picture.slices.append(unit)
                    pictures += Int(unit[unit.startIndex + 2] >> 7)
                default: break
                }
            }
            guard let first = picture.slices.first, pictures == 1 else {
                throw WebImageError(
                    .corruptData, "an item of the file has \(pictures) pictures in place of one", format: .heif)
            }
            picture.type = Self.type(of: first)
            return picture
        }

        /// The configuration for libheif, made from the parameters.
        var bytes: [UInt8] {
            var bytes: [UInt8] = [1] + parameters.profile + [0xF0, 0, 0xFC, 0xFC | UInt8(parameters.chroma)]
            bytes += [0xF8 | UInt8(parameters.lumaDepth - 8), 0xF8 | UInt8(parameters.chromaDepth - 8), 0, 0, 0x0F]
            bytes.append(UInt8(sets.count))
            for unit in sets {
                bytes += [0x80 | Self.type(of: unit), 0, 1, UInt8(unit.count >> 8), UInt8(unit.count & 255)]
                bytes += unit
            }
            return bytes
        }

        private static func parameters(of unit: ArraySlice<UInt8>) throws(WebImageError) -> HEVCParameters {
            try unit.withUnsafeBufferPointer { bytes throws(WebImageError) -> HEVCParameters in
                try HEVCParameters(unit: UnsafeRawBufferPointer(bytes))
            }
        }

        /// The unit at an offset, after its length; nil if it is incomplete.
        private static func unit(
            in bytes: ArraySlice<UInt8>, at offset: inout Int, lengthSize: Int
        ) -> ArraySlice<UInt8>? {
            guard bytes.endIndex - offset >= lengthSize else { return nil }
            let length = bytes[offset..<offset + lengthSize].reduce(0) { $0 << 8 | Int($1) }
            let start = offset + lengthSize
            guard length <= bytes.endIndex - start else { return nil }
            offset = start + length
            return bytes[start..<offset]
        }

        private static func type(of unit: ArraySlice<UInt8>) -> UInt8 {
            unit.count > 2 ? unit[unit.startIndex] >> 1 & 63 : 63
        }

        private static func layer(of unit: ArraySlice<UInt8>) -> UInt8 {
            (unit[unit.startIndex] & 1) << 5 | unit[unit.startIndex + 1] >> 3
        }

        private static var damage: WebImageError {
            WebImageError(.corruptData, "the HEVC data is damaged", format: .heif)
        }
    }
#endif
