#if SVG
    import WebImageCore

    /// A picture in a `data:` URL of a document, looked at before librsvg sees it: later versions than 2.56 decode bitmaps of any
    /// size, and drawings within drawings.
    enum SVGBitmap {
        /// Headers stand within so many bytes.
        private static let longestHead = 256 << 10

        /// - Parameter url: from `data:` on.
        /// - Returns: how many pixels it has; nil for what is no bitmap.
        static func pixelCount(of url: UnsafeRawBufferPointer) -> UInt64? {
            guard let comma = url.firstIndex(of: UInt8(ascii: ",")) else { return nil }
            let kind = String(decoding: url[..<comma], as: UTF8.self).lowercased()
            var text: [UInt8] = []
            // In base64 four characters are three bytes, and one may be written as three.
            for byte in url[(comma + 1)...].prefix(longestHead * 4) where byte > 0x20 { text.append(byte) }
            if text.contains(UInt8(ascii: "%")) { text = unescaped(text) }
            let bytes: [UInt8]
            if kind.hasSuffix(";base64") {
                guard let decoded = Base64.decoded(Array(text.prefix(longestHead / 3 * 4))) else { return nil }
                bytes = decoded
            } else {
                bytes = text
            }
            guard let format = ImageFormat(sniffing: bytes), !format.isVector else { return nil }
            let limits = DecodeLimits(pixels: .max, bytes: ByteCount(.max))
            let header = bytes.withUnsafeBytes {
                try? CoderRegistry.standard.readHeader(of: $0, DecodeOptions(limits: limits))
            }
            return header.flatMap { $0.size.pixelCount }.flatMap { UInt64(exactly: $0) }
        }

        private static func unescaped(_ text: [UInt8]) -> [UInt8] {
            func digit(_ byte: UInt8) -> UInt8? { UInt8(String(UnicodeScalar(byte)), radix: 16) }
            var bytes: [UInt8] = []
            var index = 0
            while index < text.count {
                if text[index] == UInt8(ascii: "%"), index + 2 < text.count, let high = digit(text[index + 1]),
                    let low = digit(text[index + 2])
                {
                    bytes.append(high << 4 | low)
                    index += 3
                } else {
                    bytes.append(text[index])
                    index += 1
                }
            }
            return bytes
        }
    }
#endif
