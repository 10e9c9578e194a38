import WebImageCore
import WebImageSystem

/// A transfer with its callers. It is one object, so that it need not be looked up again.
final class TransferEntry: @unchecked Sendable {
    // Sendable: mutable state is only used under the center's lock.
    let transfer: any Transfer
    /// The log that readers see: the transfer's own, unless there is a decryptor.
    let log: ByteLog
    let request: ResolvedRequest
    /// When it was made, in ``EventOrder``.
    let made = EventOrder.now
    /// Whether the transfer may finish when the downloader is drained.
    var finishesWhenDrained: Bool
    /// Whether other callers may still join the transfer.
    var isInTable = true
    /// Whether the transfer has ended and given up its slot.
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

    /// The highest priority of its callers; nil if there are none.
    var priority: LoadPriority? { priorities.highest }
}
