/// A request as it arrived at an ``OriginServer``.
public struct RecordedRequest: Sendable {
    public var method: String
    /// The target of the request line: path and query, or a whole URL if the client uses the server as a proxy.
    public var target: String
    /// The headers in order, with their names as they were sent.
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    /// The number of the connection: 1 for the first one that the server accepted.
    public var connection: Int
    /// The number of earlier requests for this path.
    public var earlierHits: Int
    /// False for HTTP/1.0.
    var isHTTP11: Bool

    /// The target without scheme, authority and query.
    public var path: String { Self.path(of: target) }

    /// The value of the first header with this name, in any case.
    public func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }

    static func path(of target: String) -> String {
        var rest = Substring(target)
        if !rest.hasPrefix("/"), let authority = rest.firstRange(of: "://") {
            rest = rest[authority.upperBound...]
            rest = rest[(rest.firstIndex(of: "/") ?? rest.endIndex)...]
        }
        return String(rest.prefix { $0 != "?" && $0 != "#" })
    }
}

/// Finds requests in the bytes of one connection.
struct RequestReader {
    enum Found {
        case request(RecordedRequest)
        case needsBytes
        /// The client waits for 100 (Continue) before it sends the body (RFC 9110 section 10.1.1).
        case wantsContinue
        case malformed
    }

    private static let largestHead = 1 << 18
    private static let largestBody = 1 << 26
    private var bytes: [UInt8] = []
    private var head: RecordedRequest?
    private var bodyLength = 0
    private var askedToContinue = false

    mutating func add(_ more: [UInt8]) { bytes += more }

    mutating func next() -> Found {
        if head == nil {
            guard let end = endOfHead() else { return bytes.count > Self.largestHead ? .malformed : .needsBytes }
            guard let parsed = Self.parse(bytes[..<end]) else { return .malformed }
            bytes.removeFirst(end + 4)
            head = parsed
            guard let length = Int(parsed.header("content-length") ?? "0"), (0...Self.largestBody).contains(length)
            else { return .malformed }
            bodyLength = length
            askedToContinue = false
        }
        guard var request = head else { return .needsBytes }
        guard bytes.count >= bodyLength else {
            guard !askedToContinue, request.header("expect")?.lowercased() == "100-continue" else { return .needsBytes }
            askedToContinue = true
            return .wantsContinue
        }
        request.body = Array(bytes[..<bodyLength])
        bytes.removeFirst(bodyLength)
        head = nil
        return .request(request)
    }

    private func endOfHead() -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.count >= mark.count else { return nil }
        return (0...bytes.count - mark.count).first { start in
            bytes[start] == mark[0] && bytes[start..<start + mark.count].elementsEqual(mark)
        }
    }

    private static func parse(_ head: ArraySlice<UInt8>) -> RecordedRequest? {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
        let words = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2].hasPrefix("HTTP/1."), !words[0].isEmpty, !words[1].isEmpty else { return nil }
        var headers: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { return nil }
            let blanks: (Character) -> Bool = { $0 == " " || $0 == "\t" }
            var value = line[line.index(after: colon)...].drop(while: blanks)
            while let last = value.last, blanks(last) { value.removeLast() }
            headers.append((String(line[..<colon]), String(value)))
        }
        return RecordedRequest(
            method: String(words[0]), target: String(words[1]), headers: headers, body: [], connection: 0,
            earlierHits: 0, isHTTP11: words[2] == "HTTP/1.1")
    }
}
