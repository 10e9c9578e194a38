import Synchronization
import WebImageCodecs
import WebImageCore
import WebImageDownload

/// Waiting for bytes, memory or a turn. Meanwhile a session holds no thread, and no memory that other decodes need.
extension DecodeSession {
    func resume() {
        pace.meter.ask(at: service.clock.now)
        executor.run(client.priority, for: client.owner) { self.run() }
    }

    /// Vector pictures have their own threads, since drawing them may take any time.
    private var executor: any WorkExecutor { hold.turn == .takenForVectors ? service.vectorExecutor : service.executor }

    /// Continues when there are more bytes, or when a delayed preview is due, whichever comes first.
    func waitForBytes() {
        park()
        if hold.waitsForEnd, !work.isComplete {
            // Progress is still reported.
            if client.isWatched {
                reading.log.whenReadable(after: reading.log.receivedCount) { self.resume() }
            } else {
                reading.log.whenEnded { self.resume() }
            }
            return
        }
        let place = work.isComplete ? Int.max : reading.offset
        guard pace.previews.isOwed, !work.isComplete else {
            reading.log.whenReadable(after: place) { self.resume() }
            return
        }
        // Read before the callbacks are registered: from then on another thread may run this session.
        let next = pace.previews.next
        let hasResumed = OnceFlag()
        reading.log.whenReadable(after: place) { if hasResumed.raise() { self.resume() } }
        _ = service.clock.schedule(at: next) { if hasResumed.raise() { self.resume() } }
    }

    /// Parks the memory while there is nothing to decode.
    func park() {
        guard let memory = hold.memory, hold.parked == nil else { return }
        let held = HeldDecode(decoder: work.decoder, targets: work.targets)
        work.decoder = nil
        work.targets = []
        hold.memory = nil
        hold.parked = service.memory.park(memory, client.priority, held)
    }

    /// Continues with the parked decode. If another decode needed the memory, it starts again when all bytes have
    /// arrived. So it loses its work at most once, however slowly they arrive.
    func unpark() {
        guard let parked = hold.parked else { return }
        hold.parked = nil
        guard let share = service.memory.unpark(parked), let held = share.content as? HeldDecode<Client.Order> else {
            hold.waitsForEnd = true
            return restart()
        }
        (hold.memory, work.decoder, work.targets) = (share.amount, held.decoder, held.targets)
    }

    /// Queues for the memory, and then decodes from the log's start. It is called only after the decoder was left,
    /// since the next run may begin on another thread before this has returned. A session whose bytes are still
    /// arriving does not queue, because it would take memory from sessions that can go on.
    func waitForMemory() {
        hold.waitsForMemory = false
        restart()
        guard reading.log.end != nil else {
            hold.waitsForEnd = true
            return waitForBytes()
        }
        let memory = plan.group?.memory ?? 0
        let isNow = service.memory.take(memory, client.priority, for: client.owner, isWanted: { !self.isAbandoned }) {
            isAdmitted in
            self.resume(admitted: isAdmitted ? memory : nil)
        }
        if isNow { resume(admitted: memory) }
    }

    /// Queues for a turn for decodes that cannot be interrupted, and then decodes from the log's start.
    ///
    /// - Returns: false if it has the turn already, and this thread may run the decode.
    func waitForTurn() -> Bool {
        restart()
        pace.meter.end(at: service.clock.now)
        let (turns, taken) =
            hold.needsVectorTurn ? (service.vectorTurns, LongDecodeTurn.takenForVectors) : (service.longTurns, .taken)
        // Read before the session queues: from then on another thread may run this session.
        let patience = plan.recipe.decoding.limits.time
        let answer = OnceFlag()
        let isNow = turns.take(
            1, client.priority, for: client.owner, isWanted: { !self.isAbandoned && !answer.isRaised },
            orLater: { isAdmitted in
                if answer.raise() {
                    self.resume(with: isAdmitted ? taken : .needed)
                } else if isAdmitted {
                    turns.give(1)
                }
            })
        guard isNow else {
            giveUp(answer, whenNoneEndsOf: turns, within: patience)
            return true
        }
        if hold.needsVectorTurn {
            resume(with: taken)
            return true
        }
        hold.turn = taken
        pace.meter.begin(at: service.clock.now)
        return false
    }

    /// Ends the wait for a turn with an error if no holder of a turn has finished for as long as one decode may take:
    /// the holders are then stuck in their libraries.
    private func giveUp(_ answer: OnceFlag, whenNoneEndsOf turns: Admission, within patience: Duration) {
        let given = turns.givenCount
        _ = service.clock.schedule(at: service.clock.now + patience) { [weak self] in
            guard let self, !answer.isRaised else { return }
            if turns.givenCount != given { return giveUp(answer, whenNoneEndsOf: turns, within: patience) }
            guard answer.raise() else { return }
            turns.noteLeft()
            service.executor.run(client.priority) {
                self.fail(
                    WebImageError(
                        .decoderUnavailable,
                        "every decoder of this kind is busy with a picture that takes too long; try again later"))
            }
        }
    }

    /// Call it only while no run is active.
    private func resume(with turn: LongDecodeTurn) {
        hold.turn = turn
        resume()
    }

    private func resume(admitted: Int?) {
        executor.run(client.priority, for: client.owner) {
            self.hold.memory = admitted
            self.run()
        }
    }

    func giveBack() { handOver().giveBack() }

    /// Hands over the session's memory and turn; the new holder returns them.
    func handOver() -> HeldShare {
        defer {
            (hold.memory, hold.turn) = (nil, .notNeeded)
            (work.decoder, work.targets) = (nil, [])
        }
        return HeldShare(service: service, memory: hold.memory, turn: hold.turn)
    }
}

/// The shares of the budgets that a session holds.
struct HeldShare: Sendable {
    let service: DecodeService
    let memory: Int?
    let turn: LongDecodeTurn

    func giveBack() {
        if let memory { service.memory.give(memory) }
        switch turn {
        case .taken: service.longTurns.give(1)
        case .takenForVectors: service.vectorTurns.give(1)
        case .notNeeded, .needed: break
        }
    }
}

/// The partial result of a decode that waits for bytes.
private final class HeldDecode<Order: PictureOrder>: @unchecked Sendable {
    // Sendable: it is not used while it is parked, and only one thread takes it back or releases it.
    let decoder: (any ImageDecoder)?
    let targets: [PictureInMaking<Order>]

    init(decoder: (any ImageDecoder)?, targets: [PictureInMaking<Order>]) {
        self.decoder = decoder
        self.targets = targets
    }
}
