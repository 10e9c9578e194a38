public import HTTPTypes
public import WebImageCore
public import WebImageDownload

/// The answer of a ``FakeTransport`` to one request.
public struct FakeAnswer: Sendable {
    /// The head of the response; nil if the transfer fails before it.
    public var head: ResponseHead?
    /// The body as the server sends it: if the head has a `Content-Encoding`, the receiver gets the decoded bytes.
    public var body: [UInt8]
    /// The error with which the transfer ends; nil if it succeeds. Without a head it is `connectionLost` by default.
    public var failure: WebImageError?
    /// The most bytes of the body that the receiver gets at a time. Default 64 KiB.
    public var pieceSize: Int
    /// Gates to wait at, each after this many bytes of the body that the receiver gets; -1 means before the head.
    var holds: [(offset: Int, gate: Gate)]
    /// Whether the request's address policy is asked about the head's address.
    var checksAddress = false

    public init(head: ResponseHead?, body: [UInt8] = [], failure: WebImageError? = nil) {
        self.head = head
        self.body = body
        self.failure = failure
        pieceSize = 65536
        holds = []
    }

    /// An answer with status 200, a body and its length.
    public static func bytes(
        _ body: [UInt8], contentType: String = "application/octet-stream", headers: HTTPFields = [:]
    ) -> FakeAnswer {
        var all = headers
        if all[.contentType] == nil { all[.contentType] = contentType }
        return .status(200, body: body, headers: all)
    }

    /// An answer with a status, a body (by default empty) and its length.
    public static func status(_ status: Int, body: [UInt8] = [], headers: HTTPFields = [:]) -> FakeAnswer {
        var headers = headers
        if headers[.contentLength] == nil, status != 304, status != 204 { headers[.contentLength] = "\(body.count)" }
        return FakeAnswer(head: ResponseHead(status: status, headers: headers, remoteAddress: "127.0.0.1"), body: body)
    }

    /// A redirect. `target` is an absolute URL or a path.
    public static func redirect(to target: String, status: Int = 302) -> FakeAnswer {
        .status(status, headers: [.location: target])
    }

    /// A failure without a response.
    public static func failure(_ error: WebImageError) -> FakeAnswer { FakeAnswer(head: nil, failure: error) }

    /// Returns the answer from a server with an address, which the request's ``/WebImageDownload/AddressPolicy`` allows or
    /// refuses. Answers without this pass every policy, so that a program with
    /// ``/WebImageDownload/AddressPolicy/publicOnly`` can be tested; they name 127.0.0.1.
    public func from(address: String) -> FakeAnswer {
        var copy = self
        copy.head = head.map {
            ResponseHead(status: $0.status, headers: $0.headers, version: $0.version, remoteAddress: address)
        }
        copy.checksAddress = true
        return copy
    }

    /// Returns the answer with a wait until the gate opens.
    ///
    /// - Parameters:
    ///   - gate: the gate.
    ///   - offset: the number of bytes of the body that the receiver gets before the wait; nil waits before the head.
    public func held(by gate: Gate, after offset: Int? = nil) -> FakeAnswer {
        var copy = self
        copy.holds.append((max(offset ?? -1, -1), gate))
        copy.holds.sort { $0.offset < $1.offset }
        return copy
    }

    /// Returns the answer with a failure after this many bytes of the body.
    public func failing(
        after offset: Int,
        with error: WebImageError = WebImageError(.connectionLost, "the connection was reset while the body came")
    ) -> FakeAnswer {
        var copy = self
        copy.body = Array(body.prefix(max(offset, 0)))
        copy.failure = error
        return copy
    }

    /// Returns the answer with another size of its pieces.
    public func inPieces(of size: Int) -> FakeAnswer {
        var copy = self
        copy.pieceSize = max(size, 1)
        return copy
    }
}
