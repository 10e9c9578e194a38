/// The reason why a request failed. No error repeats credentials.
public enum S3Error: Error, Hashable, Sendable {
    /// A setting is invalid, or needs a feature that is not built in.
    case configuration(String)
    /// A key, a name or a value is not allowed by S3. Nothing was sent.
    case invalid(String)
    /// There is no connection, or it was lost before the answer was complete. The request may have been carried out.
    case connectionLost
    /// The certificate of the server is not trusted, or TLS could not be agreed upon.
    case handshakeFailed
    /// The answer was not complete in time. The request may have been carried out, or still be.
    case timedOut
    /// Too many requests already wait for a connection, or other requests had all connections until the deadline.
    case overloaded
    /// The server failed several times in a row, and is not asked for a while.
    case circuitOpen
    /// The server is temporarily unable to answer: 429 or 500 to 599. `code` is empty if the server names none.
    case unavailable(status: Int, code: String)
    /// The server refused the request. `code` and `message` are the server's; they are empty if it gives none, as in
    /// answers to HEAD.
    case refused(status: Int, code: String, message: String)
    /// The bucket is elsewhere, most likely in another region. `region` is empty if the server names none.
    case redirected(status: Int, code: String, message: String, region: String)
    /// The storage does not know the condition of the request, and did nothing.
    case conditionRefused
    /// The answer is longer than `limit` bytes.
    case tooLarge(limit: Int)
    /// The server's answer is not valid HTTP/1.1.
    case malformed(String)
    /// The task that waited was cancelled. The request may have been carried out.
    case cancelled
    /// The client was closed.
    case closed

    /// Whether the error counts as a failure of the server. A refused request does: if several in a row are refused,
    /// the keys, the bucket or the region are wrong, and the next request would be refused, too.
    var isFailure: Bool {
        switch self {
        case .connectionLost, .handshakeFailed, .timedOut, .unavailable, .malformed, .refused, .redirected: true
        case .configuration, .invalid, .overloaded, .circuitOpen, .conditionRefused, .tooLarge, .cancelled, .closed:
            false
        }
    }

    /// Whether the server has given an answer.
    var isAnswer: Bool {
        switch self {
        case .refused, .redirected, .conditionRefused, .tooLarge: true
        default: false
        }
    }
}

extension S3Error: CustomStringConvertible {
    public var description: String {
        switch self {
        case .configuration(let text), .invalid(let text): text
        case .connectionLost: "There is no connection to S3, or it was lost before the answer was complete."
        case .handshakeFailed: "The certificate of the S3 server is not trusted, or TLS could not be agreed upon."
        case .timedOut: "S3 did not answer in time."
        case .overloaded: "Too many requests to S3 wait for others to end."
        case .circuitOpen: "S3 failed several times in a row and is not used for a while."
        case .unavailable(let status, let code): "S3 cannot do its work now: \(Self.words("\(status)", code, ""))."
        case .refused(let status, let code, let message):
            "S3 refused the request: \(Self.words("\(status)", code, message))"
        case .redirected(let status, let code, let message, let region):
            "The bucket is elsewhere\(region.isEmpty ? "" : ", in the region \(region)"): "
                + Self.words("\(status)", code, message)
        case .conditionRefused: "S3 does not know the condition of a request."
        case .tooLarge(let limit): "The answer of S3 is longer than \(limit) bytes."
        case .malformed(let text): "S3 answered with what is not HTTP/1.1: \(text)."
        case .cancelled: "Nobody waits for the answer of S3 any more."
        case .closed: "The client of S3 was closed."
        }
    }

    private static func words(_ status: String, _ code: String, _ message: String) -> String {
        let name = code.isEmpty ? status : "\(status) \(code)"
        return message.isEmpty ? name : "\(name): \(message)"
    }
}
