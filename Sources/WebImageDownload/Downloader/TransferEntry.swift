import WebImageCore

/// A transfer as the downloader keeps it, and who shares it. One object, so that whoever has it need not look it up.
final class TransferEntry: @unchecked Sendable {
    // Sendable: what changes is only touched under the center's lock.
    let transfer: any Transfer
    /// What readers see; the transfer's own unless a decryptor stands between.
    let log: ByteLog
    let request: ResolvedRequest
    /// Whether it may end its work when the downloader is drained.
    var finishesWhenDrained: Bool
    /// Whether others may still join it.
    var isInTable = true
    /// Whether it has ended and given up its slot.
    var isOver = false
    private var priorities = PriorityCounts()

    init(
        transfer: any Transfer, log: ByteLog, request: ResolvedRequest, priority: LoadPriority,
        finishesWhenDrained: Bool
    ) {
        self.transfer = transfer
        self.log = log
        self.request = request
        self.finishesWhenDrained = finishesWhenDrained
        add(priority)
    }

    var id: TransferQueue.ID { transfer.id }

    func add(_ priority: LoadPriority) {
        priorities.add(priority)
        tellTransfer()
    }

    func remove(_ priority: LoadPriority) {
        priorities.remove(priority)
        tellTransfer()
    }

    private func tellTransfer() {
        if let highest = priority { transfer.note(highest) }
    }

    /// The highest of its subscribers'; nil when there are none.
    var priority: LoadPriority? { priorities.highest }
}
