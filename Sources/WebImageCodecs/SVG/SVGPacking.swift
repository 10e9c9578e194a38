#if SVG
    import WebImageCore

    /// What an SVGZ may unpack to.
    enum SVGPacking {
        /// Deflate packs 1000 to 1 at most, drawings 3 to 30 to 1.
        private static let mostRatio = 200
        /// Up to here the ratio does not matter.
        private static let always = 1 << 20

        static func mostUnpacked(of packed: Int, _ limits: DecodeLimits) -> Int {
            let byRatio = packed.multipliedReportingOverflow(by: mostRatio)
            return min(max(byRatio.overflow ? .max : byRatio.partialValue, always), max(limits.bytes.bytes, 0))
        }
    }

    /// Whether a document ends as it should.
    enum SVGEnding {
        /// How much behind the root element is looked at: white space, comments.
        private static let tail = 1024

        /// Whether the end tag of an `svg` element stands near the end, or an element without one is all there is.
        static func closesRoot(_ text: UnsafeRawBufferPointer) -> Bool {
            let end = text.suffix(tail).filter { $0 != 0 }
            let words = String(decoding: end, as: UTF8.self)
            guard let tag = words.range(ofLast: "</") else { return words.contains("/>") && text.count < tail }
            let name = words[tag...].dropFirst(2).prefix { $0 != ">" }
            let closes = words[tag...].contains(">")
            return closes && (name.split(separator: ":").last.map { $0.hasPrefix("svg") } ?? false)
        }
    }

    extension String {
        /// Where `mark` stands for the last time.
        fileprivate func range(ofLast mark: String) -> String.Index? {
            var at = endIndex
            while at > startIndex {
                at = index(before: at)
                if self[at...].hasPrefix(mark) { return at }
            }
            return nil
        }
    }
#endif
