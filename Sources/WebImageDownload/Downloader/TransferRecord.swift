import HTTPTypes
import WebImageCore

/// The hop of a transfer that runs: from a slot to the transport's end.
struct TransferHop {
    /// 0 before the first.
    private(set) var number = 0
    /// Nil until `start` has returned.
    var handle: (any TransportTransfer)?
    /// Calls that came before the handle.
    var mustStop = false
    var mustResume = false
    /// Modifiers and providers at work.
    var preparation: Task<Void, Never>?
    /// The host whose circuit waits for an outcome.
    var circuit: String?

    /// The next one begins.
    mutating func begin(to host: String) {
        number += 1
        handle = nil
        (mustStop, mustResume) = (false, false)
        circuit = host
    }
}

/// What was sent and what came, for those who ask how a transfer went.
struct TransferRecord {
    var metrics = TransferMetrics()
    private(set) var exchange: DownloadExchange?
    private var redirects: [ResponseHead] = []
    /// What was sent for each of them, and then for the answer.
    private var hops: [SentHop] = []
    private var sentFields: HTTPFields = [:]
    private var sentAt: Int64 = 0
    private let createdAt: Duration

    init(createdAt: Duration) { self.createdAt = createdAt }

    mutating func noteStart(at now: Duration) { metrics.queued = now - createdAt }

    /// - Parameter count: how many redirects lead to the hop.
    mutating func note(_ hop: SentHop, behind count: Int) {
        hops.removeSubrange(min(count, hops.count)...)
        hops.append(hop)
    }

    mutating func noteSent(_ fields: HTTPFields, at wallTime: Int64) {
        sentFields = fields
        sentAt = wallTime
    }

    /// Takes down what an answer says.
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
            // Of a body that came in several answers, what the last one says.
            exchange = DownloadExchange(
                url: machine.chain.current.text, requestFields: sentFields, requestTime: sentAt, responseTime: wallTime,
                head: machine.partial.head ?? head, redirects: redirects, hops: hops)
        default: break
        }
    }

    /// - Parameter count: how many redirects led to it.
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

/// Who a transfer says that it is.
struct TransferLogin {
    /// What was sent last.
    private(set) var sent: Credentials?
    /// What a server asked for last.
    private(set) var challenge: String?
    /// Whether that was its answer to what was sent.
    private var isRefused = false

    /// What is to be sent once more, since nobody refused it.
    var good: Credentials? { isRefused ? nil : sent }
    /// What must not be sent once more.
    var refused: Credentials? { isRefused ? sent : nil }

    mutating func send(_ credentials: Credentials?) { (sent, isRefused) = (credentials, false) }

    /// Takes down what an answer asks for.
    mutating func note(_ head: ResponseHead) {
        isRefused = head.status == 401
        if isRefused { challenge = head[.wwwAuthenticate] ?? "" }
    }
}
