import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

/// The table of running loads and their waiters. It is a value that only decides; the loader carries out its decisions
/// after releasing the lock.
struct LoadTable {
    /// What the load of a new waiter needs.
    enum Joined {
        /// The work is running already; the bytes job is given if its priority has risen.
        case waiting(BytesJob?)
        /// The waiter is the first for these bytes, so they must be searched.
        case opensBytes(BytesJob)
        /// The bytes are there or arriving, but every session has made its plan, so this job needs a new session.
        case startsSession(BytesJob, OpenedBytes)
        /// The picture is made from an existing one by further steps.
        case makesSteps(PixelJob, of: PictureBasis)
        case refused(WebImageError)
    }

    /// The work that remains when a token has left.
    struct Left {
        var delivery: LoadToken.Delivery
        var timeout: ScheduledAction?
        var preliminary: Task<Void, Never>?
        /// The bytes job, if it has no waiters left.
        var abandoned: BytesJob?
        /// Whether a pixel job has no waiters left.
        var abandonsPixels = false
        /// The bytes job whose priority may have changed.
        var relaxed: BytesJob?
    }

    /// Which waiters of a job keep waiting when the job ends.
    enum Staying {
        case nobody
        /// The waiters that follow progress, not only the result.
        case watchers
        case everyone
    }

    /// The ended wait of one caller, which must still be answered.
    struct Ended {
        var token: LoadToken
        var delivery: LoadToken.Delivery
        var timeout: ScheduledAction?
    }

    private(set) var pixelJobs: [PixelKey: PixelJob] = [:]
    private(set) var bytesJobs: [BytesKey: BytesJob] = [:]
    /// The newest job of each original, for traces: they say why a load does not share it.
    private var newest: [CacheKey: BytesJob] = [:]
    /// Whether no loads are accepted any more.
    var isShutDown = false
    /// Whether only waiters that were accepted before are accepted. These may still move from job to job.
    var isDraining = false
    /// The number of look-ups without a job, and of work that must happen before a job.
    private(set) var preliminaries = 0
    /// The originals that are revalidated in the background for callers that wanted no picture.
    var revalidated: Set<BytesKey> = []
    /// The callers for whom such work is done.
    private var waiting: [ObjectIdentifier: (token: LoadToken, stages: Int)] = [:]
    /// The callers that have their picture and wait for the store of its original.
    private var storing: [ObjectIdentifier: LoadToken] = [:]
    /// The waiters for the moment when nothing runs.
    private var idle: [CancellableAnswer<Void>] = []
    /// The waiters for the moment when no load of a higher priority has waiters.
    private var untilQuiet: [(priority: LoadPriority, run: @Sendable () -> Void)] = []

    /// - Parameters:
    ///   - removals: the last removals before the load began.
    ///   - basis: a picture in memory from which this one can be made; nil: none.
    ///   - waiter: makes the token by which a picture waits for the one that it is made of.
    mutating func join(
        _ token: LoadToken, _ request: ImageRequest, _ key: PixelKey, removals: RemovalNumbers = RemovalNumbers(),
        basis: PictureBasis? = nil, waiter: (_ job: PixelJob, _ steps: Int) -> LoadToken? = { _, _ in nil }
    ) -> Joined {
        if isShutDown || isDraining && !token.isAdmitted { return .refused(Self.shutDownError) }
        token.isAdmitted = true
        if let job = pixelJobs[key] {
            let before = job.bytes.priority
            job.add(token)
            return .waiting(job.bytes.priority == before ? nil : job.bytes)
        }
        // A picture that is made of another one needs no bytes, so it does not join those that do.
        let known = basis == nil ? bytesJobs[key.bytes] : nil
        let bytes =
            known
            ?? BytesJob(
                key: key.bytes, request: request, started: token.started, removals: removals,
                other: basis == nil ? newest[key.bytes.originalKey] : nil)
        let earlier = bytes.opened == nil || bytes.hasPlanningSession ? nil : bytes.basis(for: request, key)
        let job = PixelJob(key: key, request: request, bytes: bytes, started: token.started)
        job.add(token)
        pixelJobs[key] = job
        bytes.pixelJobs.append(job)
        if let basis { return .makesSteps(job, of: basis) }
        guard known != nil else {
            bytes.unplanned.append(job)
            bytesJobs[key.bytes] = bytes
            newest[key.bytes.originalKey] = bytes
            return .opensBytes(bytes)
        }
        if let earlier, let waiter = waiter(job, earlier.stepCount) {
            waiter.isAdmitted = true
            job.basis = waiter
            earlier.add(waiter)
            return .waiting(bytes)
        }
        return plan(job)
    }

    /// Makes a job's picture from the bytes that are known already.
    func plan(_ job: PixelJob) -> Joined {
        let bytes = job.bytes
        job.basis = nil
        bytes.unplanned.append(job)
        guard let opened = bytes.opened, !bytes.hasPlanningSession else { return .waiting(bytes) }
        bytes.hasPlanningSession = true
        return .startsSession(bytes, opened)
    }

    /// Records the transfer that a job waits for.
    /// - Returns: its current priority; nil if it has no waiters left.
    func follow(_ download: Download, for job: BytesJob) -> LoadPriority? {
        guard !job.pixelJobs.isEmpty else { return nil }
        job.download = download
        return job.priority
    }

    /// Records where a job's bytes come from.
    /// - Returns: their current priority; nil if they have no waiters left.
    func open(_ job: BytesJob, _ opened: OpenedBytes) -> LoadPriority? {
        guard !job.pixelJobs.isEmpty else { return nil }
        job.opened = opened
        job.hasPlanningSession = true
        return job.priority
    }

    /// Hands the jobs that no session has taken on to the session that asks.
    ///
    /// - Parameter header: the header by which the session plans; nil: it ends without a plan.
    func takeUnplanned(_ job: BytesJob, _ header: ImageHeader? = nil) -> [PixelJob] {
        if let header { job.isStill = !header.mayBeAnimated }
        defer { job.unplanned = [] }
        job.hasPlanningSession = false
        return job.unplanned
    }

    /// Ends one token's wait; nil if it had ended before.
    mutating func leave(_ token: LoadToken) -> Left? {
        guard !token.hasEnded else { return nil }
        token.hasEnded = true
        if token.waitsForStore { storing[ObjectIdentifier(token)] = nil }
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
            // The picture from which it was to be made may have no other waiters.
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

    /// Changes the priority of one token.
    /// - Returns: the bytes job whose priority has changed by that.
    func setPriority(_ priority: LoadPriority, of token: LoadToken) -> BytesJob? {
        let old = token.currentPriority
        token.currentPriority = priority
        token.hasChangedPriority = true
        guard let bytes = token.job?.bytes, old != priority else { return nil }
        let before = bytes.priority
        bytes.priorities.remove(old)
        bytes.priorities.add(priority)
        return bytes.priority == before ? nil : bytes
    }

    /// Ends a pixel job. The caller of this function tells its waiters the error.
    mutating func finish(_ job: PixelJob) -> [Ended] { finish(job, keeping: .nobody, stores: false).ended }

    /// Ends a pixel job.
    ///
    /// - Parameters:
    ///   - stay: the waiters that leave the job to join another one.
    ///   - stores: whether there may be a store for which some waiters wait.
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
            // It may still cancel or time out while it waits for the store; see `endStoring`.
            if stores, token.waitsForStore {
                storing[ObjectIdentifier(token)] = token
                continue
            }
            token.hasEnded = true
            token.delivery = nil
            token.timeout = nil
        }
        job.removeAll()
        return (ended, staying)
    }

    /// Begins the wait of a token without a job for stores that others have begun; false if it has ended already.
    mutating func beginStoring(_ token: LoadToken, _ delivery: LoadToken.Delivery) -> Bool {
        if token.hasEnded { return false }
        token.delivery = delivery
        token.preliminary = nil
        storing[ObjectIdentifier(token)] = token
        return true
    }

    /// Ends the wait of a token whose job has ended and whose store is done; nil when it has left.
    mutating func endStoring(_ token: LoadToken) -> Ended? {
        storing[ObjectIdentifier(token)] = nil
        guard !token.hasEnded, let delivery = token.delivery else { return nil }
        token.hasEnded = true
        defer { (token.delivery, token.timeout) = (nil, nil) }
        return Ended(token: token, delivery: delivery, timeout: token.timeout)
    }

    /// Ends all waits for a job's bytes in one step; later loads start again.
    mutating func finishAll(of job: BytesJob) -> [Ended] { job.pixelJobs.flatMap { finish($0) } }

    static let shutDownError = WebImageError(.shutDown, "the image manager was shut down")

    private var isIdle: Bool { pixelJobs.isEmpty && preliminaries == 0 }

    /// Registers work before, or without, a job.
    ///
    /// - Returns: false if no loads are accepted any more. Otherwise ``endPreliminary()`` must follow.
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

    /// All callers that wait for a picture, or for its store.
    var tokens: [LoadToken] {
        pixelJobs.values.flatMap(\.tokens) + waiting.values.map(\.token) + storing.values
    }

    /// The number of pictures that are made, and of callers whose loads have not come to one: they wait for a modifier,
    /// an interceptor, the network or a look-up.
    var runningCount: Int {
        pixelJobs.count
            + waiting.values.count { caller in
                // If an interceptor has started an inner load for the caller, that load is counted instead.
                !caller.token.hasEnded && caller.token.job == nil && caller.token.inner?.hasEnded != false
            }
    }

    /// - Returns: false if nothing runs, so that there is nothing to wait for.
    mutating func waitUntilIdle(_ answer: CancellableAnswer<Void>) -> Bool {
        if isIdle { return false }
        idle.append(answer)
        return true
    }

    /// Whether no load of a higher priority has waiters.
    private func isQuiet(above priority: LoadPriority) -> Bool {
        !pixelJobs.values.contains { $0.bytes.priority > priority }
            && !waiting.values.contains { $0.token.currentPriority > priority && !$0.token.hasEnded }
    }

    /// - Returns: false if it is quiet already. Otherwise ``takeQuiet()`` returns `run` when it is.
    mutating func whenQuiet(above priority: LoadPriority, _ run: @escaping @Sendable () -> Void) -> Bool {
        if isQuiet(above: priority) { return false }
        untilQuiet.append((priority, run))
        return true
    }

    /// Returns the closures that waited for quiet, if it is quiet now.
    mutating func takeQuiet() -> [@Sendable () -> Void] {
        if untilQuiet.isEmpty { return [] }
        let all = untilQuiet
        untilQuiet = all.filter { !isQuiet(above: $0.priority) }
        return all.filter { isQuiet(above: $0.priority) }.map(\.run)
    }

    /// Whether anyone waits for idleness or quiet.
    var isAwaited: Bool { !idle.isEmpty || !untilQuiet.isEmpty }

    /// Returns the waiters for idleness, if nothing runs now.
    mutating func takeIdle() -> [CancellableAnswer<Void>] {
        guard isIdle, !idle.isEmpty else { return [] }
        defer { idle = [] }
        return idle
    }

    /// Ends everything, for good.
    ///
    /// - Returns: also the tokens that have not joined a job yet, which must leave.
    mutating func shutDown() -> (ended: [Ended], bytesJobs: [BytesJob], waiting: [LoadToken]) {
        isShutDown = true
        let (jobs, abandoned) = (Array(pixelJobs.values), Array(bytesJobs.values))
        for job in jobs { job.abandon() }
        // All pixel jobs end, not only those of the bytes jobs: a picture that is made from one in memory needs no
        // bytes.
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
