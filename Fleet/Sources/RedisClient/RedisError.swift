public import RESP

/// Why a command has no answer.
public enum RedisError: Error, Hashable, Sendable {
    /// A setting is wrong, or asks for what is not built in.
    case configuration(String)
    /// There is no connection, or it was lost before the answer came. The command may have been carried out.
    case connectionLost
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

    /// Whether the server cannot do its work, rather than refusing this command.
    var isFailure: Bool {
        switch self {
        case .connectionLost, .timedOut, .malformed: true
        case .refused(let text):
            ["LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "OOM", "BUSY"].contains(
                String(text.prefix { $0 != " " }))
        case .configuration, .overloaded, .circuitOpen, .closed: false
        }
    }
}

extension RedisError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .configuration(let text): text
        case .connectionLost: "there is no connection, or it was lost before the answer came"
        case .timedOut: "the answer did not come in time"
        case .overloaded: "as many commands as may wait do"
        case .circuitOpen: "the server keeps failing and is left alone for now"
        case .refused(let text): "the server refused a command: \(text)"
        case .malformed(let error): "what the server sent is not RESP3: \(error)"
        case .closed: "the client was closed"
        }
    }
}
