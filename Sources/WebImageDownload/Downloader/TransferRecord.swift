import HTTPTypes
import WebImageCore

/// The running hop of a transfer, from its slot to the transport's end.
struct TransferHop {
    /// 0 before the first hop.
    private(set) var number = 0
    /// Nil until `start` has returned.
    var handle: (any TransportTransfer)?
    /// Whether the transfer was stopped before the handle was available.
    var mustStop = false
    var mustResume = false
    /// The running modifiers and providers.
    var preparation: Task<Void, Never>?
    /// The host whose circuit breaker waits for an outcome.
    var circuit: String?

    /// Begins the next hop.
    mutating func begin(to host: String) {
        number += 1
        handle = nil
        (mustStop, mustResume) = (false, false)
        circuit = host
    }
}

/// What was sent and received in a transfer.
struct TransferRecord {
    var metrics = TransferMetrics()
    private(set) var exchange: DownloadExchange?
    private var redirects: [ResponseHead] = []
    /// What was sent for each redirect, and then for the answer.
    private var hops: [SentHop] = []
    private var sentFields: HTTPFields = [:]
    private var sentAt: Int64 = 0
    private let createdAt: Duration

    init(createdAt: Duration) { self.createdAt = createdAt }

    mutating func noteStart(at now: Duration) { metrics.queued = now - createdAt }

    /// - Parameter count: how many redirects precede the hop.
    mutating func note(_ hop: SentHop, behind count: Int) {
        hops.removeSubrange(min(count, hops.count)...)
        hops.append(hop)
    }

    mutating func noteSent(_ fields: HTTPFields, at wallTime: Int64) {
        sentFields = fields
        sentAt = wallTime
    }

    /// Records an answer.
    mutating func note(
        _ head: ResponseHead, answer action: TransferStateMachine.Action, of machine: TransferStateMachine,
        at wallTime: Int64
    ) {
        metrics.status = head.status
        metrics.version = head.version
        metrics.remoteAddress = head.remoteAddress
        if case .resume = action { metrics.resumedBytes += machine.partial.offset }
        switch action {
        case .accept, .replace, .resume:
            // If a body came in several answers, the last one counts.
            exchange = DownloadExchange(
                url: machine.chain.current.text, requestFields: sentFields, requestTime: sentAt, responseTime: wallTime,
                head: machine.partial.head ?? head, redirects: redirects, hops: hops)
        default: break
        }
    }

    /// - Parameter count: how many redirects precede this one.
    mutating func noteRedirect(_ head: ResponseHead, behind count: Int) {
        redirects.removeSubrange(min(count, redirects.count)...)
        redirects.append(head)
    }

    mutating func noteEnd(of machine: TransferStateMachine, at now: Duration) {
        metrics.total = now - createdAt
        metrics.redirects = machine.chain.count
        metrics.retries = machine.retries
        metrics.finalURL = machine.chain.current.text
    }
}

/// The credentials that a transfer uses.
struct TransferLogin {
    /// The credentials that were sent last.
    private(set) var sent: Credentials?
    /// The last challenge of a server.
    private(set) var challenge: String?
    /// Whether the server refused the sent credentials with that challenge.
    private var isRefused = false

    /// The credentials to send again, because they were not refused.
    var good: Credentials? { isRefused ? nil : sent }
    /// The credentials that must not be sent again.
    var refused: Credentials? { isRefused ? sent : nil }

    mutating func send(_ credentials: Credentials?) { (sent, isRefused) = (credentials, false) }

    /// Records the challenge of an answer.
    mutating func note(_ head: ResponseHead) {
        isRefused = head.status == 401
        if isRefused { challenge = head[.wwwAuthenticate] ?? "" }
    }
}
