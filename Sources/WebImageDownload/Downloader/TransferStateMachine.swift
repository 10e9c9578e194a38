import HTTPTypes
import WebImageCore

/// What one download over HTTP does next: a pure value that takes events with their times and returns actions.
struct TransferStateMachine: Sendable {
    struct Rules: Sendable {
        var bodyLimit: Int
        var acceptableStatuses: Range<Int>
        /// Whether the request says who asks.
        var sendsCredentials = false
        /// Bytes of an unwanted body that are read to the end so that the connection can be used again.
        var drainLimit = 64 << 10
        var drainTime = Duration.seconds(1)
    }

    enum Action {
        case none
        /// Put the head into the log; the body follows.
        case accept(expectedLength: Int?)
        /// Put the bytes into the log.
        case keep
        /// End the transport's transfer; `finished` follows.
        case stopTransport
        /// Tell the readers now. The slot is held until `finished`.
        case abort(WebImageError, stopsTransport: Bool)
        /// Wait for a slot at the next hop's host and start again.
        case hop
        /// The last: tell the readers and give up the slot.
        case end(ByteLog.End)
        /// The last, when the readers know already.
        case release
    }

    private enum State {
        case waiting
        case connecting
        case awaitingHead
        case receiving
        /// To a redirect; its body is thrown away.
        case draining
        /// Readers know the end; the transport does not yet, or reads an unwanted rest.
        case stopping
        case ended
    }

    private let rules: Rules
    private(set) var chain: RedirectChain
    private(set) var clocks: TransferClocks
    private var state = State.waiting
    private var expectedLength: Int?
    /// Whether the server compresses the body although nobody asked for it; the transport undoes that.
    private var isCompressed = false
    private(set) var received = 0

    init(_ chain: RedirectChain, rules: Rules, clocks: TransferClocks) {
        self.chain = chain
        self.rules = rules
        self.clocks = clocks
    }

    /// A slot is there. False when it is no longer needed.
    mutating func start(at now: Duration) -> Bool {
        guard case .waiting = state else { return false }
        state = .connecting
        clocks.connect(at: now)
        return true
    }

    mutating func connected(at now: Duration) {
        guard case .connecting = state else { return }
        state = .awaitingHead
        clocks.awaitHead(at: now)
    }

    mutating func head(_ head: ResponseHead, at now: Duration) -> Action {
        switch state {
        case .connecting, .awaitingHead: break
        case .waiting, .receiving, .draining, .stopping, .ended: return .none
        }
        let length = head[.contentLength].flatMap { Int($0) }
        if let location = RedirectChain.location(of: head) {
            return redirect(to: location, status: head.status, length: length, at: now)
        }
        guard rules.acceptableStatuses.contains(head.status) else {
            return refuse(unwanted(head.status), length: length, at: now)
        }
        if let length, length > rules.bodyLimit, chain.method != .head {
            return stop(tooLarge("\(length) bytes were announced"))
        }
        state = .receiving
        isCompressed = head[.contentEncoding].map { $0.lowercased() != "identity" } ?? false
        // The length in an answer to HEAD is that of a body that does not come; that of a compressed body says nothing
        // of what comes out of it.
        expectedLength = chain.method == .head || isCompressed ? nil : length
        clocks.receive(at: now)
        return .accept(expectedLength: expectedLength)
    }

    mutating func bytes(_ count: Int, at now: Duration) -> Action {
        received += count
        switch state {
        case .receiving:
            clocks.noteBytes(count, at: now)
            if received <= rules.bodyLimit { return .keep }
            return stop(isCompressed ? bomb : tooLarge("more than that arrived"))
        case .draining, .stopping: return received > rules.drainLimit ? .stopTransport : .none
        case .waiting, .connecting, .awaitingHead, .ended: return .none
        }
    }

    mutating func pause(at now: Duration) { clocks.pause(at: now) }

    mutating func resume(at now: Duration) { clocks.resume(at: now) }

    /// The transport's last word on this hop.
    mutating func finished(_ failure: WebImageError?) -> Action {
        switch state {
        case .waiting, .ended: return .none
        case .stopping:
            end()
            return .release
        case .draining:
            if let failure, failure.code == .shutDown { return end(.failed(failure)) }
            // However the unwanted body ended, the next hop was told.
            state = .waiting
            clocks.wait()
            received = 0
            return .hop
        case .connecting, .awaitingHead:
            return end(.failed(failure ?? WebImageError(.protocolError, "the answer has no head")))
        case .receiving:
            if let failure { return end(.failed(failure)) }
            if let expectedLength, received < expectedLength {
                let message = "the body ended after \(received) of \(expectedLength) bytes"
                return end(.failed(WebImageError(.truncatedBody, message)))
            }
            return end(.complete)
        }
    }

    /// Looks at the clocks.
    mutating func expire(at now: Duration) -> Action {
        switch clocks.expire(at: now) {
        case .nothing: return .none
        case .failure(let error): return fail(error)
        case .endOfDrain:
            clocks.wait()
            return .stopTransport
        }
    }

    /// Ends the download from outside: cancelled, shut down, no room for its bytes.
    mutating func fail(_ error: WebImageError) -> Action {
        switch state {
        case .waiting: return end(.failed(error))
        case .connecting, .awaitingHead, .receiving, .draining: return stop(error)
        case .stopping, .ended: return .none
        }
    }

    // MARK: Steps

    private mutating func redirect(to location: String, status: Int, length: Int?, at now: Duration) -> Action {
        do throws(WebImageError) {
            try chain.follow(location, status: status)
        } catch {
            return refuse(error, length: length, at: now)
        }
        state = .draining
        clocks.drain(until: now + rules.drainTime)
        return isLongDrain(length) ? .stopTransport : .none
    }

    /// Tells the readers, but lets a short body come so that the connection stays usable.
    private mutating func refuse(_ error: WebImageError, length: Int?, at now: Duration) -> Action {
        state = .stopping
        clocks.forgetTotal()
        clocks.drain(until: now + rules.drainTime)
        return .abort(error, stopsTransport: isLongDrain(length))
    }

    private func isLongDrain(_ length: Int?) -> Bool { (length ?? 0) > rules.drainLimit }

    private mutating func stop(_ error: WebImageError) -> Action {
        state = .stopping
        clocks.stop()
        return .abort(error, stopsTransport: true)
    }

    private mutating func end() {
        state = .ended
        clocks.stop()
    }

    private mutating func end(_ end: ByteLog.End) -> Action {
        self.end()
        return .end(end)
    }

    private func unwanted(_ status: Int) -> WebImageError {
        if status == 401 || status == 407, rules.sendsCredentials {
            return WebImageError(
                .authenticationFailed, "the server answered \(status): it does not accept these credentials",
                status: status)
        }
        return WebImageError(.badStatus, "the server answered \(status)", status: status)
    }

    private var bomb: WebImageError {
        WebImageError(
            .decompressionLimit, "the compressed body grows beyond the limit of \(ByteCount(rules.bodyLimit))")
    }

    private func tooLarge(_ what: String) -> WebImageError {
        let limit = ByteCount(rules.bodyLimit)
        return WebImageError(.bodyTooLarge, "the body is longer than the limit of \(limit): \(what)")
    }
}
