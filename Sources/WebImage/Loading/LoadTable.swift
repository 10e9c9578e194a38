import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Who waits for what: every running load. A value that only decides; the loader carries out what it answers, after
/// the lock.
struct LoadTable {
    /// What a newcomer's load needs.
    enum Joined {
        /// Someone is on the way already; the bytes job is named when it has become more urgent.
        case waiting(BytesJob?)
        /// The first for these bytes.
        case opensBytes(BytesJob)
        /// The bytes are there or coming, but no session that has yet to plan will take this one on.
        case startsSession(BytesJob, OpenedBytes)
        /// The picture is made of one that is there, by further steps.
        case makesSteps(PixelJob, of: PictureBasis)
        case refused(WebImageError)
    }

    /// What is left to do when a token has left.
    struct Left {
        var delivery: LoadToken.Delivery
        var timeout: ScheduledAction?
        var preliminary: Task<Void, Never>?
        /// The bytes job that nobody waits for any more.
        var abandoned: BytesJob?
        /// Whether there are pixels that nobody waits for any more.
        var abandonsPixels = false
        /// The bytes job whose urgency may have changed.
        var relaxed: BytesJob?
    }

    /// Who of those that wait for a job is not at the end of the wait when the job ends.
    enum Staying {
        case nobody
        /// Those who look at the way, not only at the end.
        case watchers
        case everyone
    }

    /// One caller's wait that has ended; what is left to do is to say so.
    struct Ended {
        var token: LoadToken
        var delivery: LoadToken.Delivery
        var timeout: ScheduledAction?
    }

    private(set) var pixelJobs: [PixelKey: PixelJob] = [:]
    private(set) var bytesJobs: [BytesKey: BytesJob] = [:]
    /// Of each original the job that came last, for traces: who comes and does not share it is told why.
    private var newest: [CacheKey: BytesJob] = [:]
    /// Takes nobody in any more.
    var isShutDown = false
    /// Takes in only those that it knows: they may go on from job to job.
    var isDraining = false
    /// Looks for bytes or pictures that no job stands for, and what must come before a job.
    private(set) var preliminaries = 0
    /// Those callers for whom such work is done.
    private var waiting: [ObjectIdentifier: (token: LoadToken, stages: Int)] = [:]
    /// Who waits until nothing runs.
    private var idle: [CancellableAnswer<Void>] = []
    /// Who waits until no picture is waited for that is more urgent than this.
    private var untilQuiet: [(priority: LoadPriority, run: @Sendable () -> Void)] = []

    /// - Parameters:
    ///   - removals: how many there were when the load began.
    ///   - basis: what memory has of the picture; nil: nothing.
    ///   - waiter: makes the token by which a picture waits for the one that it is made of.
    mutating func join(
        _ token: LoadToken, _ request: ImageRequest, _ key: PixelKey, removals: RemovalCounts = RemovalCounts(),
        basis: PictureBasis? = nil, waiter: (_ job: PixelJob, _ steps: Int) -> LoadToken? = { _, _ in nil }
    ) -> Joined {
        if isShutDown || isDraining && !token.isAdmitted { return .refused(Self.shutDownError) }
        token.isAdmitted = true
        if let job = pixelJobs[key] {
            let before = job.bytes.priority
            job.add(token)
            return .waiting(job.bytes.priority == before ? nil : job.bytes)
        }
        if let basis {
            // Its bytes are not needed: whoever needs them is another's concern.
            let bytes = BytesJob(key: key.bytes, request: request, started: token.started, removals: removals)
            let job = PixelJob(key: key, request: request, bytes: bytes, started: token.started)
            job.add(token)
            pixelJobs[key] = job
            bytes.pixelJobs.append(job)
            return .makesSteps(job, of: basis)
        }
        let known = bytesJobs[key.bytes]
        let bytes =
            known
            ?? BytesJob(
                key: key.bytes, request: request, started: token.started, removals: removals,
                other: newest[key.bytes.originalKey])
        let job = PixelJob(key: key, request: request, bytes: bytes, started: token.started)
        job.add(token)
        pixelJobs[key] = job
        guard known != nil else {
            bytes.pixelJobs.append(job)
            bytes.unplanned.append(job)
            bytesJobs[key.bytes] = bytes
            newest[key.bytes.originalKey] = bytes
            return .opensBytes(bytes)
        }
        if bytes.opened != nil, !bytes.hasPlanningSession, let earlier = bytes.basis(for: request, key),
            let waiter = waiter(job, earlier.stepCount)
        {
            bytes.pixelJobs.append(job)
            waiter.isAdmitted = true
            job.basis = waiter
            earlier.add(waiter)
            return .waiting(bytes)
        }
        bytes.pixelJobs.append(job)
        return plan(job)
    }

    /// Has a job's picture made of the bytes that are known already.
    func plan(_ job: PixelJob) -> Joined {
        let bytes = job.bytes
        job.basis = nil
        bytes.unplanned.append(job)
        guard let opened = bytes.opened, !bytes.hasPlanningSession else { return .waiting(bytes) }
        bytes.hasPlanningSession = true
        return .startsSession(bytes, opened)
    }

    /// Takes note of the transfer that a job waits for.
    /// - Returns: how urgent it is by now; nil when nobody waits for it any more.
    func follow(_ download: Download, for job: BytesJob) -> LoadPriority? {
        guard !job.pixelJobs.isEmpty else { return nil }
        job.download = download
        return job.priority
    }

    /// Takes note of where a job's bytes come from.
    /// - Returns: how urgent they are by now; nil when nobody waits for them any more.
    func open(_ job: BytesJob, _ opened: OpenedBytes) -> LoadPriority? {
        guard !job.pixelJobs.isEmpty else { return nil }
        job.opened = opened
        job.hasPlanningSession = true
        return job.priority
    }

    /// Hands what no session has taken on to the session that asks.
    ///
    /// - Parameter header: what the session plans by; nil: it ends without a plan.
    func takeUnplanned(_ job: BytesJob, _ header: ImageHeader? = nil) -> [PixelJob] {
        if let header { job.isStill = header.frameCount == 1 }
        defer { job.unplanned = [] }
        job.hasPlanningSession = false
        return job.unplanned
    }

    /// Ends one token's wait; nil when it had ended before.
    mutating func leave(_ token: LoadToken) -> Left? {
        guard !token.hasEnded else { return nil }
        token.hasEnded = true
        guard let delivery = token.delivery else { return nil }
        var left = Left(delivery: delivery, timeout: token.timeout, preliminary: token.preliminary)
        token.preliminary = nil
        token.delivery = nil
        token.timeout = nil
        guard let job = token.job else { return left }
        let before = job.bytes.priority
        job.remove(token)
        if job.tokens.isEmpty {
            remove(job)
            job.abandon()
            left.abandonsPixels = true
            // What it was to be made of may be wanted by nobody else.
            if let basis = job.basis { _ = leave(basis) }
        }
        if job.bytes.pixelJobs.isEmpty {
            job.bytes.isAbandoned.store(true, ordering: .relaxed)
            left.abandoned = job.bytes
        } else if job.bytes.priority != before {
            left.relaxed = job.bytes
        }
        return left
    }

    /// Makes one token more or less urgent.
    /// - Returns: the bytes job whose urgency has changed by that.
    func setPriority(_ priority: LoadPriority, of token: LoadToken) -> BytesJob? {
        let old = token.currentPriority
        token.currentPriority = priority
        guard let bytes = token.job?.bytes, old != priority else { return nil }
        let before = bytes.priority
        bytes.priorities.remove(old)
        bytes.priorities.add(priority)
        return bytes.priority == before ? nil : bytes
    }

    /// Ends a pixel job: whoever waits for it gets an error from the caller.
    mutating func finish(_ job: PixelJob) -> [Ended] { finish(job, keeping: .nobody, stores: false).ended }

    /// Ends a pixel job.
    ///
    /// - Parameters:
    ///   - stay: these leave the job, and go on to another one that they are to join.
    ///   - stores: whether there may be something to store, for which some wait.
    mutating func finish(
        _ job: PixelJob, keeping stay: Staying, stores: Bool = true
    ) -> (ended: [Ended], staying: [Ended]) {
        // A pixel job in the table has a token; one that has ended, or that everyone left, has none.
        guard !job.tokens.isEmpty else { return ([], []) }
        remove(job)
        var (ended, staying): ([Ended], [Ended]) = ([], [])
        ended.reserveCapacity(job.tokens.count)
        for token in job.tokens {
            guard let delivery = token.delivery else {
                token.hasEnded = true
                continue
            }
            let end = Ended(token: token, delivery: delivery, timeout: token.timeout)
            if stay == .everyone || stay == .watchers && token.isWatching {
                staying.append(end)
                continue
            }
            ended.append(end)
            // It may still leave, or run out of time, while the store is waited for; see `endStoring`.
            if stores, token.waitsForStore { continue }
            token.hasEnded = true
            token.delivery = nil
            token.timeout = nil
        }
        job.removeAll()
        return (ended, staying)
    }

    /// Ends the wait of a token whose job has ended and whose store is done; nil when it has left.
    func endStoring(_ token: LoadToken) -> Ended? {
        guard !token.hasEnded, let delivery = token.delivery else { return nil }
        token.hasEnded = true
        defer { (token.delivery, token.timeout) = (nil, nil) }
        return Ended(token: token, delivery: delivery, timeout: token.timeout)
    }

    /// Ends everything that waits for some bytes, in one step: who comes later begins anew.
    mutating func finishAll(of job: BytesJob) -> [Ended] { job.pixelJobs.flatMap { finish($0) } }

    static let shutDownError = WebImageError(.shutDown, "the image manager was shut down")

    private var isIdle: Bool { pixelJobs.isEmpty && preliminaries == 0 }

    /// Takes in one who looks for something before, or without, a job.
    ///
    /// - Returns: false when nobody is taken in any more. Else ``endPreliminary()`` must follow.
    mutating func beginPreliminary(for token: LoadToken? = nil) -> Bool {
        if isShutDown || isDraining { return false }
        preliminaries += 1
        if let token { waiting[ObjectIdentifier(token), default: (token, 0)].stages += 1 }
        return true
    }

    mutating func endPreliminary(of token: LoadToken? = nil) {
        preliminaries -= 1
        guard let token else { return }
        let key = ObjectIdentifier(token)
        waiting[key]?.stages -= 1
        if waiting[key]?.stages == 0 { waiting[key] = nil }
    }

    /// All callers that wait for a picture.
    var tokens: [LoadToken] { pixelJobs.values.flatMap(\.tokens) + waiting.values.map(\.token) }

    /// - Returns: false when nothing runs: there is nothing to wait for.
    mutating func waitUntilIdle(_ answer: CancellableAnswer<Void>) -> Bool {
        if isIdle { return false }
        idle.append(answer)
        return true
    }

    /// Whether no picture is waited for that is more urgent than this.
    private func isQuiet(above priority: LoadPriority) -> Bool {
        !pixelJobs.values.contains { $0.bytes.priority > priority }
            && !waiting.values.contains { $0.token.currentPriority > priority && !$0.token.hasEnded }
    }

    /// - Returns: false when it is quiet: there is nothing to wait for. Else `run` is among ``takeQuiet()`` once it is.
    mutating func whenQuiet(above priority: LoadPriority, _ run: @escaping @Sendable () -> Void) -> Bool {
        if isQuiet(above: priority) { return false }
        untilQuiet.append((priority, run))
        return true
    }

    /// What has waited long enough for quiet.
    mutating func takeQuiet() -> [@Sendable () -> Void] {
        if untilQuiet.isEmpty { return [] }
        let all = untilQuiet
        untilQuiet = all.filter { !isQuiet(above: $0.priority) }
        return all.filter { isQuiet(above: $0.priority) }.map(\.run)
    }

    /// Whether somebody waits until little runs.
    var isAwaited: Bool { !idle.isEmpty || !untilQuiet.isEmpty }

    /// Those who have waited long enough.
    mutating func takeIdle() -> [CancellableAnswer<Void>] {
        guard isIdle, !idle.isEmpty else { return [] }
        defer { idle = [] }
        return idle
    }

    /// Ends everything, for good.
    ///
    /// - Returns: also those who have come to no job yet, who are to leave.
    mutating func shutDown() -> (ended: [Ended], bytesJobs: [BytesJob], waiting: [LoadToken]) {
        isShutDown = true
        let (jobs, abandoned) = (Array(pixelJobs.values), Array(bytesJobs.values))
        for job in jobs { job.abandon() }
        // Not those of the bytes jobs alone: what is made of a picture in memory needs no bytes.
        return (jobs.flatMap { finish($0) }, abandoned, waiting.values.map(\.token))
    }

    private mutating func remove(_ job: PixelJob) {
        pixelJobs[job.key] = nil
        let bytes = job.bytes
        bytes.pixelJobs.removeAll { $0 === job }
        bytes.unplanned.removeAll { $0 === job }
        guard bytes.pixelJobs.isEmpty, bytesJobs[bytes.key] === bytes else { return }
        bytesJobs[bytes.key] = nil
        if newest[bytes.key.originalKey] === bytes { newest[bytes.key.originalKey] = nil }
    }
}
