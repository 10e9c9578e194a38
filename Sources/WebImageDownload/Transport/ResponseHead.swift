public import HTTPTypes
package import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Status and headers of an answer.
public struct ResponseHead: Sendable {
    /// The protocol version of the answer.
    public enum Version: String, Sendable {
        case http10 = "HTTP/1.0"
        case http11 = "HTTP/1.1"
        case http2 = "HTTP/2"
        case http3 = "HTTP/3"
    }

    /// Fields as received, or as given. A load reads two or three of a dozen, so the others are not parsed.
    private enum Fields: Sendable {
        case lines([UInt8])
        case parsed(HTTPFields)
    }

    /// What the rules of caching need to know of an answer beside its headers.
    package struct Arrival: Hashable, Sendable {
        /// When the request was sent and when the head arrived, in seconds since 1970.
        package var requestTime: Int64
        package var responseTime: Int64
        /// See ``StoredResponse/redirectLifetime``.
        package var redirectLifetime: Int64?

        package init(requestTime: Int64, responseTime: Int64, redirectLifetime: Int64?) {
            self.requestTime = requestTime
            self.responseTime = responseTime
            self.redirectLifetime = redirectLifetime
        }
    }

    /// The parts of a head that are larger than a number. They are shared, because a head is copied at each stage of a
    /// load.
    private final class Content: Sendable {
        let fields: Fields
        let remoteAddress: String?
        let arrival: Arrival?

        init(_ fields: Fields, remoteAddress: String?, arrival: Arrival?) {
            self.fields = fields
            self.remoteAddress = remoteAddress
            self.arrival = arrival
        }
    }

    /// The status code, such as 200.
    public var status: Int
    /// The protocol version of the answer.
    public var version: Version
    private var content: Content

    /// When the answer arrived, and how long its redirects may be reused; nil if that is not known.
    package var arrival: Arrival? {
        get { content.arrival }
        set { content = Content(content.fields, remoteAddress: content.remoteAddress, arrival: newValue) }
    }
    /// The numeric address of the server that answered.
    public var remoteAddress: String? {
        get { content.remoteAddress }
        set { content = Content(content.fields, remoteAddress: newValue, arrival: content.arrival) }
    }

    public init(status: Int, headers: HTTPFields = [:], version: Version = .http11, remoteAddress: String? = nil) {
        self.status = status
        self.version = version
        content = Content(.parsed(headers), remoteAddress: remoteAddress, arrival: nil)
    }

    /// - Parameter lines: header lines with their line ends, with or without the status line.
    package init(status: Int, lines: [UInt8], version: Version, remoteAddress: String?) {
        self.status = status
        self.version = version
        content = Content(.lines(lines), remoteAddress: remoteAddress, arrival: nil)
    }

    /// How many lines a head may have. `HTTPFields` ends the process at some sixty thousand.
    static let maxLines = 4096

    /// All headers. Keep the result: a head from the network is parsed at each call.
    public var headers: HTTPFields {
        switch content.fields {
        case .parsed(let fields): return fields
        case .lines(let lines):
            var fields = HTTPFields()
            HeadLines.forEach(in: lines) { name, value in
                guard fields.count < Self.maxLines,
                    let name = HTTPField.Name(String(decoding: name, as: UTF8.self))
                else { return }
                fields.append(HTTPField(name: name, value: String(decoding: value, as: UTF8.self)))
            }
            return fields
        }
    }

    /// The values of a header, joined by commas as RFC 9110 section 5.2 allows; nil if it is absent.
    public subscript(name: HTTPField.Name) -> String? {
        switch content.fields {
        case .parsed(let fields): return fields[name]
        case .lines(let lines):
            var joined: String?
            var wanted = name.canonicalName
            wanted.withUTF8 { wanted in
                HeadLines.forEach(in: lines, named: wanted) { value in
                    let text = String(decoding: value, as: UTF8.self)
                    joined = joined.map { "\($0), \(text)" } ?? text
                }
            }
            return joined
        }
    }

    /// The first `Location`: a URL may hold a comma, so that several cannot be joined. Bytes that are not UTF-8 are
    /// percent-encoded, as browsers do; read as text, they would be lost.
    package var location: String? {
        guard case .lines(let lines) = content.fields else { return headers[values: .location].first }
        var first: String?
        var name = "location"
        name.withUTF8 { name in
            HeadLines.forEach(in: lines, named: name) { value in
                if first == nil { first = String(validating: value, as: UTF8.self) ?? PercentEncoding.escaped(value) }
            }
        }
        return first
    }

    /// The length of the body that the head announces; nil if there is none, or it is no number.
    ///
    /// - Throws: `protocolError` if different lengths are announced: it is then not known where the body ends (RFC 9112
    ///   section 6.3).
    package func announcedLength() throws(WebImageError) -> Int? {
        guard let text = self[.contentLength] else { return nil }
        guard text.utf8.contains(UInt8(ascii: ",")) else { return Self.length(text) }
        let lengths = Set(text.split(separator: ",").map { String($0).trimmingBlanks() })
        if lengths.count > 1 {
            // The end of a chunked body is known.
            if self[.transferEncoding] != nil { return nil }
            throw WebImageError(.protocolError, "the answer announces different lengths", status: status)
        }
        return lengths.first.flatMap { Self.length($0) }
    }

    private static func length(_ text: some StringProtocol) -> Int? {
        text.utf8.allSatisfy { $0 &- UInt8(ascii: "0") < 10 } ? Int(text) : nil
    }
}

/// The field lines of a head. They are read several times for each load, so this allocates nothing.
private enum HeadLines {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// Calls `body` with name and value of each field; other lines (the status line) are skipped.
    static func forEach(in lines: [UInt8], _ body: (_ name: Bytes, _ value: Bytes) -> Void) {
        forEachLine(in: lines) { line in
            // The status line of HTTP holds a colon only in a reason phrase, after a space; field names have none.
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
            // Blanks before the colon are invalid, but the meaning is clear.
            var end = colon
            while end > 0, isBlank(line[end - 1]) { end -= 1 }
            guard end > 0, !line[..<end].contains(32) else { return }
            body(Bytes(rebasing: line[..<end]), trimmed(line[(colon + 1)...]))
        }
    }

    /// Calls `body` with the value of each field of a name, which is given in lower case.
    static func forEach(in lines: [UInt8], named wanted: Bytes, _ body: (_ value: Bytes) -> Void) {
        forEachLine(in: lines) { line in
            var colon = wanted.count
            while colon < line.count, isBlank(line[colon]) { colon += 1 }
            guard colon < line.count, line[colon] == UInt8(ascii: ":") else { return }
            for place in 0..<wanted.count where lowercased(line[place]) != wanted[place] { return }
            body(trimmed(line[(colon + 1)...]))
        }
    }

    private static func forEachLine(in lines: [UInt8], _ body: (Bytes) -> Void) {
        lines.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            var start = 0
            while start < bytes.count {
                let line = UnsafeRawPointer(base + start)
                var count = bytes.count - start
                if let end = memchr(line, 10, count) { count = UnsafeRawPointer(end) - line }
                body(Bytes(start: base + start, count: count))
                start += count + 1
            }
        }
    }

    private static func trimmed(_ value: Slice<Bytes>) -> Bytes {
        var (first, last) = (value.startIndex, value.endIndex)
        while last > first, isBlank(value[last - 1]) { last -= 1 }
        while first < last, isBlank(value[first]) { first += 1 }
        return Bytes(rebasing: value[first..<last])
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 }
}

/// ASCII letters in lower case, other bytes as they are.
func lowercased(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 32 : byte }
