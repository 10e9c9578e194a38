#if SVG
    import CShimSVG
    import WebImageCore

    /// The document that librsvg gets, in memory of its own, because an abandoned drawing may still read it.
    struct SVGSource: @unchecked Sendable {
        // Sendable: the memory is not changed any more.
        let bytes: UnsafeRawBufferPointer
        /// `svgz` if the document was compressed, else `svg`.
        let format: ImageFormat
        /// The owner of the memory.
        private let owner: AnyObject

        /// Unpacks a document, and replaces its entities.
        ///
        /// - Throws: `truncatedData`, `corruptData`, `unsupportedFeature`, `limitExceeded`.
        init(_ file: CollectedBytes, _ limits: DecodeLimits) throws(WebImageError) {
            var (text, owner, format) = (file.all, file as AnyObject, ImageFormat.svg)
            if Self.isPacked(text) {
                format = .svgz
                let handle = try SVGHandle(format)
                text = try handle.unpacked(text, most: SVGPacking.maxUnpacked(of: text.count, limits))
                owner = handle
                // librsvg would unpack the document again, without a limit.
                guard !Self.isPacked(text) else {
                    throw WebImageError(.corruptData, "the document is packed twice", format: format)
                }
            }
            guard !text.isEmpty else { throw WebImageError(.truncatedData, "there is no data", format: format) }
            let resolved = try SVGText.resolved(text, limits)
            self.init(resolved.map { TextMemory($0) }, text, owner, format)
        }

        private init(_ copy: TextMemory?, _ text: UnsafeRawBufferPointer, _ owner: AnyObject, _ format: ImageFormat) {
            bytes = copy.map { UnsafeRawBufferPointer($0.bytes) } ?? text
            self.owner = copy ?? owner
            self.format = format
        }

        /// The same document with changed names of attributes that librsvg must not recognise.
        func hiding(_ names: [Int]) -> SVGSource {
            guard !names.isEmpty else { return self }
            let copy = TextMemory(bytes)
            for name in names { copy.bytes[name] = UInt8(ascii: "X") }
            return SVGSource(copy, bytes, owner, format)
        }

        private static func isPacked(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.starts(with: [0x1F, 0x8B]) }
    }

    private final class TextMemory {
        let bytes: UnsafeMutableRawBufferPointer

        init(_ text: some Collection<UInt8>) {
            bytes = .allocate(byteCount: text.count, alignment: 16)
            bytes.copyBytes(from: text)
        }

        deinit { bytes.deallocate() }
    }
#endif
