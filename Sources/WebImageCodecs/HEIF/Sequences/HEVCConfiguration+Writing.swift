#if HEIF
    import WebImageCore

    extension HEVCConfiguration {
        /// How many bytes the length of a unit has in the data that ``bytes`` describes.
        static let writtenLengthSize = 4
        private static let headLength = 23

        /// The configuration for a track. An encoder of stills states in the profile that there is only one picture,
        /// and decoders may rely on that. So the statement is removed here.
        var forManyPictures: [UInt8] {
            var bytes = bytes
            Self.allowMany(in: &bytes) { 1 + $0 }
            var at = Self.headLength
            for unit in sets {
                // A list of one set: its type, the number of sets, and the length of the set.
                let start = at + 5
                at = start + unit.count
                // After the unit's head: a byte in a sequence parameter set, four in a video parameter set (H.265,
                // 7.3.2).
                guard let first = [32: 6, 33: 3][unit[unit.startIndex] >> 1 & 63] else { continue }
                Self.allowMany(in: &bytes) { start + Self.place(of: first + $0, in: unit) }
            }
            return bytes
        }

        /// Changes profile, tier and level (H.265, 7.3.3): Main Still Picture becomes Main, and the flag for a single
        /// picture, which other profiles have, is cleared.
        ///
        /// - Parameter place: the position of each of its bytes.
        private static func allowMany(in bytes: inout [UInt8], at place: (Int) -> Int) {
            if bytes[place(0)] & 31 == 3 {
                bytes[place(0)] -= 2
                bytes[place(1)] &= ~0x10
            }
            bytes[place(6)] &= ~0x10
        }

        /// The position in a unit of its byte with the number `byte`, which does not count the bytes that prevent start
        /// codes (H.265, 7.3.1.1).
        private static func place(of byte: Int, in unit: ArraySlice<UInt8>) -> Int {
            var (zeros, count) = (0, 0)
            for (place, value) in unit.enumerated() {
                if zeros >= 2, value == 3 {
                    zeros = 0
                    continue
                }
                if count == byte { return place }
                count += 1
                zeros = value == 0 ? zeros + 1 : 0
            }
            return unit.count - 1
        }
    }
#endif
