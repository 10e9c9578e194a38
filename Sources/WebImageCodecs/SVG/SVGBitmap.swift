#if SVG
    import WebImageCore

    /// A picture in a `data:` URL of a document, checked before librsvg sees it: versions after 2.56 decode bitmaps of
    /// any size, and nested SVGs.
    enum SVGBitmap: Hashable {
        case bitmap(pixels: UInt64)
        /// An SVG, or an unknown format.
        case unknown

        /// The number of bytes that contain a picture's header, even after a long profile.
        private static let longestHead = 2 << 20

        /// - Returns: nil if the link is not a `data:` URL.
        init?(link: UnsafeRawBufferPointer) {
            let url = link.drop { $0 <= 0x20 }
            guard String(decoding: url.prefix(5), as: UTF8.self).lowercased() == "data:" else { return nil }
            let pixels = Self.head(of: url).flatMap(Self.header).flatMap { $0.size.pixelCount }
            self = pixels.flatMap { UInt64(exactly: $0) }.map { .bitmap(pixels: $0) } ?? .unknown
        }

        /// The first bytes of a URL's data.
        private static func head(of url: Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
            guard let comma = url.firstIndex(of: UInt8(ascii: ",")) else { return nil }
            let kind = String(decoding: url[..<comma], as: UTF8.self).lowercased()
            // In base64 four characters are three bytes, and each character may be percent-encoded as three.
            let text = PercentEncoding.decoded(url[(comma + 1)...].prefix(longestHead * 4).lazy.filter { $0 > 0x20 })
            return kind.hasSuffix(";base64") ? Base64.decoded(Array(text.prefix(longestHead / 3 * 4))) : text
        }

        private static func header(of bytes: [UInt8]) -> ImageHeader? {
            guard let format = ImageFormat(sniffing: bytes), !format.isVector else { return nil }
            // Only the size matters here. Metadata could take much longer than its bytes.
            let limits = DecodeLimits(pixels: .max, bytes: ByteCount(.max), metadata: .zero)
            return bytes.withUnsafeBytes {
                try? CoderRegistry.standard.readHeader(of: $0, DecodeOptions(limits: limits))
            }
        }
    }
#endif
