import HTTPTypes
import WebImageCore

/// What one download over HTTP does next: a pure value that takes events with their times and returns actions.
struct TransferStateMachine: Sendable {
    struct Rules: Sendable {
        var bodyLimit: Int
        var acceptableStatuses = StatusSet.successful
        var contentTypes: ContentTypes?
        /// Whether the request sends credentials.
        var sendsCredentials = false
        /// Whether credentials are looked for in a `.netrc` file, which may have none for the server.
        var readsNetrc = false
        /// Whether credentials can be requested when the server demands them; only once.
        var mayAskForCredentials = false
        /// Whether the caller made a conditional request, which a 304 may answer.
        var takesNotModified = false
        /// Whether the caller asked for a part of the body.
        var takesParts = false
        var retry = RetryPolicy.never
        /// Returns a new number from 0 to 1 at each call.
        var jitter: @Sendable () -> Double = { 0 }
        /// How many bytes of an unwanted body are read to keep the connection usable.
        var drainLimit = 64 << 10
        var drainTime = Duration.seconds(1)
    }

    enum Action {
        case none
        /// Publish the head in the log; the body follows.
        case accept(expectedLength: Int?)
        /// Like `accept`, in a new log that replaces the current one, because the body has changed.
        case replace(expectedLength: Int?)
        /// The body continues where it broke off.
        case resume
        /// Append the bytes to the log, without the first `skipping`, which must equal the log's bytes from `offset`
        /// on.
        case keep(skipping: Int, at: Int)
        /// Stop the transport's transfer; `finished` follows.
        case stopTransport
        /// Report the error to the readers now. The slot is held until `finished`.
        case abort(WebImageError, stopsTransport: Bool)
        /// Wait for a slot at the next hop's host and start again; the current slot is held until then.
        case hop
        /// Give up the slot until the next attempt.
        case rest(WebImageError, until: Duration)
        /// Wait for a slot again.
        case requeue
        /// The last action: report the end to the readers and give up the slot.
        case end(ByteLog.End)
        /// The last action, if the readers know the end already.
        case release
    }

    /// What follows a discarded body, or a transport that was told to stop.
    private enum Next {
        case hop
        case rest(WebImageError, until: Duration)
        case complete
    }

    private enum State {
        case waiting
        /// Has a slot; modifiers and providers are running.
        case preparing
        case connecting
        case awaitingHead
        case receiving
        /// Before a redirect, a challenge or a retry; the body is discarded.
        case draining(Next)
        case resting
        /// The readers know the end; the transport is still stopping, or reading the rest of an unwanted body.
        case stopping
        case ended
    }

    let rules: Rules
    private(set) var chain: RedirectChain
    private(set) var clocks: TransferClocks
    private var state = State.waiting
    private(set) var expectedLength: Int?
    /// Whether the server compresses the body unasked; the transport decodes it.
    private var isCompressed = false
    private(set) var partial = InterruptedBody()
    private var drained = 0
    private(set) var retries = 0
    private var mayAsk: Bool

    init(_ chain: RedirectChain, rules: Rules, clocks: TransferClocks) {
        self.chain = chain
        self.rules = rules
        self.clocks = clocks
        mayAsk = rules.mayAskForCredentials
    }

    /// How many bytes of the body the readers have.
    var received: Int { partial.kept }

    /// A slot is available. Returns false if it is no longer needed.
    mutating func start(at now: Duration) -> Bool {
        guard case .waiting = state else { return false }
        state = .connecting
        clocks.connect(at: now)
        return true
    }

    /// Like ``start(at:)``, for a request that modifiers or providers must process first; ``prepared(at:)`` follows.
    mutating func prepare(at now: Duration) -> Bool {
        guard case .waiting = state else { return false }
        state = .preparing
        clocks.prepare(at: now)
        return true
    }

    /// A modifier has changed the URL of the request.
    mutating func redirectByModifier(to url: WebURL, method: HTTPRequest.Method) {
        chain.replace(by: url, method: method)
    }

    /// Returns false if the preparation is no longer needed.
    mutating func prepared(at now: Duration) -> Bool {
        guard case .preparing = state else { return false }
        state = .connecting
        clocks.connect(at: now)
        return true
    }

    mutating func connected(at now: Duration) {
        guard case .connecting = state else { return }
        state = .awaitingHead
        clocks.awaitHead(at: now)
    }

    /// - Parameter cookiesChanged: whether the target of the redirect gets other cookies now.
    mutating func head(
        _ head: ResponseHead, at now: Duration, wallTime: Int64 = 0, cookiesChanged: Bool = false
    ) -> Action {
        switch state {
        case .connecting, .awaitingHead: break
        case .waiting, .preparing, .receiving, .draining, .resting, .stopping, .ended: return .none
        }
        let length: Int?
        do throws(WebImageError) { length = try head.announcedLength() } catch { return stop(error) }
        if let location = RedirectChain.location(of: head) {
            do throws(WebImageError) {
                try chain.follow(location, status: head.status, mayReturn: cookiesChanged)
            } catch {
                return refuse(error, length: length, at: now)
            }
            return drain(.hop, length: length, at: now)
        }
        if head.status == 401, mayAsk, chain.keepsSecrets {
            mayAsk = false
            return drain(.hop, length: length, at: now)
        }
        do throws(WebImageError) {
            return try take(head, length: length, at: now)
        } catch {
            // Of all problems with an answer, only its status may improve with a retry.
            if error.code == .badStatus, let until = nextTry(after: error, head: head, at: now, wallTime: wallTime) {
                return drain(.rest(error, until: until), length: length, at: now)
            }
            var error = error
            error.retryAfter = RetryAfter.delay(of: head, wallTime: wallTime)
            if error.code == .badStatus { error.lifetime = HTTPCacheRules.lifetime(ofFailure: head, now: wallTime) }
            return error.code == .bodyTooLarge ? stop(error) : refuse(error, length: length, at: now)
        }
    }

    mutating func bytes(_ count: Int, at now: Duration) -> Action {
        switch state {
        case .receiving:
            clocks.noteBytes(count, at: now)
            let offset = partial.offset
            let known = partial.take(count)
            if partial.offset <= rules.bodyLimit { return .keep(skipping: known, at: offset) }
            return stop(isCompressed ? bomb : tooLarge("more than that arrived"))
        case .draining, .stopping:
            drained += count
            return drained > rules.drainLimit ? .stopTransport : .none
        case .waiting, .preparing, .connecting, .awaitingHead, .resting, .ended: return .none
        }
    }

    /// The bytes of a repeated answer differ from the available ones.
    ///
    /// - Returns: false if they may not replace those: the transfer fails.
    mutating func replace() -> Bool {
        guard case .receiving = state, mayReplace(partial.status) else { return false }
        return partial.replace()
    }

    mutating func pause(at now: Duration) { clocks.pause(at: now) }

    mutating func resume(at now: Duration) { clocks.resume(at: now) }

    /// Whether all bytes of the body have arrived.
    var isWhole: Bool {
        guard case .receiving = state else { return false }
        return partial.offset >= max(expectedLength ?? 0, partial.kept)
    }

    /// The transport has ended this hop.
    mutating func finished(_ failure: WebImageError?, at now: Duration) -> Action {
        switch state {
        case .waiting, .preparing, .resting, .ended: return .none
        case .stopping:
            end()
            return .release
        case .draining(let next):
            if let failure, failure.code == .shutDown { return end(.failed(failure)) }
            // The next step is determined already, however the unwanted body ended.
            drained = 0
            switch next {
            case .hop:
                chain.beginAgain()
                state = .waiting
                clocks.wait()
                return .hop
            case .rest(let error, let until): return rest(error, until: max(until, now))
            case .complete: return end(.complete)
            }
        case .connecting, .awaitingHead:
            return failed(failure ?? WebImageError(.protocolError, "the answer has no head"), at: now)
        case .receiving:
            if let failure { return failed(failure, at: now) }
            if let expectedLength, partial.offset < expectedLength {
                let message = "the body ended after \(partial.offset) of \(expectedLength) bytes"
                return failed(WebImageError(.truncatedBody, message), at: now)
            }
            if let expectedLength, partial.offset > expectedLength {
                let message = "the body has \(partial.offset) bytes, more than the announced \(expectedLength)"
                return end(.failed(WebImageError(.protocolError, message)))
            }
            // The repeated body is shorter than the bytes that arrived before.
            if partial.offset < partial.kept { return end(.failed(InterruptedBody.changed)) }
            return end(.complete)
        }
    }

    /// See ``TransferClocks/judgeSpeed(at:)``.
    mutating func judgeSpeed(at now: Duration) -> Bool { clocks.judgeSpeed(at: now) }

    /// Checks the deadlines.
    mutating func expire(at now: Duration) -> Action {
        switch clocks.expire(at: now) {
        case .nothing: return .none
        case .endOfDrain:
            clocks.wait()
            return .stopTransport
        case .endOfRest:
            state = .waiting
            clocks.wait()
            return .requeue
        case .failure(let error):
            guard isRunning, let until = nextTry(after: error, at: now) else { return fail(error) }
            state = .draining(.rest(error, until: until))
            clocks.wait()
            return .stopTransport
        }
    }

    /// Ends the download from outside: cancelled, shut down, or no room for its bytes.
    mutating func fail(_ error: WebImageError) -> Action {
        switch state {
        case .waiting, .preparing, .resting: return end(.failed(error))
        case .connecting, .awaitingHead, .receiving, .draining: return stop(error)
        case .stopping, .ended: return .none
        }
    }

    // MARK: Answers

    /// - Throws: the problem with the answer.
    private mutating func take(_ head: ResponseHead, length: Int?, at now: Duration) throws(WebImageError) -> Action {
        let isContinued = head.status == 206 && partial.rangeFields != nil
        if head.status == 416, partial.rangeFields != nil {
            if partial.isWhole(accordingTo: head) { return drain(.complete, length: length, at: now) }
            // The body is now shorter than the bytes that arrived.
            if partial.forget() { return drain(.hop, length: length, at: now) }
        }
        if partial.rangeFields != nil, !accepts(head.status), ResumePoint.mayRefuseTheRange(head.status),
            partial.forget()
        {
            return drain(.hop, length: length, at: now)
        }
        guard isContinued || accepts(head.status) else { throw unwanted(head.status) }
        if head.status == 206, !isContinued, !rules.takesParts {
            throw WebImageError(.protocolError, "the server sent a part that nobody asked for", status: 206)
        }
        // A 206 need not repeat the type of the whole (RFC 9110 section 15.3.7); the others have no part of the body.
        let saysNoType = [304, 416].contains(head.status) || head.status == 206 && head[.contentType] == nil
        if let contentTypes = rules.contentTypes, !saysNoType,
            !contentTypes.contains(head[.contentType])
        {
            let type = ContentTypes.essence(head[.contentType])
            throw WebImageError(
                .badContentType, "the content type \(type.prefix(64)) is not wanted", status: head.status)
        }
        var beginning = InterruptedBody.Beginning.again
        // An answer without a body may announce a length (RFC 9112 section 6.3).
        let length = chain.method == .head || [204, 304].contains(head.status) ? nil : length
        if isContinued {
            guard try partial.continue(head, from: chain.current) else { return drain(.hop, length: length, at: now) }
            expectedLength = partial.length
        } else {
            // The length of a compressed body is not the decoded length.
            isCompressed = head[.contentEncoding].map { $0.lowercased() != "identity" } ?? false
            expectedLength = isCompressed ? nil : length
            beginning = try partial.begin(
                head, from: chain.current, length: expectedLength,
                isWhole: !isCompressed && head.status == 200 && chain.method == .get,
                mayReplace: mayReplace(head.status))
        }
        if let announced = expectedLength ?? length, announced > rules.bodyLimit {
            throw tooLarge("\(announced) bytes were announced")
        }
        state = .receiving
        clocks.receive(at: now)
        switch beginning {
        case .first: return .accept(expectedLength: expectedLength)
        case .again: return .resume
        case .another: return .replace(expectedLength: expectedLength)
        }
    }

    /// Whether a new body with this status may replace the old one. A 304 concerns the caller's entry, and a part of
    /// another body does not fit the caller's part of the first.
    private func mayReplace(_ status: Int?) -> Bool { status != 304 && (!rules.takesParts || status == 200) }

    // MARK: Retries

    private var isRunning: Bool {
        switch state {
        case .connecting, .awaitingHead, .receiving: true
        default: false
        }
    }

    /// When to try again after `error`; nil: not at all. Counts the attempt.
    private mutating func nextTry(
        after error: WebImageError, head: ResponseHead? = nil, at now: Duration, wallTime: Int64 = 0
    ) -> Duration? {
        guard chain.method == .get || chain.method == .head else { return nil }
        let asked = head.flatMap { RetryAfter.delay(of: $0, wallTime: wallTime) }
        let jitter = rules.jitter()
        guard let delay = rules.retry.delay(before: retries + 1, after: error, retryAfter: asked, jitter: jitter),
            clocks.allows(now + delay)
        else { return nil }
        retries += 1
        return now + delay
    }

    /// The hop has failed.
    private mutating func failed(_ error: WebImageError, at now: Duration) -> Action {
        guard let until = nextTry(after: error, at: now) else { return end(.failed(error)) }
        return rest(error, until: until)
    }

    private mutating func rest(_ error: WebImageError, until: Duration) -> Action {
        chain.beginAgain()
        state = .resting
        clocks.rest(until: until)
        return .rest(error, until: until)
    }

    // MARK: Steps

    private mutating func drain(_ next: Next, length: Int?, at now: Duration) -> Action {
        state = .draining(next)
        clocks.drain(until: now + rules.drainTime)
        return isLongDrain(length) ? .stopTransport : .none
    }

    /// Reports the error to the readers, but reads a short body to its end so that the connection stays usable.
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
}
