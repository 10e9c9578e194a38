/// A prefix of URLs in which `*` stands for any text without a slash.
public struct WildcardPattern: Hashable, Sendable {
    let text: String
    private let parts: [[UInt8]]

    public init(_ text: String) {
        self.text = text
        parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
    }

    public func matches(_ url: String) -> Bool { match(url) != nil }

    /// - Returns: the texts that the stars match, and the length of the match in bytes. Stars are greedy.
    func match(_ url: String) -> (captures: [String], length: Int)? {
        let bytes = Array(url.utf8)
        guard bytes.starts(with: parts[0]) else { return nil }
        // For each part, the positions after it that can be reached, and from where: at most parts times bytes steps.
        var reached: [[Int: Int]] = [[parts[0].count: 0]]
        for part in parts.dropFirst() {
            let starts = reached[reached.count - 1]
            var next: [Int: Int] = [:]
            var start: Int?
            for end in 0...bytes.count {
                if starts[end] != nil { start = end }
                if let start, bytes[end...].starts(with: part) { next[end + part.count] = start }
                if end < bytes.count, bytes[end] == UInt8(ascii: "/") { start = nil }
            }
            if next.isEmpty { return nil }
            reached.append(next)
        }
        guard let length = reached[reached.count - 1].keys.max() else { return nil }
        var captures: [String] = []
        var end = length
        for index in parts.indices.dropFirst().reversed() {
            let start = reached[index][end] ?? 0
            captures.insert(String(decoding: bytes[start..<end - parts[index].count], as: UTF8.self), at: 0)
            end = start
        }
        return (captures, length)
    }
}

/// Rewrites the beginning of source URLs.
public struct URLReplacement: Hashable, Sendable {
    public var pattern: WildcardPattern
    /// `${1}` or `$1` is the text that the first star matches, `$0` the whole match; `$$` is a dollar sign. A name is
    /// as long as possible, as in Go: `$1x` is an unknown name and therefore empty, `${1}x` is not.
    public var replacement: String

    public init(pattern: WildcardPattern, replacement: String) {
        self.pattern = pattern
        self.replacement = replacement
    }

    func applied(to url: String) -> String {
        guard let match = pattern.match(url) else { return url }
        let bytes = Array(url.utf8)
        let whole = String(decoding: bytes[..<match.length], as: UTF8.self)
        return expanded([whole] + match.captures) + String(decoding: bytes[match.length...], as: UTF8.self)
    }

    private func expanded(_ captures: [String]) -> String {
        var (result, rest) = ("", replacement[...])
        while let dollar = rest.firstIndex(of: "$") {
            result += rest[..<dollar]
            rest = rest[rest.index(after: dollar)...]
            if rest.first == "$" {
                result += "$"
                rest = rest.dropFirst()
                continue
            }
            let isBraced = rest.first == "{"
            let name = (isBraced ? rest.dropFirst() : rest).prefix {
                $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")
            }
            guard !name.isEmpty, !isBraced || rest[name.endIndex...].first == "}" else {
                result += "$"
                continue
            }
            rest = rest[name.endIndex...].dropFirst(isBraced ? 1 : 0)
            if let number = Int(name), captures.indices.contains(number) { result += captures[number] }
        }
        return result + rest
    }
}

extension String {
    /// The string with every occurrence of a non-empty text replaced.
    func replacing(_ text: String, with other: String) -> String {
        var result: [UInt8] = []
        let (bytes, wanted) = (Array(utf8), Array(text.utf8))
        var index = 0
        while index < bytes.count {
            if bytes[index...].starts(with: wanted) {
                result += Array(other.utf8)
                index += wanted.count
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
