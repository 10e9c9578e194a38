#if HEIF
    import WebImageCore

    /// A picture of a file, as its boxes describe it.
    struct HEIFPicture {
        enum Content {
            case plane(HEIFPlane)
            indirect case overlay(HEIFOverlay)
        }

        let colors: Content
        let alpha: HEIFPlane?
        let isPremultiplied: Bool
        /// The shown part of ``colors``, and its orientation.
        let frame: ItemFrame
        /// The content of its `colr` box with code points instead of a profile.
        let colorNumbers: [UInt8]?
        let iccProfile: [UInt8]?

        /// Derived items that only rotate or crop another one.
        private static let maxAliases = 8
        static let alphaTypes: Set = [
            "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:avc:2015:auxid:1",
        ]

        /// The primary picture of a file.
        ///
        /// - Throws: as ``init(_:item:limits:)``; `corruptData` when there is no primary picture.
        init(_ items: HEIFItems, limits: DecodeLimits) throws(WebImageError) {
            guard let primary = items.primary, items.items[primary] != nil else {
                throw WebImageError(.corruptData, "the file has no primary picture", format: .heif)
            }
            try self.init(items, item: primary, limits: limits)
        }

        /// - Parameter isLayer: whether it is drawn on an overlay, and must then be none itself.
        /// - Throws: as ``HEIFPlane`` and ``HEIFOverlay``.
        init(_ items: HEIFItems, item: Int, isLayer: Bool = false, limits: DecodeLimits) throws(WebImageError) {
            let chain = try Self.chain(from: item, items)
            let id = chain[chain.count - 1]
            let isOverlay = items.items[id]?.type == "iovl"
            if isOverlay, isLayer { throw Self.isUnusual("an overlay is drawn on another one") }
            colors =
                isOverlay
                ? .overlay(try HEIFOverlay(items, item: id, limits: limits))
                : .plane(try HEIFPlane(items, item: id, limits: limits))
            let alphaItem = items.references.first { reference in
                reference.type == "auxl" && reference.to.contains(where: chain.contains)
                    && !chain.contains(reference.from) && Self.isAlpha(reference.from, items)
            }?.from
            if let alphaItem {
                if isOverlay { throw Self.isUnusual("an overlay has an alpha of its own") }
                alpha = try HEIFPlane(items, item: alphaItem, limits: limits)
            } else {
                alpha = nil
            }
            isPremultiplied = items.references.contains { reference in
                reference.type == "prem" && chain.contains(reference.from)
                    && alphaItem.map { reference.to.contains($0) } ?? false
            }
            var frame = ItemFrame(colors.size)
            for item in chain.reversed() {
                for property in items.properties(of: item) { frame.apply(property, items.boxes) }
            }
            self.frame = frame
            let descriptions = (chain + colors.firstItems).flatMap { items.properties(of: $0) }
                .filter { $0.type == "colr" && $0.content.count > 4 }
            colorNumbers = Self.color(descriptions, items) { $0 == "nclx" }.map { [UInt8](items.boxes.bytes[$0]) }
            iccProfile = Self.color(descriptions, items) { $0 == "prof" || $0 == "rICC" }.flatMap { content in
                content.count - 4 <= limits.metadata.bytes ? [UInt8](items.boxes.bytes[content].dropFirst(4)) : nil
            }
        }

        /// An item, and those that it is derived from.
        private static func chain(from primary: Int, _ items: HEIFItems) throws(WebImageError) -> [Int] {
            var chain = [primary]
            while let last = chain.last, items.items[last]?.type == "iden" {
                let sources = items.references.filter { $0.type == "dimg" && $0.from == last }.flatMap(\.to)
                guard sources.count == 1, let next = sources.first, !chain.contains(next),
                    chain.count <= maxAliases
                else {
                    throw WebImageError(.corruptData, "the picture's items refer to each other", format: .heif)
                }
                chain.append(next)
            }
            return chain
        }

        /// How the tiles of its colours form the picture.
        ///
        /// - Parameter denominator: divides the tiles' sides, and divides ``divisor``.
        func tiling(of colors: HEIFPlane, dividedBy denominator: Int = 1) -> HEIFTiling {
            let size = colors.size.dividedUp(by: denominator)
            return HEIFTiling(
                size: size, tileSize: colors.tileSize.dividedUp(by: denominator),
                frame: denominator == 1 ? frame : ItemFrame(size), isPremultiplied: isPremultiplied)
        }

        /// The greatest number by which its tiles can be divided. Straight colours would have to be weighted by their
        /// alpha, and the edges of a cropped part may lie within a pixel of the result.
        var divisor: Int {
            guard case .plane(let colors) = colors, alpha == nil, frame.size == colors.size else { return 1 }
            return colors.divisor
        }

        var hasAlpha: Bool {
            if case .overlay(let overlay) = colors { return overlay.hasAlpha }
            return alpha != nil
        }

        private static func isUnusual(_ what: String) -> WebImageError {
            WebImageError(.unsupportedFeature, "\(what), which is not read within HEIF", format: .heif)
        }

        private static func isAlpha(_ id: Int, _ items: HEIFItems) -> Bool {
            guard let content = items.property("auxC", of: id), let rest = items.boxes.full(content)?.rest else {
                return false
            }
            let type = String(decoding: items.boxes.bytes[rest].prefix { $0 != 0 }.prefix(100), as: UTF8.self)
            return alphaTypes.contains(type)
        }

        private static func color(
            _ descriptions: [BoxReader.Box], _ items: HEIFItems, _ isWanted: (String?) -> Bool
        ) -> Range<Int>? {
            descriptions.first { isWanted(items.boxes.name(at: $0.content.lowerBound, in: $0.content)) }?.content
        }
    }

    extension HEIFPicture.Content {
        /// The size of the stored picture.
        var size: PixelSize {
            switch self {
            case .plane(let plane): plane.size
            case .overlay(let overlay): overlay.size
            }
        }

        var bitDepth: Int {
            if case .plane(let plane) = self { plane.parameters.lumaDepth } else { 8 }
        }

        var isGray: Bool {
            if case .plane(let plane) = self { plane.parameters.chroma == 0 } else { false }
        }

        /// The items whose colour description holds if the picture has none: those of a grid's first tile, or of an
        /// overlay's lowest layer.
        fileprivate var firstItems: ArraySlice<Int> {
            switch self {
            case .plane(let plane): plane.tiles.prefix(1)
            case .overlay(let overlay): overlay.layers.first?.picture.colors.firstItems ?? []
            }
        }
    }

    extension ColorDescription {
        /// Parses a `colr` box with code points (ISO/IEC 23000-22, "nclx"): its name, three numbers of 16 bits, and the
        /// full-range flag.
        init?(nclx bytes: [UInt8]) {
            guard bytes.count >= 11, bytes.starts(with: "nclx".utf8) else { return nil }
            func number(_ place: Int) -> UInt8 { bytes[place] == 0 ? bytes[place + 1] : 2 }
            self.init(
                primaries: number(4), transfer: number(6), matrix: number(8), isFullRange: bytes[10] & 0x80 != 0)
        }
    }
#endif
