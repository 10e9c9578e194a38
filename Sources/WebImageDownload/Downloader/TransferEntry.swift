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
    /// Subscribers by priority.
    private var low = 0
    private var normal = 0
    private var high = 0

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

    func add(_ priority: LoadPriority) { change(priority, by: 1) }

    func remove(_ priority: LoadPriority) { change(priority, by: -1) }

    private func change(_ priority: LoadPriority, by count: Int) {
        switch priority {
        case .low: low += count
        case .normal: normal += count
        case .high: high += count
        }
        if let highest = self.priority { transfer.note(highest) }
    }

    /// The highest of its subscribers'; nil when there are none.
    var priority: LoadPriority? {
        if high > 0 { return .high }
        if normal > 0 { return .normal }
        return low > 0 ? .low : nil
    }
}
