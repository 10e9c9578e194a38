/// One server's part in a piece of work that the fleet does once. A pure value: it is given the events, and returns the
/// next step.
///
/// The server with the lock works. The others listen to the channel of the result and ask again: after a notification,
/// when messages may have been missed, and after a while in any case. So a lost message costs some time, but no answer.
/// The state is in Redis' keys; a message only says that it has changed.
public struct FlightPart: Sendable {
    /// The next step.
    public enum Step: Hashable, Sendable {
        /// Ask for the result or the lock. Results whose work began at `notBefore` or earlier do not count.
        case ask(notBefore: Int)
        /// Listen to the channel of the result, until the subscription is active.
        case listen
        /// Wait for a message or for the loss of the channel, at most this many milliseconds.
        case wait(Int)
        /// Do the work. With `begun`, the time of its beginning, this server leads; without, it works for itself.
        case work(begun: Int?)
        /// Use the outcome of another server, or refuse it with ``FlightPart/refused(begun:)``.
        case take(FleetOutcome)
    }

    static let firstWait = 100
    static let longestWait = 1000

    private var notBefore: Int
    private var listens = false
    private var nextWait = Self.firstWait

    public init(notBefore: Int) { self.notBefore = notBefore }

    public var first: Step { .ask(notBefore: notBefore) }

    /// Called when Redis has answered.
    public mutating func answered(_ answer: FleetAnswer) -> Step {
        switch answer {
        case .lead(let begun): return .work(begun: begun)
        // A result that is not shared is made by each server at once; taking turns would take too long.
        case .known(let outcome): return outcome.kind == .unshared ? .work(begun: nil) : .take(outcome)
        case .taken(let left):
            guard listens else {
                listens = true
                return .listen
            }
            let wait = min(nextWait, max(left, 1))
            nextWait = min(nextWait * 2, Self.longestWait)
            return .wait(wait)
        }
    }

    /// Called when the subscription is active, messages may have been missed, a message has arrived, or the wait is
    /// over.
    public mutating func woken() -> Step { .ask(notBefore: notBefore) }

    /// Called when Redis does not answer, so that waiting is pointless.
    public mutating func unavailable() -> Step { .work(begun: nil) }

    /// Called when the other server's outcome was purged or cannot be used.
    public mutating func refused(begun: Int) -> Step {
        notBefore = max(notBefore, begun)
        return .ask(notBefore: notBefore)
    }
}

/// The answer of Redis to a server that asks for a result.
public enum FleetAnswer: Hashable, Sendable {
    /// The server has the lock. Its work began at `begun`, after all existing purges.
    case lead(begun: Int)
    /// Another server has the lock, which expires after `left` milliseconds unless it is renewed.
    case taken(left: Int)
    case known(FleetOutcome)
}

/// The outcome of work, as servers share it.
public struct FleetOutcome: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        case result = "r"
        /// The work failed, which is also an answer.
        case failure = "f"
        /// The result was made but is not shared, because it is too long or not for everybody.
        case unshared = "u"
    }

    public var kind: Kind
    /// When the work on it began.
    public var begun: Int
    /// The content, in a format that the caller defines.
    public var content: [UInt8]

    public init(_ kind: Kind, begun: Int, content: [UInt8] = []) {
        self.kind = kind
        self.begun = begun
        self.content = content
    }

    /// The encoding in Redis: a letter, the time, a space, the content.
    var bytes: [UInt8] { Array("\(kind.rawValue)\(begun) ".utf8) + content }

    init?(_ bytes: some Collection<UInt8>) {
        guard let space = bytes.prefix(24).firstIndex(of: UInt8(ascii: " ")), let letter = bytes.first,
            let kind = Kind(rawValue: String(UnicodeScalar(letter))),
            let begun = Int(String(decoding: bytes[..<space].dropFirst(), as: UTF8.self)), 0...1 << 53 ~= begun
        else { return nil }
        self.init(kind, begun: begun, content: Array(bytes[space...].dropFirst()))
    }
}
