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
    private var subscribers = SIMD4<Int>.zero

    init(transfer: any Transfer, log: ByteLog, request: ResolvedRequest, priority: LoadPriority) {
        self.transfer = transfer
        self.log = log
        self.request = request
        finishesWhenDrained = request.request.finishesWhenDrained
        add(priority)
    }

    var id: TransferQueue.ID { transfer.id }

    func add(_ priority: LoadPriority) { subscribers[priority.rawValue] += 1 }

    func remove(_ priority: LoadPriority) { subscribers[priority.rawValue] -= 1 }

    /// The highest of its subscribers'; nil when there are none.
    var priority: LoadPriority? {
        LoadPriority.allCases.last { subscribers[$0.rawValue] > 0 }
    }
}
