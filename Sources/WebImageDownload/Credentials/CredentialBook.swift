import Synchronization
import WebImageCore
import WebImageSystem

/// The answers of credential providers, by provider and origin. If several downloads need the same, the provider is
/// asked once.
final class CredentialBook: Sendable {
    private struct Place: Hashable {
        let provider: String
        let secret: BasicCredentials?
        let origin: String

        init(_ provider: CredentialProvider, origin: String) {
            self.provider = provider.name
            secret = provider.secret
            self.origin = origin
        }
    }

    private struct Entry {
        var credentials: Credentials?
        var question: Task<Credentials?, any Error>?
    }

    private enum Step {
        case known(Credentials)
        case ask(Task<Credentials?, any Error>, isOwner: Bool)
    }

    private static let limit = 1024
    private let entries = Guarded<[Place: Entry]>([:])

    /// The credentials that are known without asking.
    func known(_ provider: CredentialProvider, origin: String) -> Credentials? {
        entries.withLock { $0[Place(provider, origin: origin)]?.credentials }
    }

    /// The credentials for an origin: the known ones unless they were refused, else the provider's answer.
    ///
    /// - Throws: `authenticationFailed` if the provider fails or has none.
    func credentials(
        of provider: CredentialProvider, for question: CredentialQuestion, persistence: CredentialPersistence
    ) async throws(WebImageError) -> Credentials {
        let place = Place(provider, origin: question.origin)
        let step = entries.withLock { entries -> Step in
            if let known = entries[place]?.credentials, known != question.rejected { return .known(known) }
            if let running = entries[place]?.question { return .ask(running, isOwner: false) }
            let task = Task { try await provider.credentials(question) }
            if entries.count >= Self.limit { entries = entries.filter { $0.value.question != nil } }
            entries[place] = Entry(credentials: nil, question: task)
            return .ask(task, isOwner: true)
        }
        guard case .ask(let task, let isOwner) = step else {
            if case .known(let known) = step { return known }
            throw Self.none(nil)
        }
        let answer = await task.result
        if isOwner { note(answer, at: place, persistence) }
        switch answer {
        case .success(let credentials?): return credentials
        case .success(nil): throw Self.none(nil)
        case .failure(let error): throw Self.none(error)
        }
    }

    private func note(_ answer: Result<Credentials?, any Error>, at place: Place, _ persistence: CredentialPersistence)
    {
        let credentials = persistence == .session ? (try? answer.get()) ?? nil : nil
        entries.withLock { $0[place] = credentials.map { Entry(credentials: $0, question: nil) } }
    }

    func forgetAll() { entries.withLock { $0 = $0.filter { $0.value.question != nil } } }

    private static func none(_ cause: (any Error)?) -> WebImageError {
        let message = "the credential provider has none that this server may take"
        return WebImageError(
            .authenticationFailed, message,
            cause: cause.map { WebImageError.wrapping($0, as: .authenticationFailed, "the provider failed") },
            status: 401)
    }
}
