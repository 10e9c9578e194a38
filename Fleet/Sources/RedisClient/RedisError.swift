public import RESP

/// Why a command has no answer.
public enum RedisError: Error, Hashable, Sendable {
    /// A setting is wrong, or asks for what is not built in.
    case configuration(String)
    /// The connection was lost before the answer came. The command may have been carried out.
    case connectionLost
    /// There is no connection, and why: as a sentence goes on after "because". It holds no password.
    case noConnection(String)
    /// The answer did not come in time. The command may have been carried out, or still be.
    case timedOut
    /// As many commands as may wait for their answers do.
    case overloaded
    /// The server failed several times in a row, and is left alone for a while.
    case circuitOpen
    /// The server refused the command, as it says it.
    case refused(String)
    /// What came is not RESP3.
    case malformed(RESPError)
    /// The client was closed.
    case closed

    /// Whether it counts as a failure of the server. A refused command does: the server would refuse the next one of its kind,
    /// too. A script that Redis does not know is no failure, because it is then sent.
    var isFailure: Bool {
        switch self {
        case .connectionLost, .noConnection, .timedOut, .malformed: true
        case .refused(let text): !text.hasPrefix("NOSCRIPT")
        case .configuration, .overloaded, .circuitOpen, .closed: false
        }
    }

    /// Whether the command certainly was not sent. After any other error it may have been carried out, wholly or in part: the answer
    /// may be lost, and a script may be refused in its midst.
    public var isUnsent: Bool {
        switch self {
        case .configuration, .noConnection, .overloaded, .circuitOpen: true
        case .connectionLost, .timedOut, .refused, .malformed, .closed: false
        }
    }

    /// Whether it says what is wrong, rather than that something is.
    var isSpecific: Bool {
        switch self {
        case .connectionLost, .timedOut: false
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
        case .timedOut: "the answer did not come in time"
        case .overloaded: "as many commands as may wait do"
        case .circuitOpen: "the server keeps failing and is not used for a while"
        case .refused(let text): "the server refused a command: \(text.prefix(300))"
        case .malformed(let error): "what the server sent is not RESP3: \(error)"
        case .closed: "the client was closed"
        }
    }
}
