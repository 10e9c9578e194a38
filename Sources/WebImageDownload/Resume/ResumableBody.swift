package import HTTPTypes
package import WebImageCore

/// One body over several attempts: which bytes to request, whether an answer continues the available bytes, and which
/// of them to store for later. A pure value; it trusts only strong validators.
package struct ResumableBody: Sendable {
    package struct Rules: Hashable, Sendable {
        /// A shorter beginning is not worth a range request, in bytes. Default 64 KiB.
        package var minimum = 64 << 10
        /// From this length on, the beginning is written to disk during the transfer, so that it survives if the
        /// process is killed; shorter ones are written only if the transfer fails. Default 256 KiB.
        package var keepAfter = 256 << 10
        /// The most bytes of the whole body.
        package var limit = Int.max
        /// Whether the store serves many users, so that answers for one of them must not be kept.
        package var isShared = false
        /// The fields of the answer that are stored.
        package var keptHeaders = KeptHeaders.standard

        package init() {}
    }

    /// What the head of an answer means for the available bytes. If they are forgotten, the claim is discarded.
    package enum HeadAction: Sendable {
        /// The answer's bytes follow the available ones. The given head is that of the whole body; use and store that
        /// one.
        case append(ResponseHead)
        /// The whole body follows, from its first byte on: the available bytes are forgotten.
        case restart
        /// The answer does not fit the available bytes, which are forgotten: send the request again, without
        /// ``fields``.
        case askAgain
        /// The answer is not the picture. The available bytes stay, or are forgotten.
        case leave(forgets: Bool)
        /// `protocolError`: a part that was not requested.
        case fail(WebImageError)
    }

    /// What to do with the copy in the store.
    package enum KeepAction: Hashable, Sendable {
        case nothing
        /// Claim a place, restart it with this metadata, and write all bytes from the first one on.
        case begin(metadata: [UInt8])
        /// Write the new bytes.
        case append
        /// The written bytes stay: release the claim, or hold it for the next attempt.
        case release
        /// Remove the written bytes.
        case discard
    }

    private enum Phase: Hashable {
        case waiting
        /// Has requested the bytes from the given one on.
        case asking(from: Int)
        case receiving
        case ended
    }

    private let rules: Rules
    private let mayResume: Bool
    private let mayWrite: Bool
    /// The digest of the user.
    private let scope: String?
    private var phase = Phase.waiting
    private var point: ResumePoint?
    /// The number of contiguous bytes from the first one on.
    private(set) package var length = 0
    /// Whether the store has the available bytes.
    private var isKept = false

    /// - Parameter mode: with ``CacheMode/noStore`` nothing is written to disk.
    package init(_ request: CacheRequest, mode: CacheMode, rules: Rules = Rules()) {
        self.rules = rules
        mayResume = request.isPlainGet
        // If the user is not known yet, it could not be determined later to whom the stored beginning belongs.
        mayWrite = mode.stores && !request.control.noStore && request.knowsScope
        scope = Self.scope(of: request)
    }

    private static func scope(of request: CacheRequest) -> String? {
        let cookies = request.declaresScope ? nil : request.cookies?("")
        let unverified = request.isUnverified ? StoredResponse.unverified : nil
        let parts = [unverified, request.credentialScope, cookies.map { "cookies " + $0 }].compactMap { $0 }
        return parts.isEmpty ? nil : CredentialScope.digest(parts.joined(separator: "\n").utf8)
    }

    /// Whether to look in the store.
    package var wantsKept: Bool { mayResume && mayWrite && phase == .waiting && length == 0 }

    /// Takes the stored beginning for the request.
    ///
    /// - Returns: false if it cannot be used: discard it.
    package mutating func found(metadata: [UInt8], length: Int) -> Bool {
        guard wantsKept, length >= rules.minimum, let point = ResumePoint(encoded: metadata),
            length < point.total ?? .max, max(length, point.total ?? 0) <= rules.limit, point.response.scope == scope
        else { return false }
        self.point = point
        self.length = length
        isKept = true
        return true
    }

    // MARK: An attempt

    /// The fields to add to the next request. Empty if it is for the whole body.
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

    /// Takes a status whose answer has no body, or not the wanted one.
    package mutating func refused(_ status: Int) -> HeadAction {
        guard case .asking(let offset) = phase else { return .leave(forgets: false) }
        if offset > 0, ResumePoint.mayRefuseTheRange(status) { return startOver() }
        phase = .waiting
        // The picture no longer exists, so the rest cannot be requested.
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

    /// Bytes of the body have arrived.
    package mutating func received(_ count: Int) -> KeepAction {
        guard phase == .receiving else { return .nothing }
        length += count
        if isKept { return .append }
        guard mayWrite, let point, point.mayBeKept(isShared: rules.isShared), length >= rules.keepAfter else {
            return .nothing
        }
        isKept = true
        return .begin(metadata: point.encoded())
    }

    /// Ends the attempt. After a failure that can be retried, ``fields`` and ``didAsk()`` begin the next one, which
    /// continues where this one broke off.
    ///
    /// - Parameter failure: nil if the transport reported a complete body.
    /// - Returns: what to do with the copy in the store, and the error. If bytes are missing, a body that was reported
    ///   as complete ends with an error, too.
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
        guard hadBody, mayWrite, let point, point.mayBeKept(isShared: rules.isShared), length >= rules.minimum else {
            return (.nothing, failure)
        }
        isKept = true
        return (.begin(metadata: point.encoded()), failure)
    }

    private var missing: WebImageError? {
        guard let total = point?.total, length != total else { return nil }
        return WebImageError(.truncatedBody, "the body ended after \(length) of \(total) bytes")
    }

    /// Whether the available bytes are still valid after the failure.
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
