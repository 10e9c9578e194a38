/// One server's part in a piece of work that the whole fleet does once. A pure value: it is told what happens, and says what is
/// to be done next.
///
/// Who gets the lock works; the others listen to the channel of the result and ask again: when the channel says that
/// something happened, when messages may have been missed, and after a while in any case. So a message that is lost costs
/// some time, never an answer. What is true stands in Redis' keys; a message says no more than "look".
public struct FlightPart: Sendable {
    /// What is to be done.
    public enum Step: Hashable, Sendable {
        /// Ask for the result or the lock. What began at `notBefore` or earlier does not count.
        case ask(notBefore: Int)
        /// Listen to the channel of the result, until it is certain that messages come.
        case listen
        /// Wait for a message, for the loss of the channel, or so many milliseconds.
        case wait(Int)
        /// Do the work. With `begun`, this server leads, and that is the time of its beginning; without, it works for itself.
        case work(begun: Int?)
        /// Take what another server made, or say with ``FlightPart/refused(begun:)`` that it does not do.
        case take(FleetOutcome)
    }

    static let firstWait = 100
    static let longestWait = 1000

    private var notBefore: Int
    private var listens = false
    private var nextWait = Self.firstWait

    public init(notBefore: Int) { self.notBefore = notBefore }

    public var first: Step { .ask(notBefore: notBefore) }

    /// Redis has answered.
    public mutating func answered(_ answer: FleetAnswer) -> Step {
        switch answer {
        case .lead(let begun): return .work(begun: begun)
        // Each server makes its own of what is not shared; one after another would take as many times as long.
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

    /// Messages come, or may have been missed, or came, or the wait is over.
    public mutating func woken() -> Step { .ask(notBefore: notBefore) }

    /// Redis does not answer: whoever waits for it would wait for nothing.
    public mutating func unavailable() -> Step { .work(begun: nil) }

    /// What another server made was purged.
    public mutating func refused(begun: Int) -> Step {
        notBefore = max(notBefore, begun)
        return .ask(notBefore: notBefore)
    }
}

/// What Redis says to a server that asks for a result.
public enum FleetAnswer: Hashable, Sendable {
    /// It has the lock. Its work began at `begun`, after all purges that there were.
    case lead(begun: Int)
    /// Another server has the lock, for so many milliseconds if it does not renew it.
    case taken(left: Int)
    case known(FleetOutcome)
}

/// What became of work, as servers tell it to each other.
public struct FleetOutcome: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        case result = "r"
        /// It failed: an answer, too.
        case failure = "f"
        /// It was made and is not shared, since it is too long or is not everybody's.
        case unshared = "u"
    }

    public var kind: Kind
    /// When the work on it began.
    public var begun: Int
    /// What it is belongs to whoever shares it.
    public var content: [UInt8]

    public init(_ kind: Kind, begun: Int, content: [UInt8] = []) {
        self.kind = kind
        self.begun = begun
        self.content = content
    }

    /// As it stands in Redis: a letter, the time, a space, the content.
    var bytes: [UInt8] { Array("\(kind.rawValue)\(begun) ".utf8) + content }

    init?(_ bytes: some Collection<UInt8>) {
        guard let space = bytes.prefix(24).firstIndex(of: UInt8(ascii: " ")), let letter = bytes.first,
            let kind = Kind(rawValue: String(UnicodeScalar(letter))),
            let begun = Int(String(decoding: bytes[..<space].dropFirst(), as: UTF8.self))
        else { return nil }
        self.init(kind, begun: begun, content: Array(bytes[space...].dropFirst()))
    }
}
