import Synchronization
package import WebImageCore
import WebImageSystem

/// A copy of a transfer's bytes that survives the process: it reads the transfer's log and writes to a claim on the
/// store as ``ResumableBody`` says, in order, on the I/O executor. It never slows the transfer, and holds no bytes of
/// its own.
///
/// Safe to use from any thread; only ``find()`` blocks.
package final class PartialCopy: Sendable {
    private enum Step {
        case begin(metadata: [UInt8], isWanted: @Sendable () -> Bool)
        case copy
        case end(keeping: Bool)
        case tell(@Sendable () -> Void)
    }

    private struct State {
        var waiting = FIFO<(step: Step, log: ByteLog?)>()
        /// Whether the last waiting step is a copy: one is enough for all bytes.
        var endsInCopy = false
        var isRunning = false
    }

    /// The state of the thread that runs a step; the state's `isRunning` ensures that there is only one.
    private struct Work {
        var claim: (any PartialBody)?
        var metadata: [UInt8]?
        /// Whether the claim has no more room.
        var isFull = false
    }

    private let key: CacheKey
    private let store: any PartialBodyStore
    private let executor: any WorkExecutor
    private let announce: @Sendable () -> @Sendable () -> Void
    private let state = Guarded(State())
    private let work = Guarded(Work())

    /// - Parameter announce: called when there are bytes to write; returns a function that is called when they are
    ///   written.
    package init(
        _ key: CacheKey, store: any PartialBodyStore, executor: any WorkExecutor,
        announce: @escaping @Sendable () -> @Sendable () -> Void = { {} }
    ) {
        self.key = key
        self.announce = announce
        self.store = store
        self.executor = executor
    }

    /// False if the store certainly has nothing for ``find()`` to return.
    package var mayFind: Bool { store.mayHave(key) }

    /// Returns the beginning that an earlier transfer stored. Blocks; must be called first.
    package func find() -> (any PartialBody)? {
        guard let claim = store.claim(key, creates: false), let metadata = claim.metadata else { return nil }
        work.withLock { work in
            work.claim = claim
            work.metadata = metadata
        }
        return claim
    }

    /// Carries out an action of ``ResumableBody``; the bytes are in the log by now.
    ///
    /// - Parameter isWanted: false if the body was removed since its load began; nothing is then stored.
    package func carryOut(
        _ action: ResumableBody.KeepAction, _ log: ByteLog, isWanted: @escaping @Sendable () -> Bool = { true }
    ) {
        switch action {
        case .nothing: break
        case .begin(let metadata):
            add(.begin(metadata: metadata, isWanted: isWanted), log)
            add(.copy, log)
        case .append: add(.copy, log)
        case .release:
            add(.copy, log)
            add(.end(keeping: true), nil)
        case .discard: forget()
        }
    }

    /// After a final failure: leaves the stored bytes, and those in the log, for a later transfer.
    ///
    /// - Parameter isWanted: as in ``carryOut(_:_:isWanted:)``.
    package func close(
        _ action: ResumableBody.KeepAction, _ log: ByteLog, isWanted: @escaping @Sendable () -> Bool = { true }
    ) {
        carryOut(action, log, isWanted: isWanted)
        if case .begin = action { add(.end(keeping: true), nil) }
    }

    /// Discards the stored bytes: the body has changed, or is not a picture.
    package func forget() { add(.end(keeping: false), nil) }

    /// Announces that bytes will be written, before it is known which.
    ///
    /// - Returns: a function to call when the bytes have been given to this object; the announcement lasts until they
    ///   are written.
    package func promise() -> @Sendable () -> Void {
        let told = announce()
        return { self.add(.tell(told), nil) }
    }

    // MARK: Steps

    private func add(_ step: Step, _ log: ByteLog?) {
        let starts = state.withLock { state -> Bool in
            var isCopy = false
            if case .copy = step { isCopy = true }
            if isCopy, state.endsInCopy { return false }
            state.endsInCopy = isCopy
            state.waiting.append((step, log))
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard starts else { return }
        let told = announce()
        executor.run(.low) {
            self.run()
            told()
        }
    }

    private func run() {
        while let (step, log) = next() {
            if case .tell(let told) = step { told() }
            // Steps run one at a time: the lock is free.
            work.withLock { work in
                switch step {
                case .begin(let metadata, let isWanted): begin(metadata, isWanted, &work)
                case .copy: if let log { copy(log, &work) }
                case .end(let keeping): end(keeping, &work)
                case .tell: break
                }
            }
        }
    }

    private func next() -> (step: Step, log: ByteLog?)? {
        state.withLock { state in
            guard let next = state.waiting.popFirst() else {
                state.isRunning = false
                return nil
            }
            if state.waiting.first == nil { state.endsInCopy = false }
            return next
        }
    }

    private func begin(_ metadata: [UInt8], _ isWanted: () -> Bool, _ work: inout Work) {
        let claim = work.claim ?? store.claim(key, creates: true)
        // Checked after the claim: a removal either came before and is seen here, or removes the claimed file.
        guard isWanted() else {
            work.claim = claim
            return end(false, &work)
        }
        work.metadata = metadata
        work.isFull = !(claim?.restart(metadata: metadata) ?? false)
        work.claim = claim
    }

    private func copy(_ log: ByteLog, _ work: inout Work) {
        // A claim that was released is continued if it is unchanged.
        if work.claim == nil, let metadata = work.metadata, !work.isFull {
            work.claim = store.claim(key, creates: false)
            if work.claim?.metadata != metadata { work.claim = nil }
        }
        guard let claim = work.claim, !work.isFull else { return }
        while case .chunk(let chunk) = log.read(at: claim.length) {
            guard chunk.withUnsafeBytes({ claim.append($0) }) else {
                work.isFull = true
                return
            }
        }
    }

    private func end(_ keeping: Bool, _ work: inout Work) {
        if keeping {
            work.claim?.release()
        } else {
            (work.claim ?? store.claim(key, creates: false))?.discard()
            work.metadata = nil
            work.isFull = false
        }
        work.claim = nil
    }
}
