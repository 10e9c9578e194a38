/// The parts of a source's URL. They are found in its bytes, as in the library, because Swift's characters would give
/// other parts: a slash followed by a combining mark is one character, which is not a slash.
///
/// The library's own parser cannot be used: it is not public, accepts only `http` and `https`, and normalizes URLs. The
/// server compares its rules and the names of objects with the text that the client wrote, and `s3:` and `local:` URLs
/// keep their dots and fragments.
public struct SourceURL: Sendable {
    private let text: String
    private let authority: Range<String.Index>
    private let hostStart: String.Index
    private let pathEnd: String.Index

    /// - Returns: nil if the text does not begin with a scheme and `://`.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let start = bytes.index(colon, offsetBy: 3)
        let end = bytes[start...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
        let user = bytes[start..<end].lastIndex(of: UInt8(ascii: "@"))
        self.text = text
        authority = start..<end
        hostStart = user.map { bytes.index(after: $0) } ?? start
        pathEnd = bytes[end...].firstIndex { "?#".utf8.contains($0) } ?? bytes.endIndex
    }

    public var isWeb: Bool {
        let scheme = text.utf8[..<authority.lowerBound]
        return scheme.elementsEqual("https://".utf8) || scheme.elementsEqual("http://".utf8)
    }

    /// With ASCII letters in lower case, without user, password and port; empty if there is none.
    public var host: String {
        let rest = text[hostStart..<authority.upperBound]
        // IPv6 addresses contain colons.
        let end =
            if rest.utf8.first == UInt8(ascii: "["), let bracket = rest.utf8.firstIndex(of: UInt8(ascii: "]")) {
                rest.utf8.index(after: bracket)
            } else {
                rest.utf8.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
            }
        let bytes = rest.utf8[..<end].map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Without query and fragment; begins with a slash or is empty.
    public var path: Substring { text[authority.upperBound..<pathEnd] }

    /// The last component of the path; empty if there is none.
    public var name: Substring {
        let path = path
        return path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path
    }

    public var withoutUser: String { String(text[..<authority.lowerBound] + text[hostStart...]) }

    /// Whether the path has segments of dots, encoded or not, which lead elsewhere. Some servers also take a backslash
    /// for a slash. The fragment counts, because it is a part of the names of objects and files.
    public var hasDotSegments: Bool {
        let path = text[authority.upperBound...].utf8.prefix { $0 != UInt8(ascii: "?") }
        return PercentEncoding.bytes(path).split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }.contains {
            $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8)
        }
    }
}
