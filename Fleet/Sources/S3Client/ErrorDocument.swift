import NIOCore

/// The XML document in which S3 explains why it refused a request. Only the texts of three elements are read.
struct ErrorDocument {
    /// Empty if the document has none.
    let code: String
    let message: String
    let region: String

    /// The length in bytes above which a document is not an error of S3.
    static let longest = 64 << 10

    init(_ body: ByteBuffer) {
        let bytes = Array(body.readableBytesView.prefix(Self.longest))
        code = Self.text(of: "Code", in: bytes, most: 64)
        message = Self.text(of: "Message", in: bytes, most: 256)
        region = Self.text(of: "Region", in: bytes, most: 64)
    }

    /// - Returns: printable characters only.
    private static func text(of element: String, in bytes: [UInt8], most: Int) -> String {
        guard let start = bytes.firstRange(of: Array("<\(element)>".utf8)) else { return "" }
        let rest = bytes[start.upperBound...].prefix(most)
        var text = String(decoding: rest.prefix { $0 != UInt8(ascii: "<") }, as: UTF8.self)
        for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")] {
            text = text.split(separator: entity, omittingEmptySubsequences: false).joined(separator: character)
        }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isPrintable($0) ? $0 : "?" }))
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        default: true
        }
    }
}
