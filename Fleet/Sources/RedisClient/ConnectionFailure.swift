import NIOCore
import NIOPosix

/// Texts for a log that explain why a connection cannot be made.
enum ConnectionFailure {
    /// The connection was closed before the first answer.
    static func early(byTLS: Bool) -> String {
        "the server closed the connection before it answered"
            + (byTLS ? "" : ", as one does that expects TLS (rediss://)")
    }

    static func silence(byTLS: Bool) -> String {
        "the server did not answer the first command in time" + (byTLS ? ", as one does without TLS (redis://)" : "")
    }

    static func handshake(_ error: any Error) -> String {
        "the certificate of the server is not trusted, or TLS could not be agreed upon: \(short(error))"
    }

    static func text(_ error: any Error) -> String {
        guard let error = error as? NIOConnectionError else { return short(error) }
        if let last = error.connectionErrors.last { return short(last.error) }
        return "the name \(error.host) has no address"
    }

    private static func short(_ error: any Error) -> String {
        if let error = error as? IOError {
            // Removes the name of the function that failed.
            let text = error.description
            return text.firstRange(of: "): ").map { String(text[$0.upperBound...]) } ?? text
        }
        if case .connectTimeout? = error as? ChannelError { return "it could not be made in time" }
        return String("\(error)".prefix(200))
    }
}
