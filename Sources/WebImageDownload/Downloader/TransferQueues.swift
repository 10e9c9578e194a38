import WebImageCore

/// The slots of a downloader: one queue for transfers over HTTP, and one with the same limits for those of loaders.
/// There are two, because a loader may itself wait for a download of the same downloader, for which there must be a
/// slot.
struct TransferQueues: Sendable {
    typealias ID = TransferQueue.ID

    private var web: TransferQueue
    private var loaders: TransferQueue

    init(limits: TransferQueue.Limits, order: TransferQueue.Order) {
        web = TransferQueue(limits: limits, order: order)
        loaders = web
    }

    var runningCount: Int { web.runningCount + loaders.runningCount }
    var slowCount: Int { web.slowCount + loaders.slowCount }
    var waitingCount: Int { web.waitingCount + loaders.waitingCount }
    var isSuspended: Bool { web.isSuspended }

    mutating func setSlow(_ isSlow: Bool, of id: ID) { change { $0.setSlow(isSlow, of: id) } }

    /// What happens to a new transfer.
    enum Place: Hashable, Sendable { case started, waiting, noRoom }

    /// Starts a new transfer at once, or queues it if there is room.
    mutating func place(_ id: ID, _ request: ResolvedRequest, priority: LoadPriority) -> Place {
        if let url = request.web { return web.place(id, host: url.hostAndPort, priority: priority) }
        return loaders.place(id, host: request.scheme, priority: priority)
    }

    /// Queues a transfer over HTTP again.
    mutating func enqueueAgain(_ id: ID, host: String, priority: LoadPriority) {
        web.enqueue(id, host: host, priority: priority)
    }

    mutating func next() -> ID? { web.next() ?? loaders.next() }
    mutating func release(_ id: ID) { change { $0.release(id) } }
    mutating func remove(_ id: ID) { change { $0.remove(id) } }
    mutating func removeWaiting(_ id: ID) { change { $0.removeWaiting(id) } }
    mutating func removeAllWaiting() { change { $0.removeAllWaiting() } }
    mutating func setPriority(_ priority: LoadPriority, of id: ID) { change { $0.setPriority(priority, of: id) } }
    mutating func setSuspended(_ isSuspended: Bool) { change { $0.setSuspended(isSuspended) } }

    mutating func set(_ limits: TransferQueue.Limits, _ order: TransferQueue.Order) {
        change { queue in
            queue.setLimits(limits)
            queue.order = order
        }
    }

    /// A queue ignores transfers that it does not know.
    private mutating func change(_ change: (inout TransferQueue) -> Void) {
        change(&web)
        change(&loaders)
    }
}

extension TransferQueue {
    fileprivate mutating func place(_ id: ID, host: String, priority: LoadPriority) -> TransferQueues.Place {
        if start(id, host: host, priority: priority) { return .started }
        guard hasRoom(for: priority) else { return .noRoom }
        enqueue(id, host: host, priority: priority)
        return .waiting
    }
}
