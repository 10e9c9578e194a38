#if TIFF
    /// Counts the pages of a TIFF without reading their tags.
    ///
    /// libtiff can count, too, but looks at all earlier pages for each page, to find loops.
    enum TIFFPages {
        /// How many pages there are, at most `limit`; a chain that turns back on itself ends there.
        static func count(in bytes: UnsafeRawBufferPointer, limit: Int) -> Int {
            let isLittle = bytes.first == UInt8(ascii: "I")
            /// An unsigned number of `length` bytes; nil behind the end and for what no file can have.
            func number(_ offset: Int, _ length: Int) -> Int? {
                guard offset >= 0, offset <= bytes.count - length else { return nil }
                let digits = bytes[offset..<offset + length]
                let value = (isLittle ? Array(digits.reversed()) : Array(digits)).reduce(UInt64(0)) {
                    $0 << 8 | UInt64($1)
                }
                return Int(exactly: value)
            }
            // TIFF 6.0, section 2; BigTIFF: wider numbers, the first page's offset behind a constant.
            let isBig = number(2, 2) == 43
            let (countBytes, entryBytes, offsetBytes) = isBig ? (8, 20, 8) : (2, 12, 4)
            var next = number(isBig ? 8 : 4, offsetBytes)
            var seen: Set<Int> = []
            while let offset = next, offset > 0, seen.count < limit, !seen.contains(offset),
                let entries = number(offset, countBytes), entries <= bytes.count / entryBytes
            {
                seen.insert(offset)
                next = number(offset + countBytes + entries * entryBytes, offsetBytes)
            }
            return seen.count
        }
    }
#endif
