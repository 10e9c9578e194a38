import WebImageCore

/// Makes the text that librsvg gets: its markup characters are as in ASCII, and it has no entities.
enum SVGText {
    /// - Returns: nil if the text needs no change.
    static func resolved(
        _ text: UnsafeRawBufferPointer, _ limits: DecodeLimits
    ) throws(WebImageError) -> [UInt8]? {
        let limit = max(SVGPacking.maxUnpacked(of: text.count, limits), text.count + 64)
        guard let narrow = narrowed(text) else { return try SVGDocumentType.resolved(text, limit: limit) }
        return try narrow.withUnsafeBufferPointer { buffer throws(WebImageError) -> [UInt8] in
            let text = withoutDeclaration(UnsafeRawBufferPointer(buffer))
            return try SVGDocumentType.resolved(text, limit: limit * 2) ?? Array(text)
        }
    }

    /// UTF-16 as UTF-8; nil for other text.
    private static func narrowed(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        let isLittle = text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0x3C, 0])
        guard isLittle || text.starts(with: [0xFE, 0xFF]) || text.starts(with: [0, 0x3C]) else { return nil }
        let units = stride(from: 0, to: text.count - 1, by: 2).map { at -> UInt16 in
            let pair = (UInt16(text[at]), UInt16(text[at + 1]))
            return isLittle ? pair.0 | pair.1 << 8 : pair.1 | pair.0 << 8
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    /// The text without its XML declaration, which would still say UTF-16.
    private static func withoutDeclaration(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var cursor = XMLCursor(text)
        _ = cursor.skips("\u{FEFF}")
        let start = cursor.at
        if cursor.skips("<?xml ") { cursor.pass("?>") } else { cursor.at = start }
        return UnsafeRawBufferPointer(rebasing: text[cursor.at...])
    }
}
