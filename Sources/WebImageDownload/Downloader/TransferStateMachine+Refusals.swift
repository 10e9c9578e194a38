import HTTPTypes
import WebImageCore

/// Which answers are accepted, and the errors for the others.
extension TransferStateMachine {
    func accepts(_ status: Int) -> Bool {
        if status == 304 { return rules.takesNotModified }
        if status == 416 || (status == 206 && rules.takesParts) { return rules.takesParts }
        return rules.acceptableStatuses.contains(status)
    }

    func unwanted(_ status: Int) -> WebImageError {
        if status == 304 {
            return WebImageError(.notModified, "the server answered 304 to a request without a condition", status: 304)
        }
        if status == 401 || status == 407, rules.sendsCredentials || rules.mayAskForCredentials {
            return WebImageError(
                .authenticationFailed, "the server answered \(status): \(refusal)", status: status)
        }
        return WebImageError(.badStatus, "the server answered \(status)", status: status)
    }

    /// Why a server demands credentials of a request that has some.
    private var refusal: String {
        if !chain.keepsSecrets, chain.current.credentials == nil {
            return "it demands credentials, but a redirect led there, and none are sent to another origin"
        }
        let mayLackThem = rules.readsNetrc || rules.mayAskForCredentials
        return "it does not accept these credentials" + (mayLackThem ? ", or there are none for it" : "")
    }

    var bomb: WebImageError {
        WebImageError(
            over: .body, code: .decompressionLimit,
            "the compressed body grows beyond the limit of \(ByteCount(rules.bodyLimit))")
    }

    func tooLarge(_ what: String) -> WebImageError { .bodyTooLarge(limit: rules.bodyLimit, what) }
}

extension WebImageError {
    /// - Parameter what: the length that was seen.
    static func bodyTooLarge(limit: Int, _ what: String? = nil) -> WebImageError {
        let seen = what.map { ": \($0)" } ?? ""
        return WebImageError(
            over: .body, code: .bodyTooLarge, "the body is longer than the limit of \(ByteCount(limit))\(seen)")
    }
}
