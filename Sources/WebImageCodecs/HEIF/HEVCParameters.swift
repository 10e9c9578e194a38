#if HEIF
    import WebImageCore

    /// The contents of a sequence parameter set (ITU-T H.265, 7.3.2.2) that determine the memory of a decoder.
    struct HEVCParameters: Equatable {
        /// The decoded size, in whole coding blocks.
        private(set) var codedSize = PixelSize(width: 0, height: 0)
        /// The size of the shown part.
        private(set) var size = PixelSize(width: 0, height: 0)
        private(set) var chroma = 0
        private(set) var lumaDepth = 8
        private(set) var chromaDepth = 8
        /// Profile, tier and level, in the form of a file's own description of them.
        private(set) var profile: [UInt8] = []

        /// The longest part of a set up to the last value that is read here.
        private static let longestHead = 512
        /// How many pictures a decoder keeps at most (H.265, A.4.1).
        static let maxReferences = 16

        /// - Parameter unit: a whole NAL unit with its two-byte header.
        /// - Throws: `corruptData` for invalid values, `unsupportedFeature` for what libde265 does not decode.
        init(unit: UnsafeRawBufferPointer) throws(WebImageError) {
            var bits = HEVCBits(unit.dropFirst(2), most: Self.longestHead)
            do {
                try read(&bits)
            } catch let error as WebImageError {
                throw error
            } catch {
                throw WebImageError(.corruptData, "the HEVC data's parameters are damaged", format: .heif)
            }
        }

        private mutating func read(_ bits: inout HEVCBits) throws {
            _ = try bits.next(4)
            let layers = try bits.next(3)
            _ = try bits.next(1)
            try Self.demand(layers < 7)
            profile = try (0..<12).map { _ in UInt8(try bits.next(8)) }
            try Self.skipLayers(layers, &bits)
            try Self.demand(try bits.golomb() < 16)
            chroma = try bits.golomb()
            try Self.demand(chroma <= 3)
            if chroma == 3, try bits.next(1) == 1 {
                throw WebImageError(.unsupportedFeature, "the HEVC data has separate colour planes", format: .heif)
            }
            codedSize = PixelSize(width: try bits.golomb(), height: try bits.golomb())
            size = codedSize
            if try bits.next(1) == 1 { try readWindow(&bits) }
            lumaDepth = try bits.golomb() + 8
            chromaDepth = try bits.golomb() + 8
            try Self.demand(lumaDepth <= 16 && chromaDepth <= 16)
            guard lumaDepth <= 12, chromaDepth <= 12 || chroma == 0 else {
                throw WebImageError(.unsupportedFeature, "the HEVC data has \(lumaDepth) bits", format: .heif)
            }
            try Self.demand(try bits.golomb() <= 12)
            let first = try bits.next(1) == 1 ? 0 : layers
            for _ in first...layers {
                let references = try bits.golomb()
                try Self.demand(references < Self.maxReferences)
                try Self.demand(try bits.golomb() <= references)
                _ = try bits.golomb()
            }
            try readBlocks(&bits)
            try Self.demand(!size.isEmpty && codedSize.pixelCount != nil)
        }

        private static func skipLayers(_ layers: Int, _ bits: inout HEVCBits) throws {
            guard layers > 0 else { return }
            let present = try (0..<8).map { _ in (profile: try bits.next(1) == 1, level: try bits.next(1) == 1) }
            for layer in present.prefix(layers) {
                for _ in 0..<(layer.profile ? 11 : 0) + (layer.level ? 1 : 0) { _ = try bits.next(8) }
            }
        }

        /// The conformance window, in units of the colour planes' pixels.
        private mutating func readWindow(_ bits: inout HEVCBits) throws {
            let (left, right) = (try bits.golomb(), try bits.golomb())
            let (top, bottom) = (try bits.golomb(), try bits.golomb())
            let unit = (x: chroma == 1 || chroma == 2 ? 2 : 1, y: chroma == 1 ? 2 : 1)
            // Each is less than 2^32, so nothing overflows here.
            size.width -= (left + right) * unit.x
            size.height -= (top + bottom) * unit.y
            try Self.demand(!size.isEmpty)
        }

        private func readBlocks(_ bits: inout HEVCBits) throws {
            let smallest = try bits.golomb() + 3
            try Self.demand(smallest <= 6)
            let largest = try bits.golomb() + smallest
            try Self.demand((4...6).contains(largest))
            let smallestTransform = try bits.golomb() + 2
            try Self.demand(smallestTransform < smallest)
            try Self.demand(try bits.golomb() + smallestTransform <= min(largest, 5))
            let mask = 1 << smallest - 1
            try Self.demand(codedSize.width & mask == 0 && codedSize.height & mask == 0)
        }

        private static func demand(_ isSo: Bool) throws {
            if !isSo { throw HEVCBits.Damage() }
        }
    }

    /// The bits of a NAL unit, without the bytes that prevent start codes in it (H.265, 7.3.1.1).
    struct HEVCBits {
        struct Damage: Error {}

        private var bytes: [UInt8] = []
        private var at = 0

        init(_ unit: Slice<UnsafeRawBufferPointer>, most: Int) {
            var zeros = 0
            for byte in unit.prefix(most) {
                if zeros >= 2, byte == 3 {
                    zeros = 0
                    continue
                }
                zeros = byte == 0 ? zeros + 1 : 0
                bytes.append(byte)
            }
        }

        /// At most 32 bits.
        mutating func next(_ count: Int) throws -> Int {
            guard at + count <= bytes.count * 8 else { throw Damage() }
            var value = 0
            for index in at..<at + count { value = value << 1 | Int(bytes[index >> 3] >> (7 - index & 7)) & 1 }
            at += count
            return value
        }

        /// An Exp-Golomb coded number (H.265, 9.2), below 2^32.
        mutating func golomb() throws -> Int {
            var zeros = 0
            while try next(1) == 0 {
                zeros += 1
                if zeros >= 32 { throw Damage() }
            }
            return 1 << zeros - 1 + (try next(zeros))
        }
    }
#endif
