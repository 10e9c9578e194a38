/// A response of an ``OriginServer``: status, headers and body, and faults in sending them.
public struct OriginResponse: Sendable {
    /// A point in the course of a response.
    public enum Moment: Hashable, Sendable {
        /// The request was read, nothing was sent.
        case beforeHead
        /// This many bytes of the head were sent.
        case headByte(Int)
        /// The empty line after the headers was sent.
        case afterHead
        /// This many bytes of the body were sent, not counting chunk sizes. A number beyond the body means its end,
        /// which for a chunked body is before the last chunk.
        case byte(Int)
    }

    /// Something to do with the connection while the response is sent. A response can have several.
    public enum Behaviour: Sendable {
        /// Waits before the head is sent.
        case delay(Duration)
        /// Waits at a moment.
        case pause(Duration, at: Moment)
        /// Waits until a test opens the gate.
        case hold(Gate, at: Moment)
        /// Waits for ever; ends when the connection does.
        case stall(at: Moment)
        /// Sends the body in pieces of this many bytes: the first at once, and each of the others an interval later.
        case drip(bytes: Int, every: Duration)
        /// Sends the body in this many equal pieces, the n-th at n / pieces of the time, like a line with that
        /// bandwidth.
        case paced(over: Duration, pieces: Int)
        /// Closes the connection normally (FIN).
        case cut(at: Moment)
        /// Resets the connection (RST).
        case reset(at: Moment)
        /// Sends an invalid chunk size in a chunked body, after the chunk that contains this byte.
        case badChunkSize(after: Int)
    }

    /// How the client can tell the end of the body.
    public enum Framing: Hashable, Sendable {
        case contentLength
        /// `Content-Length` has this value, whatever the length of the body is.
        case falseLength(Int)
        /// Chunks of this many bytes.
        case chunked(size: Int)
        /// No length: the end of the connection ends the body.
        case untilClose
        /// Only the body is sent: no status line and no headers.
        case nothingButBody
    }

    public var status: Int
    public var reason: String?
    /// The headers, sent in this order after those that the server adds (`Date`, framing, `Connection`).
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    public var framing: Framing
    public var behaviours: [Behaviour]
    /// Bytes that are sent unchanged before the head, for example an interim response.
    public var prologue: [UInt8]
    /// Whether `Range` is honoured, with `If-Range` (RFC 9110 section 14.2). Default true.
    public var servesRanges: Bool
    /// Whether `If-None-Match` and `If-Modified-Since` can give 304. Default true; needs an `ETag` or `Last-Modified`
    /// header.
    public var servesConditionals: Bool
    /// Whether the connection stays open for another request. Default true.
    public var keepsAlive: Bool
    /// Whether a `Date` header with the current time is sent. Default true; a `Date` in the headers replaces it.
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

    /// The value of the first header with this name, in any case.
    public func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }
}

extension OriginResponse {
    /// A response with status 200 and a body.
    public static func bytes(
        _ body: [UInt8], contentType: String = "application/octet-stream", etag: String? = nil,
        cacheControl: String? = nil
    ) -> OriginResponse {
        OriginResponse(headers: [("Content-Type", contentType)], body: body)
            .with(header: "ETag", etag).with(header: "Cache-Control", cacheControl)
    }

    /// A response with status 200 and a text.
    public static func text(_ text: String, contentType: String = "text/plain") -> OriginResponse {
        .bytes(Array(text.utf8), contentType: contentType)
    }

    /// A response with a status and a short text.
    public static func status(_ status: Int, headers: [(name: String, value: String)] = []) -> OriginResponse {
        let response = OriginResponse.text("status \(status)\n")
        return OriginResponse(status: status, headers: response.headers + headers, body: response.body)
    }

    /// A redirect. `target` is an absolute URL or a path.
    public static func redirect(to target: String, status: Int = 302) -> OriginResponse {
        .status(status, headers: [("Location", target)])
    }

    /// Only these bytes, which need not be HTTP, and then the end of the connection.
    public static func raw(_ bytes: [UInt8]) -> OriginResponse {
        OriginResponse(body: bytes, framing: .nothingButBody)
    }

    /// Returns the response with further behaviours.
    public func with(_ more: Behaviour...) -> OriginResponse {
        changed { $0.behaviours += more }
    }

    /// Returns the response with a further header; nil adds none.
    public func with(header name: String, _ value: String?) -> OriginResponse {
        changed { response in
            if let value { response.headers.append((name, value)) }
        }
    }

    public func with(framing: Framing) -> OriginResponse {
        changed { $0.framing = framing }
    }

    /// Returns the response with this many bytes of meaningless headers.
    public func withHugeHeaders(bytes: Int, eachOf size: Int = 4000) -> OriginResponse {
        changed { response in
            for number in 0..<max(bytes / max(size, 1), 1) {
                response.headers.append(("X-Huge-\(number)", String(repeating: "h", count: size)))
            }
        }
    }

    /// Returns a changed copy of the response.
    public func changed(_ change: (inout OriginResponse) -> Void) -> OriginResponse {
        var copy = self
        change(&copy)
        return copy
    }
}
