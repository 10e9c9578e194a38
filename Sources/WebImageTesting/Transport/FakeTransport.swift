import HTTPTypes
import Synchronization
import WebImageCore
public import WebImageDownload
import WebImageSystem

/// A transport without a network. It gives the answers that a test scripts, and records the requests.
///
/// It fulfils the contract of ``HTTPTransport``. Like the real transport, it refuses URLs that it cannot request,
/// addresses that the request's policy does not allow (see ``FakeAnswer/from(address:)``) and heads that are too long, and
/// undoes the `Content-Encoding` of bodies. It ignores the other properties of requests: credentials, TLS settings, the proxy, `mayRepeat` and the
/// timeout. It passes on bodies with any `Transfer-Encoding`. Any thread may use it.
public final class FakeTransport: HTTPTransport {
    /// The thread on which receivers are called.
    public enum Delivery: Sendable {
        /// One thread of the transport, as with the real transport.
        case ownThread
        /// The thread that starts, resumes or cancels a transfer or opens a gate, before that call returns.
        case inline
    }

    /// Makes the answer to a request; must not block. Nil means 404.
    public typealias Handler = @Sendable (TransportRequest) -> FakeAnswer?

    private struct Books: Sendable {
        var requests: [TransportRequest] = []
        var counts: [String: Int] = [:]
        var cancels: [String: Int] = [:]
        var ends: [String: Int] = [:]
        var running = 0
    }

    private struct Script {
        var answers: [String: [FakeAnswer]] = [:]
        var handler: Handler?
        var transfers: [ObjectIdentifier: FakeTransfer] = [:]
        var isShutDown = false
    }

    private static let wasShutDown = WebImageError(.shutDown, "the transport was shut down")

    private let script = Guarded(Script())
    private let books = Observed(Books())
    /// The number of requests for each URL, including those whose answer is still being made.
    private let started = Guarded<[String: Int]>([:])
    private let thread: ThreadPool?

    public init(_ delivery: Delivery = .ownThread) {
        thread = delivery == .ownThread ? ThreadPool(name: "wi-fake", width: 1) : nil
    }

    deinit { shutDown() }

    // MARK: - What is answered

    /// Sets the answers for a URL: the n-th answers the n-th request, and the last one all further requests.
    public func answer(_ url: String, _ answers: FakeAnswer...) {
        precondition(!answers.isEmpty, "a URL needs an answer")
        script.withLock { $0.answers[url] = answers }
    }

    /// Sets the handler for all URLs without answers of their own.
    public func answerAll(_ handler: @escaping Handler) { script.withLock { $0.handler = handler } }

    // MARK: - What happened

    /// Every request, in order.
    public var requests: [TransportRequest] { books.read { $0.requests } }

    /// The number of requests for a URL.
    public func hits(_ url: String) -> Int { books.read { $0.counts[url] ?? 0 } }

    /// The number of requests for a URL that were cancelled before they finished.
    public func cancels(_ url: String) -> Int { books.read { $0.cancels[url] ?? 0 } }

    /// The number of transfers that have started and not finished.
    public var running: Int { books.read { $0.running } }

    /// The number of transfers of a URL that have started and not finished.
    public func running(_ url: String) -> Int {
        books.read { ($0.counts[url] ?? 0) - ($0.ends[url] ?? 0) }
    }

    /// Waits until `count` requests have come for a URL; false if they do not in time or the task is cancelled.
    @discardableResult
    public func waitForHits(_ url: String, _ count: Int = 1, timeout: Duration = .seconds(120)) async -> Bool {
        await books.wait(timeout) { $0.counts[url] ?? 0 >= count }
    }

    /// Waits until `count` requests for a URL were cancelled.
    @discardableResult
    public func waitForCancels(_ url: String, _ count: Int = 1, timeout: Duration = .seconds(120)) async -> Bool {
        await books.wait(timeout) { $0.cancels[url] ?? 0 >= count }
    }

    /// Waits until at most `count` transfers are running.
    @discardableResult
    public func waitForRunning(atMost count: Int, timeout: Duration = .seconds(120)) async -> Bool {
        await books.wait(timeout) { $0.running <= count }
    }

    // MARK: - HTTPTransport

    public func start(_ request: TransportRequest, receiver: any TransportReceiver) -> any TransportTransfer {
        let earlier = started.withLock { Self.next(of: &$0[request.url, default: 0]) }
        // The answer is made before the request is counted, since a test that waits for the request may then change
        // what the answer depends on.
        let answer = answer(to: request, earlier: earlier).delivered(to: request)
        let number = books.change { books in
            books.requests.append(request)
            books.running += 1
            books.counts[request.url, default: 0] += 1
            return books.requests.count
        }
        let delivery = FakeDelivery(answer, isFirst: number == 1)
        let transfer = FakeTransfer(delivery, receiver: receiver, thread: thread) {
            [weak self] transfer, wasCancelled in
            self?.forget(transfer, request.url, wasCancelled: wasCancelled)
        }
        let isWelcome = script.withLock { script in
            if !script.isShutDown { script.transfers[ObjectIdentifier(transfer)] = transfer }
            return !script.isShutDown
        }
        if isWelcome { transfer.continueDelivery() } else { transfer.end(Self.wasShutDown) }
        return transfer
    }

    public func shutDown() {
        let transfers = script.withLock { script in
            script.isShutDown = true
            return Array(script.transfers.values)
        }
        for transfer in transfers { transfer.end(Self.wasShutDown) }
    }

    private static func next(of number: inout Int) -> Int {
        defer { number += 1 }
        return number
    }

    private func answer(to request: TransportRequest, earlier: Int) -> FakeAnswer {
        if let refusal = Self.refusal(of: request.url) { return .failure(refusal) }
        let (answers, handler) = script.withLock { ($0.answers[request.url], $0.handler) }
        if let answers { return answers[min(earlier, answers.count - 1)] }
        return handler?(request) ?? .status(404)
    }

    /// The error of the real transport for a URL that it cannot request.
    private static func refusal(of url: String) -> WebImageError? {
        let parts = url.utf8
        let isHTTP = url.hasPrefix("http://") || url.hasPrefix("https://")
        guard isHTTP else {
            return WebImageError(.unsupportedScheme, "only http and https URLs can be asked for")
        }
        let authority = parts.dropFirst(url.hasPrefix("https") ? 8 : 7).prefix { $0 != UInt8(ascii: "/") }
        let isAskable =
            !authority.isEmpty && !authority.contains(UInt8(ascii: "@")) && !parts.contains(UInt8(ascii: "#"))
            && !parts.contains { $0 <= 0x20 || $0 >= 0x7F }
        return isAskable ? nil : WebImageError(.invalidURL, "a transport cannot ask for this URL")
    }

    private func forget(_ transfer: FakeTransfer, _ url: String, wasCancelled: Bool) {
        script.withLock { _ = $0.transfers.removeValue(forKey: ObjectIdentifier(transfer)) }
        books.change { books in
            books.running -= 1
            books.ends[url, default: 0] += 1
            if wasCancelled { books.cancels[url, default: 0] += 1 }
        }
    }
}
