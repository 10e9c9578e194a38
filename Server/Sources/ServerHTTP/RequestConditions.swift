import HTTPTypes
import WebImage

/// The conditions and the range of a request (RFC 9110, sections 13 and 14).
struct RequestConditions {
    enum Part: Hashable {
        case whole
        case bytes(Range<Int>)
        /// The range begins after the end of the body.
        case none
    }

    let fields: HTTPFields
    /// Seconds since 1970.
    let now: Int

    /// Whether the client has the current version already.
    ///
    /// - Parameters:
    ///   - eTag: nil if there is none, or tags are not used.
    ///   - lastModified: nil if there is none, or dates are not used.
    func isKnown(eTag: String?, lastModified: String?) -> Bool {
        if let wanted = fields[.ifNoneMatch] {
            return eTag.map { HTTPFieldText.ifNoneMatch(wanted, names: $0) } ?? false
        }
        guard let since = fields[.ifModifiedSince].flatMap({ HTTPFieldText.date($0, now: now) }),
            let modified = lastModified.flatMap({ HTTPFieldText.date($0, now: now) })
        else { return false }
        return modified <= since
    }

    /// Returns the requested part of a body. Several ranges, and ranges in other units than bytes, are ignored: the
    /// whole body is sent.
    func part(of length: Int, eTag: String?, lastModified: String?) -> Part {
        guard let text = fields[.range], isOfSameVersion(eTag, lastModified) else { return .whole }
        let halves = text.split(separator: "=", maxSplits: 1)
        guard halves.count == 2, halves[0].lowercased() == "bytes" else { return .whole }
        let range = halves[1].filter { $0 != " " && $0 != "\t" }
        guard let dash = range.firstIndex(of: "-"), !range.contains(",") else { return .whole }
        let (first, last) = (range[..<dash], range[range.index(after: dash)...])
        guard first.allSatisfy(Self.isDigit), last.allSatisfy(Self.isDigit) else { return .whole }
        // A number that overflows lies after the end of every body.
        let end = last.isEmpty ? nil : Int(last) ?? .max
        if first.isEmpty {
            guard let end else { return .whole }
            return end == 0 || length == 0 ? .none : .bytes(max(length - end, 0)..<length)
        }
        let start = Int(first) ?? .max
        if let end, end < start { return .whole }
        return start >= length ? .none : .bytes(start..<min(end ?? .max, length - 1) + 1)
    }

    /// `If-Range`: a strong tag, or exactly the same date.
    private func isOfSameVersion(_ eTag: String?, _ lastModified: String?) -> Bool {
        guard let wanted = fields[.ifRange] else { return true }
        if wanted.hasSuffix("\"") { return wanted == eTag && !wanted.hasPrefix("W/") }
        return wanted == lastModified
    }

    private static func isDigit(_ character: Character) -> Bool { character.isASCII && character.isNumber }
}
