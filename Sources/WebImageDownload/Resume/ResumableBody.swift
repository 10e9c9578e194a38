package import HTTPTypes
package import WebImageCore

/// One body over all attempts to get it: what to ask for, whether what comes belongs to what is there, and what of it to
/// keep for later. A pure value; nothing is trusted but strong validators.
package struct ResumableBody: Sendable {
    package struct Rules: Hashable, Sendable {
        /// A beginning that is shorter is not worth a request of its own, in bytes. Default 64 KiB.
        package var minimum = 64 << 10
        /// From so many bytes on the beginning is written to disk while the rest still comes, so that it outlives a
        /// process that is killed; shorter ones only when the transfer fails. Default 256 KiB.
        package var keepAfter = 256 << 10
        /// The fields of the answer that the head of the whole has.
        package var keptHeaders = KeptHeaders.standard

        package init() {}
    }

    /// What the head of an answer means for the bytes that are there. Where they are forgotten, a claim is discarded.
    package enum HeadAction: Sendable {
        /// The body's bytes follow those that are there. The head is that of the whole: judge and store that one.
        case append(ResponseHead)
        /// The whole body comes, from its first byte on: what is there is forgotten.
        case restart
        /// The answer does not fit what is there, which is forgotten: send the request again, without ``fields``.
        case askAgain
        /// The answer has no picture. What is there stays, or is forgotten.
        case leave(forgets: Bool)
        /// `protocolError`: a part that nobody asked for.
        case fail(WebImageError)
    }

    /// What to do with the store.
    package enum KeepAction: Hashable, Sendable {
        case nothing
        /// Claim a place, restart it with this metadata, and write all bytes from the first one on.
        case begin(metadata: [UInt8])
        /// Write those that came.
        case append
        /// What is written stays: release it, or hold the claim for the attempt that follows.
        case release
        /// Remove what is written.
        case discard
    }

    private enum Phase: Hashable {
        case waiting
        /// Asked for the rest from the bytes on that were there.
        case asking(from: Int)
        case receiving
        case ended
    }

    private let rules: Rules
    private let mayResume: Bool
    private let mayWrite: Bool
    /// The digest of who asks.
    private let scope: String?
    private var phase = Phase.waiting
    private var point: ResumePoint?
    /// Contiguous bytes from the first one on.
    private(set) package var length = 0
    /// Whether the store has what is there.
    private var isKept = false

    /// - Parameter mode: with ``CacheMode/noStore`` nothing is written to disk.
    package init(_ request: CacheRequest, mode: CacheMode, rules: Rules = Rules()) {
        self.rules = rules
        mayResume = request.isPlainGet
        // It could not be determined later to whom the beginning belongs.
        mayWrite = mode.stores && !request.control.noStore && request.knowsScope
        scope = Self.scope(of: request)
    }

    private static func scope(of request: CacheRequest) -> String? {
        let cookies = request.declaresScope ? nil : request.cookies?("")
        let parts = [request.credentialScope, cookies.map { "cookies " + $0 }].compactMap { $0 }
        return parts.isEmpty ? nil : CredentialScope.digest(parts.joined(separator: "\n").utf8)
    }

    /// Whether to ask the store.
    package var wantsKept: Bool { mayResume && mayWrite && phase == .waiting && length == 0 }

    /// Takes what a store had for the request.
    ///
    /// - Returns: false when it is of no use: discard it.
    package mutating func found(metadata: [UInt8], length: Int) -> Bool {
        guard wantsKept, length >= rules.minimum, let point = ResumePoint(encoded: metadata),
            length < point.total ?? .max, point.response.scope == scope
        else { return false }
        self.point = point
        self.length = length
        isKept = true
        return true
    }

    // MARK: An attempt

    /// The fields to add to the next request. Empty when it is for the whole.
    package var fields: HTTPFields {
        guard phase == .waiting, mayResume, length >= rules.minimum, let point else { return [:] }
        return point.requestFields(from: length)
    }

    /// The request was sent with ``fields``.
    package mutating func didAsk() {
        if phase == .waiting { phase = .asking(from: fields.isEmpty ? 0 : length) }
    }

    /// The final answer's head; heads of redirects are not final.
    package mutating func head(_ head: ResponseHead, _ arrival: CacheExchange.Arrival) -> HeadAction {
        guard case .asking(let offset) = phase else { return .leave(forgets: false) }
        let isResuming = offset > 0
        switch head.status {
        case 200:
            forget()
            phase = .receiving
            point = mayResume ? ResumePoint(head, arrival, keeping: rules.keptHeaders, scope: scope) : nil
            return .restart
        case 206 where isResuming:
            guard var point, point.accept(head, arrival, offset: offset, keeping: rules.keptHeaders) == nil else {
                return startOver()
            }
            self.point = point
            phase = .receiving
            return .append(point.wholeHead(like: head))
        case 206 where mayResume:
            phase = .ended
            return .fail(WebImageError(.protocolError, "the server sent a part of the picture that nobody asked for"))
        default: return refused(head.status)
        }
    }

    /// The answer has a status that brings no body, or none that was wanted.
    package mutating func refused(_ status: Int) -> HeadAction {
        guard case .asking(let offset) = phase else { return .leave(forgets: false) }
        if offset > 0, ResumePoint.mayRefuseTheRange(status) { return startOver() }
        phase = .waiting
        // There is nothing any more that the rest could belong to.
        let forgets = status == 404 || status == 410
        if forgets { forget() }
        return .leave(forgets: forgets)
    }

    private mutating func startOver() -> HeadAction {
        forget()
        phase = .waiting
        return .askAgain
    }

    private mutating func forget() {
        point = nil
        length = 0
        isKept = false
    }

    /// Bytes of the body.
    package mutating func received(_ count: Int) -> KeepAction {
        guard phase == .receiving else { return .nothing }
        length += count
        if isKept { return .append }
        guard mayWrite, let point, point.mayBeKept, length >= rules.keepAfter else { return .nothing }
        isKept = true
        return .begin(metadata: point.encoded())
    }

    /// Ends the attempt. After a failure that can be retried, ``fields`` and ``didAsk()`` begin the next one, which
    /// continues where this one broke off.
    ///
    /// - Parameter failure: nil if the transport reported a complete body.
    /// - Returns: what to do with the store, and the error that it is after all when bytes are missing.
    package mutating func ended(_ failure: WebImageError?) -> (keep: KeepAction, failure: WebImageError?) {
        guard phase != .ended else { return (.nothing, failure) }
        let hadBody = phase == .receiving
        let failure = failure ?? (hadBody ? missing : nil)
        guard let failure else {
            phase = .ended
            return (isKept ? .discard : .nothing, nil)
        }
        phase = .waiting
        guard Self.mayHeal(failure) else {
            defer { forget() }
            return (isKept ? .discard : .nothing, failure)
        }
        if isKept { return (.release, failure) }
        guard hadBody, mayWrite, let point, point.mayBeKept, length >= rules.minimum else { return (.nothing, failure) }
        isKept = true
        return (.begin(metadata: point.encoded()), failure)
    }

    private var missing: WebImageError? {
        guard let total = point?.total, length != total else { return nil }
        return WebImageError(.truncatedBody, "the body ended after \(length) of \(total) bytes")
    }

    /// Nothing is wrong with the bytes that came.
    private static func mayHeal(_ failure: WebImageError) -> Bool {
        switch failure.code {
        case .dnsFailed, .connectionRefused, .connectTimeout, .tlsFailed, .firstByteTimeout, .idleTimeout, .tooSlow,
            .deadlineExceeded, .truncatedBody, .connectionLost, .circuitOpen, .shutDown, .cancelled, .badStatus,
            .authenticationFailed:
            true
        default: false
        }
    }
}
