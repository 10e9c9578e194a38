import HTTPTypes
import ServerConfiguration
import ServerGrammar
public import ServerImages

/// What is served in place of a picture that cannot be had.
public struct FallbackImage: Sendable {
    let result: StoredResult

    public init(result: StoredResult) { self.result = result }

    func answer(for refusal: RequestRefusal, _ settings: ServerSettings) -> Answer {
        let seconds = settings.fallbackTTL ?? settings.timeToLive
        var fields: HTTPFields = [
            .contentType: result.mediaType, .cacheControl: seconds > 0 ? "max-age=\(seconds), public" : "no-cache",
        ]
        fields[.named("Fallback-Image")] = "1"
        if let vary = ResultAnswer.vary(settings) { fields[.vary] = vary }
        let status = settings.fallbackStatus == 0 ? refusal.status : settings.fallbackStatus
        return Answer(status: status, fields: fields, body: .bytes(result.bytes))
    }
}
