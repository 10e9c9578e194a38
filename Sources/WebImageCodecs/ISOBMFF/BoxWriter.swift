#if AVIF || HEIF
    /// Makes boxes (ISO/IEC 14496-12, 4.2) of less than 4 GiB, and the numbers in them.
    package enum BoxWriter {
        package static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
            number(content.count + 8, 4) + Array(type.utf8) + content
        }

        /// A big-endian number; a negative one in two's complement.
        package static func number(_ value: Int, _ length: Int) -> [UInt8] {
            (0..<length).map { UInt8(truncatingIfNeeded: value >> min(8 * (length - 1 - $0), 63)) }
        }
    }
#endif
