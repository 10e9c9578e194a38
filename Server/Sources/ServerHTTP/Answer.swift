public import HTTPTypes
public import ServerGrammar
import ServerImages

/// An answer to a client.
public struct Answer: Sendable {
    public enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// Sent as it arrives from the origin.
        case stream(StreamedBody)
    }

    public var status: Int
    public var fields: HTTPFields
    public var body: Body
    /// Kept until the body has been sent.
    var share: SentResults.Share?

    public init(status: Int = 200, fields: HTTPFields = [:], body: Body = .none) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    public static func text(_ text: String, status: Int = 200, type: String = "text/plain") -> Answer {
        Answer(status: status, fields: [.contentType: type], body: .bytes(Array(text.utf8)))
    }

    /// - Parameter showsDetail: whether the client gets the text that is meant for the log.
    public static func refusal(_ refusal: RequestRefusal, showsDetail: Bool) -> Answer {
        var answer = Answer.text(
            showsDetail ? "\(refusal.text): \(refusal.detail)" : refusal.text, status: refusal.status)
        if let seconds = refusal.retryAfter { answer.fields[.retryAfter] = "\(seconds)" }
        return answer
    }
}

extension HTTPField.Name {
    static func named(_ name: String) -> HTTPField.Name {
        // Callers pass only literals that are valid tokens.
        HTTPField.Name(name) ?? .from
    }

    static let requestID = named("X-Request-ID")
    static let cacheStatus = named("Cache-Status")
    static let dpr = named("DPR")
    static let clientHintDPR = named("Sec-CH-DPR")
    static let width = named("Width")
    static let clientHintWidth = named("Sec-CH-Width")
}
