import Synchronization
import WebImageCodecs
import WebImageCore
import WebImageDownload

/// What a session waits for: bytes, memory, a turn. It holds no thread meanwhile, and no memory that others need.
extension DecodeSession {
    func resume() {
        pace.meter.ask(at: service.clock.now)
        executor.run(client.priority, for: client.owner) { self.run() }
    }

    /// Vector pictures have threads of their own: what draws them may take as long as it likes.
    private var executor: any WorkExecutor { hold.turn == .takenForVectors ? service.vectorExecutor : service.executor }

    /// Goes on when there are more bytes, or when it is time for a preview that came too soon after the last one:
    /// whichever is first.
    func waitForBytes() {
        layDown()
        if hold.waitsForEnd, !work.isComplete {
            // Whoever looks is still told how far the bytes are.
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
        // Read before: once it is told, another thread goes on with this session.
        let next = pace.previews.next
        let hasResumed = OnceFlag()
        reading.log.whenReadable(after: place) { if hasResumed.raise() { self.resume() } }
        _ = service.clock.schedule(at: next) { if hasResumed.raise() { self.resume() } }
    }

    /// Lets others have the memory while there is nothing to decode.
    func layDown() {
        guard let memory = hold.memory, hold.parked == nil else { return }
        let held = HeldDecode(decoder: work.decoder, targets: work.targets)
        work.decoder = nil
        work.targets = []
        hold.memory = nil
        hold.parked = service.memory.park(memory, client.priority, held)
    }

    /// Goes on with what was laid down. Where somebody else needed the memory it begins anew once all bytes are there: so it
    /// loses its work once at most, however slowly they come.
    func takeUp() {
        guard let parked = hold.parked else { return }
        hold.parked = nil
        guard let share = service.memory.unpark(parked), let held = share.content as? HeldDecode<Client.Order> else {
            hold.waitsForEnd = true
            return restart()
        }
        (hold.memory, work.decoder, work.targets) = (share.amount, held.decoder, held.targets)
    }

    /// Queues for the memory, and then decodes from the log's start. Asked for only now that the decoder is left: the
    /// next run may begin on another thread before this has returned. A session whose bytes are still to come does not
    /// queue: it would take from those who could go on.
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

    /// Queues for a turn among the decodes that cannot be interrupted, and then decodes from the log's start.
    ///
    /// - Returns: false when the turn is there already, and this thread is one that may do it.
    func waitForTurn() -> Bool {
        restart()
        pace.meter.end(at: service.clock.now)
        let (turns, taken) =
            hold.needsVectorTurn ? (service.vectorTurns, LongDecodeTurn.takenForVectors) : (service.longTurns, .taken)
        // Read before: once it is told, another thread goes on with this session.
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

    /// Ends the wait for a turn with an error once those who have the turns have brought nothing to an end for as long as one
    /// of them may take: they are stuck in their libraries, and nobody knows for how long.
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

    /// To be called where nothing else runs it.
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

    /// Ends the session's own hold of memory and turn: whoever has what it held gives it back.
    func handOver() -> HeldShare {
        defer {
            (hold.memory, hold.turn) = (nil, .notNeeded)
            (work.decoder, work.targets) = (nil, [])
        }
        return HeldShare(service: service, memory: hold.memory, turn: hold.turn)
    }
}

/// What a session has taken from the budgets.
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

/// What a decode has made so far, while it waits for bytes.
private final class HeldDecode<Order: PictureOrder>: @unchecked Sendable {
    // Sendable: nobody touches it while it is laid down; whoever takes it up, or releases it, is the only one to have it.
    let decoder: (any ImageDecoder)?
    let targets: [PictureInMaking<Order>]

    init(decoder: (any ImageDecoder)?, targets: [PictureInMaking<Order>]) {
        self.decoder = decoder
        self.targets = targets
    }
}
