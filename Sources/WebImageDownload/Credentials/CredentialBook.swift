import Synchronization
import WebImageCore
import WebImageSystem

/// The answers of credential providers, by provider and origin. If several downloads need the same answer, the provider
/// is asked once.
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
        var question: Question?
    }

    private struct Question {
        let number: Int
        let task: Task<Credentials?, any Error>
    }

    private enum Step {
        case known(Credentials)
        case ask(Question, isOwner: Bool)
    }

    private struct State {
        var entries: [Place: Entry] = [:]
        /// How many questions were asked.
        var asked = 0
    }

    private static let limit = 1024
    private let state = Guarded(State())

    /// The credentials that are known without asking.
    func known(_ provider: CredentialProvider, origin: String) -> Credentials? {
        state.withLock { $0.entries[Place(provider, origin: origin)]?.credentials }
    }

    /// The credentials for an origin: the known ones unless they were refused, else the provider's answer.
    ///
    /// - Parameter time: how long this call waits for an answer, by `clock`. Other downloads that wait for the same
    ///   answer then ask the provider anew.
    /// - Throws: `authenticationFailed` if the provider fails or has none, and `connectTimeout` if this call asked it
    ///   and it did not answer in `time`.
    func credentials(
        of provider: CredentialProvider, for question: CredentialQuestion, persistence: CredentialPersistence,
        within time: Duration?, _ clock: any LoadClock
    ) async throws(WebImageError) -> Credentials {
        let place = Place(provider, origin: question.origin)
        let deadline = time.map { clock.now + $0 }
        let step = state.withLock { state -> Step in
            if let known = state.entries[place]?.credentials, known != question.rejected { return .known(known) }
            if let running = state.entries[place]?.question { return .ask(running, isOwner: false) }
            state.asked += 1
            let asked = Question(number: state.asked, task: Task { try await provider.credentials(question) })
            if state.entries.count >= Self.limit { state.entries = state.entries.filter { $0.value.question != nil } }
            state.entries[place] = Entry(credentials: nil, question: asked)
            return .ask(asked, isOwner: true)
        }
        guard case .ask(let asked, let isOwner) = step else {
            if case .known(let known) = step { return known }
            throw Self.none(nil)
        }
        let limit = isOwner ? deadline.map { clock.schedule(at: $0) { self.drop(asked, at: place) } } : nil
        let answer = await asked.task.result
        limit?.cancel()
        // Many providers end at once when they are cancelled, each with an answer or error of its own.
        if isOwner, let time, asked.task.isCancelled { throw Self.late(time) }
        if isOwner { note(answer, of: asked, at: place, persistence) }
        // The time of the download that asked is over, not that of this one. Nothing else cancels the question.
        let hasCredentials = if case .success(_?) = answer { true } else { false }
        if !isOwner, asked.task.isCancelled, !Task.isCancelled, !hasCredentials {
            return try await credentials(of: provider, for: question, persistence: persistence, within: time, clock)
        }
        switch answer {
        case .success(let credentials?): return credentials
        case .success(nil): throw Self.none(nil)
        case .failure(let error): throw Self.none(error)
        }
    }

    /// Keeps an answer, unless it comes too late or after ``forgetAll()``: it may then be that of another user.
    private func note(
        _ answer: Result<Credentials?, any Error>, of asked: Question, at place: Place,
        _ persistence: CredentialPersistence
    ) {
        let credentials = persistence == .session ? (try? answer.get()) ?? nil : nil
        state.withLock { state in
            guard state.entries[place]?.question?.number == asked.number else { return }
            state.entries[place] = credentials.map { Entry(credentials: $0, question: nil) }
        }
    }

    /// Drops a question that was not answered in time, so that nobody waits for it any longer.
    private func drop(_ asked: Question, at place: Place) {
        state.withLock { state in
            if state.entries[place]?.question?.number == asked.number { state.entries[place] = nil }
        }
        asked.task.cancel()
    }

    /// Forgets all answers, including those that are still awaited.
    func forgetAll() { state.withLock { $0.entries = [:] } }

    private static func late(_ time: Duration) -> WebImageError {
        WebImageError(.connectTimeout, "the credential provider did not answer within \(time.inWords)")
    }

    private static func none(_ cause: (any Error)?) -> WebImageError {
        let message = "the credential provider has no credentials that may be sent to this server"
        return WebImageError(
            .authenticationFailed, message,
            cause: cause.map { WebImageError.wrapping($0, as: .authenticationFailed, "the provider failed") },
            status: 401)
    }
}
