#if HEIF
    import WebImageCore

    extension HEIFItems {
        private static let xmpType = "application/rdf+xml"
        /// An EXIF block is preceded by its offset (ISO/IEC 23008-12, annex A.2.1).
        private static let exifHead = 4

        /// EXIF and XMP of the primary picture; nil if their bytes have not all arrived. Metadata that is damaged, lies
        /// outside the file's own data or is too long is left out.
        func metadata(_ limits: DecodeLimits) -> ImageMetadata? {
            let (exif, xmp) = metadataPlaces(limits)
            guard (exif + xmp).allSatisfy({ $0.upperBound <= boxes.bytes.count }) else { return nil }
            return ImageMetadata(readingEXIF: Self.block(bytes(of: exif)), xmp: bytes(of: xmp))
        }

        /// The end of EXIF and XMP in the file; 0 if there are none.
        func metadataEnd(_ limits: DecodeLimits) -> Int {
            let (exif, xmp) = metadataPlaces(limits)
            return (exif + xmp).map(\.upperBound).max() ?? 0
        }

        private func metadataPlaces(_ limits: DecodeLimits) -> (exif: [Range<Int>], xmp: [Range<Int>]) {
            (
                places(limits) { $0.type == "Exif" },
                places(limits) { $0.type == "mime" && $0.contentType == Self.xmpType }
            )
        }

        /// The positions of the data of the first matching item that describes the primary picture; empty if there is
        /// none.
        private func places(_ limits: DecodeLimits, of isWanted: (Item) -> Bool) -> [Range<Int>] {
            guard let described = whole ?? primary else { return [] }
            let about = references.filter { $0.type == "cdsc" && $0.to.contains(described) }.map(\.from)
            guard let id = about.first(where: { items[$0].map(isWanted) == true }) else { return [] }
            return (try? data(of: id, limit: limits.metadata.bytes)) ?? []
        }

        private func bytes(of places: [Range<Int>]) -> [UInt8] { places.flatMap { [UInt8](boxes.bytes[$0]) } }

        private static func block(_ data: [UInt8]) -> [UInt8]? {
            guard data.count > exifHead else { return nil }
            let offset = data.prefix(exifHead).reduce(0) { $0 << 8 | Int($1) }
            return offset < data.count - exifHead ? Array(data.dropFirst(exifHead + offset)) : nil
        }
    }
#endif
