import WebImageCore

/// The clocks of one transfer. A pure value: callers pass the time. Idle and speed clocks stop while we pause the
/// transfer.
struct TransferClocks: Sendable {
    private enum Phase {
        case waiting
        /// Modifiers and credential providers are running.
        case preparing(since: Duration)
        case connecting(since: Duration)
        case awaitingHead(since: Duration)
        case receiving
        /// The rest of an unwanted body is read.
        case draining(until: Duration)
        /// Waits for the next attempt.
        case resting(until: Duration)
        case stopped
    }

    /// The deadline that has passed.
    enum Due {
        case nothing
        case failure(WebImageError)
        /// Reading the rest of an unwanted body takes too long.
        case endOfDrain
        /// The next attempt may begin.
        case endOfRest
    }

    private let deadlines: DownloadDeadlines
    private var totalDeadline: Duration?
    private var phase = Phase.waiting
    private var lastActivity = Duration.zero
    private var windowStart = Duration.zero
    private var windowBytes = 0
    private var pausedSince: Duration?
    /// Nil: slow transfers are not detected.
    private let patience: Duration?
    private var crawlCheck: Duration?
    private var bytesSinceCheck = 0
    /// True if fewer bytes than ``crawlingSpeed`` demands arrived in a whole ``patience``, until the speed rises.
    private(set) var isCrawling = false

    /// Bytes a second.
    static let crawlingSpeed = 1024
    private static let shortestWindow = Duration.milliseconds(100)

    /// - Parameter patience: how long a running transfer is observed before it may count as slow; nil: it never does.
    init(_ deadlines: DownloadDeadlines, createdAt now: Duration, patience: Duration? = nil) {
        self.deadlines = deadlines
        self.patience = patience
        totalDeadline = deadlines.total.map { now + $0 }
    }

    mutating func wait() { phase = .waiting }
    mutating func prepare(at now: Duration) {
        phase = .preparing(since: now)
        watch(from: now)
    }

    mutating func rest(until end: Duration) { phase = .resting(until: end) }
    mutating func connect(at now: Duration) {
        phase = .connecting(since: now)
        watch(from: now)
    }

    mutating func awaitHead(at now: Duration) { phase = .awaitingHead(since: now) }

    mutating func receive(at now: Duration) {
        phase = .receiving
        lastActivity = now
        windowStart = now
        windowBytes = 0
        pausedSince = nil
    }

    mutating func drain(until end: Duration) { phase = .draining(until: end) }

    /// Drops the total deadline: the caller has its answer, and only the rest of the body is still discarded.
    mutating func forgetTotal() { totalDeadline = nil }
    mutating func stop() { phase = .stopped }

    mutating func noteBytes(_ count: Int, at now: Duration) {
        lastActivity = now
        windowBytes += count
        bytesSinceCheck += count
    }

    mutating func pause(at now: Duration) {
        if pausedSince == nil { pausedSince = now }
    }

    mutating func resume(at now: Duration) {
        guard let since = pausedSince else { return }
        pausedSince = nil
        lastActivity += now - since
        windowStart += now - since
    }

    /// Whether the total deadline allows the transfer to continue at `time`.
    func allows(_ time: Duration) -> Bool { totalDeadline.map { time < $0 } ?? true }

    /// The next deadline.
    var next: Duration? {
        if case .stopped = phase { return nil }
        var next = totalDeadline
        if let end = phaseEnd { next = min(next ?? end, end) }
        if let end = windowEnd { next = min(next ?? end, end) }
        if isRunning, let crawlCheck { next = min(next ?? crawlCheck, crawlCheck) }
        return next
    }

    /// Whether the transport is working on it, as far as is known.
    private var isRunning: Bool {
        switch phase {
        case .preparing, .connecting, .awaitingHead, .receiving: true
        case .waiting, .draining, .resting, .stopped: false
        }
    }

    // MARK: Slow transfers

    /// Begins an observation. It ends at a whole multiple of the patience, so that all transfers are checked together.
    private mutating func watch(from now: Duration) {
        guard let patience else { return }
        bytesSinceCheck = 0
        crawlCheck = patience * Int((now + patience + patience) / patience)
    }

    /// Judges the speed since the last check.
    ///
    /// - Returns: whether a check was due.
    mutating func judgeSpeed(at now: Duration) -> Bool {
        guard isRunning, let patience, let end = crawlCheck, end <= now else { return false }
        let wanted = patience / .seconds(1) * Double(Self.crawlingSpeed)
        // The bytes of a paused transfer say nothing about its speed.
        if pausedSince == nil { isCrawling = Double(bytesSinceCheck) < wanted }
        watch(from: now)
        return true
    }

    private var phaseEnd: Duration? {
        switch phase {
        case .preparing(let since), .connecting(let since): deadlines.connect.map { since + $0 }
        case .awaitingHead(let since): deadlines.firstByte.map { since + $0 }
        case .receiving where pausedSince == nil: deadlines.idle.map { lastActivity + $0 }
        case .draining(let end), .resting(let end): end
        case .waiting, .receiving, .stopped: nil
        }
    }

    private var windowEnd: Duration? {
        guard case .receiving = phase, pausedSince == nil, let speed = deadlines.minimumSpeed else { return nil }
        // Without a least length, a window of zero would end again at each check.
        return windowStart + max(speed.window, Self.shortestWindow)
    }

    mutating func expire(at now: Duration) -> Due {
        if case .stopped = phase { return .nothing }
        if case .resting(let end) = phase, end <= now { return .endOfRest }
        if let end = phaseEnd, end <= now {
            guard let failure = phaseFailure else { return .endOfDrain }
            return .failure(failure)
        }
        if let end = windowEnd, end <= now, let speed = deadlines.minimumSpeed {
            let wanted = Double(speed.bytesPerSecond) * ((now - windowStart) / .seconds(1))
            if Double(windowBytes) < wanted {
                let message =
                    "\(windowBytes) bytes in \((now - windowStart).inWords), less than \(speed.bytesPerSecond) a second"
                return .failure(WebImageError(.tooSlow, message))
            }
            windowStart = now
            windowBytes = 0
        }
        if let totalDeadline, totalDeadline <= now, let total = deadlines.total {
            return .failure(WebImageError(.deadlineExceeded, "the download took longer than \(total.inWords)"))
        }
        return .nothing
    }

    private var phaseFailure: WebImageError? {
        switch phase {
        case .preparing:
            WebImageError(
                .connectTimeout, "the request was not ready to be sent within \((deadlines.connect ?? .zero).inWords)")
        case .connecting:
            WebImageError(.connectTimeout, "no connection within \((deadlines.connect ?? .zero).inWords)")
        case .awaitingHead:
            WebImageError(
                .firstByteTimeout, "connected, but no answer within \((deadlines.firstByte ?? .zero).inWords)")
        case .receiving:
            WebImageError(.idleTimeout, "the body stood still for \((deadlines.idle ?? .zero).inWords)")
        case .waiting, .draining, .resting, .stopped: nil
        }
    }
}
