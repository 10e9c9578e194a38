import Testing
import WebImageCore

@testable import WebImageDownload
import WebImageTesting

@Suite struct TransferQueueTests {
    private func drain(_ queue: inout TransferQueue) -> [Int] {
        var started: [Int] = []
        while let id = queue.next() { started.append(id) }
        return started
    }

    @Test func theUrgentGoFirstAndEqualsInOrder() {
        var queue = TransferQueue(limits: .init(total: 1, perHost: 1))
        for (id, priority) in [(1, LoadPriority.low), (2, .normal), (3, .high), (4, .normal), (5, .high)] {
            queue.enqueue(id, host: "h", priority: priority)
        }
        var order: [Int] = []
        while let id = queue.next() {
            order.append(id)
            #expect(queue.next() == nil)
            queue.remove(id)
        }
        #expect(order == [3, 5, 2, 4, 1])
        #expect(queue.waitingCount == 0 && queue.runningCount == 0)
    }

    @Test func theNewestGoesFirstWhenAskedFor() {
        var queue = TransferQueue(limits: .init(total: 1, perHost: 1), order: .lastInFirstOut)
        for id in 1...4 { queue.enqueue(id, host: "h", priority: id == 1 ? .high : .normal) }
        var order: [Int] = []
        while let id = queue.next() {
            order.append(id)
            queue.remove(id)
        }
        #expect(order == [1, 4, 3, 2])
    }

    @Test func aBusyHostDoesNotHoldUpAnother() {
        var queue = TransferQueue(limits: .init(total: 4, perHost: 2))
        for id in 1...5 { queue.enqueue(id, host: "a", priority: .high) }
        queue.enqueue(6, host: "b", priority: .low)
        #expect(drain(&queue) == [1, 2, 6])
        queue.release(1)
        #expect(drain(&queue) == [3])
        #expect(queue.runningCount == 3)
    }

    @Test func slotsAreKeptFreeForTheUrgent() {
        var queue = TransferQueue(limits: .init(total: 3, perHost: 3, reserved: 1))
        for id in 1...5 { queue.enqueue(id, host: "a", priority: .low) }
        #expect(drain(&queue) == [1, 2])
        queue.enqueue(6, host: "a", priority: .normal)
        #expect(drain(&queue) == [6])
        queue.enqueue(7, host: "a", priority: .high)
        #expect(drain(&queue) == [])
        queue.remove(1)
        #expect(drain(&queue) == [7])
        // Transfers 2, 6 and 7 run. Of three slots, those of low priority may have two: 3 starts when 6 ends, and the
        // slot of 7 stays free for the urgent.
        queue.remove(6)
        #expect(drain(&queue) == [3])
        queue.remove(7)
        #expect(drain(&queue) == [])
    }

    @Test func aTransferThatBecomesUrgentGivesItsPlaceToAnother() {
        var queue = TransferQueue(limits: .init(total: 3, perHost: 3, reserved: 1))
        for id in 1...4 { queue.enqueue(id, host: "a", priority: .low) }
        #expect(drain(&queue) == [1, 2])
        queue.setPriority(.high, of: 1)
        #expect(drain(&queue) == [3])
        queue.setPriority(.low, of: 1)
        queue.remove(2)
        #expect(drain(&queue) == [])
        queue.remove(1)
        #expect(drain(&queue) == [4])
    }

    @Test func reservedSlotsLeaveOneToLowPriority() {
        var queue = TransferQueue(limits: .init(total: 1, perHost: 1, reserved: 5))
        queue.enqueue(1, host: "a", priority: .low)
        #expect(drain(&queue) == [1])
    }

    @Test func aChangedPriorityReordersWaitingTransfers() {
        var queue = TransferQueue(limits: .init(total: 1, perHost: 1))
        for id in 1...3 { queue.enqueue(id, host: "h\(id)", priority: .normal) }
        queue.setPriority(.high, of: 3)
        queue.setPriority(.low, of: 1)
        queue.setPriority(.high, of: 99)
        #expect(drain(&queue) == [3])
        queue.remove(3)
        #expect(drain(&queue) == [2])
    }

    @Test func aTransferThatMovesToAnotherHostKeepsItsTurn() {
        var queue = TransferQueue(limits: .init(total: 1, perHost: 1))
        queue.enqueue(1, host: "a", priority: .normal)
        #expect(queue.next() == 1)
        queue.enqueue(2, host: "a", priority: .normal)
        queue.release(1)
        queue.enqueue(1, host: "b", priority: .normal)
        #expect(drain(&queue) == [1])
    }

    /// However many hosts are slow, a host without running transfers does not wait for them.
    @Test func aHostWithoutTransfersMayStartOneBeyondTheLimit() {
        var queue = TransferQueue(limits: .init(total: 4, perHost: 2, spare: 3))
        for id in 0..<8 { queue.enqueue(id, host: "slow \(id / 4)", priority: .normal) }
        #expect(drain(&queue) == [0, 1, 4, 5])
        queue.enqueue(10, host: "quick", priority: .normal)
        queue.enqueue(11, host: "quick", priority: .normal)
        #expect(drain(&queue) == [10])
        // The last spare slot is not given to transfers of low priority, and no transfer starts beyond all limits.
        let asked: [(id: Int, host: String, priority: LoadPriority, starts: Bool)] = [
            (20, "other", .normal, true), (21, "other", .normal, false), (30, "third", .low, true),
            (31, "fourth", .low, false), (32, "fourth", .high, false),
        ]
        for (id, host, priority, starts) in asked {
            let isStarted = queue.start(id, host: host, priority: priority)
            #expect(isStarted == starts, "\(id)")
        }
        #expect(queue.runningCount == 7)
    }

    @Test func aTransferThatCrawlsLeavesItsSlotToAnotherOfItsHost() {
        var queue = TransferQueue(limits: .init(total: 2, perHost: 2, spare: 6))
        for id in 0..<12 { queue.enqueue(id, host: "a", priority: .normal) }
        #expect(drain(&queue) == [0, 1])
        queue.setSlow(true, of: 0)
        queue.setSlow(true, of: 0)
        #expect(drain(&queue) == [2])
        #expect(queue.slowCount == 1)
        // A transfer that is fast again counts again. No other transfer is stopped for it.
        queue.setSlow(false, of: 0)
        #expect(drain(&queue) == [])
        #expect(queue.runningCount == 3)
        queue.remove(2)
        #expect(drain(&queue) == [])
        // However slow a host is, it gets no more than three times its limit of slots.
        for id in [0, 1] { queue.setSlow(true, of: id) }
        #expect(drain(&queue) == [3, 4])
        for id in [3, 4] { queue.setSlow(true, of: id) }
        #expect(drain(&queue) == [5, 6])
        for id in [5, 6] { queue.setSlow(true, of: id) }
        #expect(drain(&queue) == [])
        #expect(queue.runningCount == 6)
        for id in 0..<12 { queue.remove(id) }
        #expect(queue.runningCount == 0 && queue.slowCount == 0 && queue.waitingCount == 0)
    }

    @Test func theNumberOfWaitingTransfersIsLimited() {
        var queue = TransferQueue(limits: .init(total: 1, perHost: 1, waiting: 10))
        queue.enqueue(0, host: "a", priority: .normal)
        #expect(drain(&queue) == [0])
        for id in 1...9 {
            #expect(queue.hasRoom(for: .low) && queue.hasRoom(for: .normal))
            queue.enqueue(id, host: "a", priority: .low)
        }
        #expect(!queue.hasRoom(for: .low) && queue.hasRoom(for: .normal))
        queue.enqueue(10, host: "a", priority: .high)
        #expect(!queue.hasRoom(for: .high))
        queue.remove(3)
        #expect(queue.hasRoom(for: .normal))
    }

    @Test func aSuspendedQueueStartsNothing() {
        var queue = TransferQueue()
        queue.setSuspended(true)
        queue.enqueue(1, host: "a", priority: .normal)
        #expect(queue.next() == nil)
        queue.setSuspended(false)
        #expect(queue.next() == 1)
    }

    @Test func limitsMayChangeWhileItRuns() {
        var queue = TransferQueue(limits: .init(total: 1, perHost: 1))
        for id in 1...4 { queue.enqueue(id, host: "a", priority: .normal) }
        #expect(drain(&queue) == [1])
        queue.setLimits(.init(total: 8, perHost: 3))
        #expect(drain(&queue) == [2, 3])
        queue.setLimits(.init(total: 0, perHost: 0))
        queue.remove(1)
        queue.remove(2)
        #expect(drain(&queue) == [])
        queue.remove(3)
        #expect(drain(&queue) == [4])
    }

    @Test func runningTransfersKeepTheirSlotsWhenTheQueueIsCleared() {
        var queue = TransferQueue(limits: .init(total: 2, perHost: 1))
        for id in 1...5 { queue.enqueue(id, host: "h\(id % 2)", priority: .normal) }
        #expect(drain(&queue) == [1, 2])
        queue.removeAllWaiting()
        #expect(queue.waitingCount == 0 && queue.runningCount == 2)
        queue.remove(1)
        queue.enqueue(6, host: "h1", priority: .normal)
        #expect(drain(&queue) == [6])
    }

    /// A random walk over the queue, compared with a list that is searched from end to end.
    @Test(arguments: [TransferQueue.Order.firstInFirstOut, .lastInFirstOut])
    func theQueueAgreesWithANaiveModel(_ order: TransferQueue.Order) {
        struct Waiting {
            var id: Int
            var host: String
            var priority: LoadPriority
        }
        var random = SeededGenerator(seed: order == .firstInFirstOut ? 1 : 2)
        var queue = TransferQueue(limits: .init(total: 5, perHost: 2), order: order)
        var waiting: [Waiting] = []
        var running: [Int: (host: String, priority: LoadPriority)] = [:]
        /// The number of running transfers that count against a new one of this priority.
        func count(_ host: String? = nil, before priority: LoadPriority) -> Int {
            running.values.count { one in
                (host == nil || one.host == host) && (priority == .veryLow || one.priority > .veryLow)
            }
        }
        var lastID = 0
        for _ in 0..<20_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                lastID += 1
                let one = Waiting(
                    id: lastID, host: "h\(Int.random(in: 0..<5, using: &random))",
                    priority: LoadPriority.allCases.randomElement(using: &random) ?? .normal)
                waiting.append(one)
                queue.enqueue(one.id, host: one.host, priority: one.priority)
            case 4:
                guard let index = waiting.indices.randomElement(using: &random) else { continue }
                waiting[index].priority = LoadPriority.allCases.randomElement(using: &random) ?? .normal
                queue.setPriority(waiting[index].priority, of: waiting[index].id)
            case 5:
                guard let index = waiting.indices.randomElement(using: &random) else { continue }
                queue.remove(waiting.remove(at: index).id)
            case 6, 7:
                guard let id = running.keys.sorted().randomElement(using: &random) else { continue }
                running[id] = nil
                queue.remove(id)
            default:
                let free = waiting.filter { one in count(one.host, before: one.priority) < 2 }
                let best = free.max { left, right in
                    if left.priority != right.priority { return left.priority < right.priority }
                    return order == .firstInFirstOut ? left.id > right.id : left.id < right.id
                }
                let expected = best.flatMap { count(before: $0.priority) < 5 ? $0 : nil }
                #expect(queue.next() == expected?.id)
                if let expected {
                    running[expected.id] = (expected.host, expected.priority)
                    waiting.removeAll { $0.id == expected.id }
                }
            }
            #expect(queue.waitingCount == waiting.count && queue.runningCount == running.count)
        }
    }

    /// A transfer that need not wait may start without being queued. The same transfers start at the same moments as if
    /// all were queued.
    @Test func directStartsHappenWhenQueuedStartsWould() {
        var random = SeededGenerator(seed: 3)
        let limits = TransferQueue.Limits(total: 5, perHost: 3, reserved: 1)
        var (direct, queued) = (TransferQueue(limits: limits), TransferQueue(limits: limits))
        var known: [Int] = []
        var startedAtOnce = 0
        for id in 1...10_000 {
            var (here, there) = ([Int](), [Int]())
            let priority = LoadPriority.allCases.randomElement(using: &random) ?? .normal
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                let host = "h\(Int.random(in: 0..<4, using: &random))"
                known.append(id)
                if direct.start(id, host: host, priority: priority) {
                    here = [id]
                    startedAtOnce += 1
                } else {
                    direct.enqueue(id, host: host, priority: priority)
                }
                queued.enqueue(id, host: host, priority: priority)
            case 3:
                guard let one = known.randomElement(using: &random) else { continue }
                direct.setPriority(priority, of: one)
                queued.setPriority(priority, of: one)
            case 4:
                let isSuspended = Bool.random(using: &random)
                direct.setSuspended(isSuspended)
                queued.setSuspended(isSuspended)
            default:
                guard let index = known.indices.randomElement(using: &random) else { continue }
                let one = known.remove(at: index)
                direct.remove(one)
                queued.remove(one)
            }
            here += drain(&direct)
            there += drain(&queued)
            #expect(here == there)
            #expect(direct.waitingCount == queued.waitingCount && direct.runningCount == queued.runningCount)
        }
        #expect(startedAtOnce > 100)
    }
}
