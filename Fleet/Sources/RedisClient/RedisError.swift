public import RESP

/// The reason why a command has no answer.
public enum RedisError: Error, Hashable, Sendable {
    /// A setting is invalid, or needs a feature that is not built in.
    case configuration(String)
    /// The connection was lost before the answer came. The command may have been carried out.
    case connectionLost
    /// There is no connection. The value is the reason, worded to follow "because"; it holds no password.
    case noConnection(String)
    /// The connection was not open in time.
    case connecting
    /// The answer did not come in time. The command may have been carried out, or still be.
    case timedOut
    /// Too many commands already wait for answers.
    case overloaded
    /// The server failed several times in a row, and is not asked for a while.
    case circuitOpen
    /// The server refused the command. The value is the server's text.
    case refused(String)
    /// The server's answer is not valid RESP3.
    case malformed(RESPError)
    /// The client was closed.
    case closed

    /// Whether the error counts as a failure of the server. A refused command does, because the server would also
    /// refuse the next one of its kind. A script that Redis does not know does not, because it is then sent.
    var isFailure: Bool {
        switch self {
        case .connectionLost, .noConnection, .timedOut, .malformed: true
        case .refused(let text): !text.hasPrefix("NOSCRIPT")
        // How long a connection takes says little about the server. One that cannot be opened is a failure of its own.
        case .configuration, .connecting, .overloaded, .circuitOpen, .closed: false
        }
    }

    /// Whether the command was certainly not sent. After any other error it may have been carried out completely or in
    /// part: the answer may be lost, and a script may be refused halfway.
    public var isUnsent: Bool {
        switch self {
        case .configuration, .noConnection, .connecting, .overloaded, .circuitOpen: true
        case .connectionLost, .timedOut, .refused, .malformed, .closed: false
        }
    }

    /// Whether the error states a specific reason, rather than only that the server does not answer.
    var isSpecific: Bool {
        switch self {
        case .connectionLost, .connecting, .timedOut: false
        default: true
        }
    }
}

extension RedisError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .configuration(let text): text
        case .connectionLost: "the connection was lost before the answer came"
        case .noConnection(let reason): "there is no connection: \(reason)"
        case .connecting: "the connection was not open in time"
        case .timedOut: "the answer did not come in time"
        case .overloaded: "as many commands as may wait do"
        case .circuitOpen: "the server keeps failing and is not used for a while"
        case .refused(let text): "the server refused a command: \(text.prefix(300))"
        case .malformed(let error): "what the server sent is not RESP3: \(error)"
        case .closed: "the client was closed"
        }
    }
}
