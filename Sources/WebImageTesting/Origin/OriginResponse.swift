/// What an ``OriginServer`` answers: a status, headers and a body, and how badly they are sent.
public struct OriginResponse: Sendable {
    /// A point in the course of a response.
    public enum Moment: Hashable, Sendable {
        /// The request was read, nothing was sent.
        case beforeHead
        /// So many bytes of the head were sent.
        case headByte(Int)
        /// The empty line after the headers was sent.
        case afterHead
        /// So many bytes of the body were sent, not counting chunk sizes. A number beyond the body means its end;
        /// the end comes before the last chunk of a chunked body.
        case byte(Int)
    }

    /// Something to do with the connection while the response is sent. A response can have several.
    public enum Behaviour: Sendable {
        /// Waits before the head is sent.
        case delay(Duration)
        /// Waits at a moment.
        case pause(Duration, at: Moment)
        /// Goes on when a test opens the gate, and not before.
        case hold(Gate, at: Moment)
        /// Never goes on; ends with the connection.
        case stall(at: Moment)
        /// Sends the body in pieces of so many bytes, the first at once, the others each an interval later.
        case drip(bytes: Int, every: Duration)
        /// Sends the body in so many equal pieces, the n-th at n / pieces of the time, as a line of that bandwidth
        /// delivers it.
        case paced(over: Duration, pieces: Int)
        /// Ends the connection in order (FIN).
        case cut(at: Moment)
        /// Breaks the connection off (RST).
        case reset(at: Moment)
        /// Sends a chunk size that is no number in a chunked body, at the end of the chunk that has this byte.
        case badChunkSize(after: Int)
    }

    /// How the client learns where the body ends.
    public enum Framing: Hashable, Sendable {
        case contentLength
        /// `Content-Length` says this, whatever the body is.
        case falseLength(Int)
        /// Chunks of so many bytes.
        case chunked(size: Int)
        /// No length: the end of the connection ends the body.
        case untilClose
        /// The body is all that is sent: no status line, no headers.
        case nothingButBody
    }

    public var status: Int
    public var reason: String?
    /// Sent in this order, after those that the server adds (`Date`, framing, `Connection`).
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    public var framing: Framing
    public var behaviours: [Behaviour]
    /// Sent ahead of the head as they are, say an interim response.
    public var prologue: [UInt8]
    /// Whether `Range` is honoured, with `If-Range` (RFC 9110 section 14.2). Default true.
    public var servesRanges: Bool
    /// Whether `If-None-Match` and `If-Modified-Since` can give 304. Default true; takes an `ETag` or `Last-Modified`
    /// among the headers.
    public var servesConditionals: Bool
    /// Whether the connection stays open for another request. Default true.
    public var keepsAlive: Bool
    /// Whether a `Date` header of now is sent. Default true; a `Date` among the headers takes its place.
    public var sendsDate: Bool

    public init(
        status: Int = 200, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        framing: Framing = .contentLength, behaviours: [Behaviour] = []
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.framing = framing
        self.behaviours = behaviours
        reason = nil
        prologue = []
        servesRanges = true
        servesConditionals = true
        keepsAlive = true
        sendsDate = true
    }

    /// The value of the first header of that name, in any case.
    public func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }
}

extension OriginResponse {
    /// 200 with a body.
    public static func bytes(
        _ body: [UInt8], contentType: String = "application/octet-stream", etag: String? = nil,
        cacheControl: String? = nil
    ) -> OriginResponse {
        OriginResponse(headers: [("Content-Type", contentType)], body: body)
            .with(header: "ETag", etag).with(header: "Cache-Control", cacheControl)
    }

    /// 200 with a text.
    public static func text(_ text: String, contentType: String = "text/plain") -> OriginResponse {
        .bytes(Array(text.utf8), contentType: contentType)
    }

    /// A status with a short text.
    public static func status(_ status: Int, headers: [(name: String, value: String)] = []) -> OriginResponse {
        let response = OriginResponse.text("status \(status)\n")
        return OriginResponse(status: status, headers: response.headers + headers, body: response.body)
    }

    /// A redirect; `target` is an absolute URL or a path.
    public static func redirect(to target: String, status: Int = 302) -> OriginResponse {
        .status(status, headers: [("Location", target)])
    }

    /// These bytes alone, then the end: no HTTP unless they are.
    public static func raw(_ bytes: [UInt8]) -> OriginResponse {
        OriginResponse(body: bytes, framing: .nothingButBody)
    }

    /// The same with more behaviours.
    public func with(_ more: Behaviour...) -> OriginResponse {
        changed { $0.behaviours += more }
    }

    /// The same with one more header; nil adds none.
    public func with(header name: String, _ value: String?) -> OriginResponse {
        changed { response in
            if let value { response.headers.append((name, value)) }
        }
    }

    public func with(framing: Framing) -> OriginResponse {
        changed { $0.framing = framing }
    }

    /// The same with so many bytes of headers that mean nothing.
    public func withHugeHeaders(bytes: Int, eachOf size: Int = 4000) -> OriginResponse {
        changed { response in
            for number in 0..<max(bytes / max(size, 1), 1) {
                response.headers.append(("X-Huge-\(number)", String(repeating: "h", count: size)))
            }
        }
    }

    /// The same with anything changed.
    public func changed(_ change: (inout OriginResponse) -> Void) -> OriginResponse {
        var copy = self
        change(&copy)
        return copy
    }
}
