public import HTTPTypes
public import WebImageCore
public import WebImageDownload

/// What a ``FakeTransport`` answers to one request.
public struct FakeAnswer: Sendable {
    /// nil: it fails before there is a head.
    public var head: ResponseHead?
    public var body: [UInt8]
    /// How the transfer ends; nil in good order.
    public var failure: WebImageError?
    /// The receiver gets the body in pieces of at most so many bytes. Default 64 KiB.
    public var pieceSize: Int
    /// Gates to wait at, each after so many bytes of the body; -1 means before the head.
    var holds: [(offset: Int, gate: Gate)]

    public init(head: ResponseHead?, body: [UInt8] = [], failure: WebImageError? = nil) {
        self.head = head
        self.body = body
        self.failure = failure
        pieceSize = 65536
        holds = []
    }

    /// 200 with a body and its length.
    public static func bytes(
        _ body: [UInt8], contentType: String = "application/octet-stream", headers: HTTPFields = [:]
    ) -> FakeAnswer {
        var all = headers
        if all[.contentType] == nil { all[.contentType] = contentType }
        return .status(200, body: body, headers: all)
    }

    /// A status with a body (none by default) and its length.
    public static func status(_ status: Int, body: [UInt8] = [], headers: HTTPFields = [:]) -> FakeAnswer {
        var headers = headers
        if headers[.contentLength] == nil, status != 304, status != 204 { headers[.contentLength] = "\(body.count)" }
        return FakeAnswer(head: ResponseHead(status: status, headers: headers, remoteAddress: "127.0.0.1"), body: body)
    }

    /// A redirect; `target` is an absolute URL or a path.
    public static func redirect(to target: String, status: Int = 302) -> FakeAnswer {
        .status(status, headers: [.location: target])
    }

    /// No answer at all.
    public static func failure(_ error: WebImageError) -> FakeAnswer { FakeAnswer(head: nil, failure: error) }

    /// The same, but it goes on only when the gate opens.
    ///
    /// - Parameters:
    ///   - gate: what it waits at.
    ///   - offset: how many bytes of the body come first; nil holds the head back too.
    public func held(by gate: Gate, after offset: Int? = nil) -> FakeAnswer {
        var copy = self
        copy.holds.append((max(offset ?? -1, -1), gate))
        copy.holds.sort { $0.offset < $1.offset }
        return copy
    }

    /// The same, but it fails after so many bytes of the body.
    public func failing(
        after offset: Int,
        with error: WebImageError = WebImageError(.connectionLost, "the connection was reset while the body came")
    ) -> FakeAnswer {
        var copy = self
        copy.body = Array(body.prefix(max(offset, 0)))
        copy.failure = error
        return copy
    }

    /// The same in smaller or larger pieces.
    public func inPieces(of size: Int) -> FakeAnswer {
        var copy = self
        copy.pieceSize = max(size, 1)
        return copy
    }
}
