import Synchronization
import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageSystem

/// The order of waiting work, compared with a list that is searched.
@Suite struct WorkQueueTests {
    /// A naive model of the rules of ``WorkQueue``.
    private struct Model {
        struct Work {
            let number: Int
            let owner: Int?
            let completes: Bool
            var list: Int
            /// The order in which work was added to the end of its list.
            var turn: Int
        }

        var waiting: [Work] = []
        private var passedOver: [Int: Int] = [:]
        private var turn = 0

        static func list(_ priority: LoadPriority, _ completes: Bool) -> Int {
            2 * priority.rawValue + (completes ? 1 : 0)
        }

        mutating func append(_ number: Int, _ priority: LoadPriority, owner: Int?, completes: Bool) {
            turn += 1
            waiting.append(
                Work(
                    number: number, owner: owner, completes: completes, list: Self.list(priority, completes), turn: turn
                ))
        }

        mutating func setPriority(_ priority: LoadPriority, of owner: Int) {
            let mine = waiting.filter { $0.owner == owner }.map(\.number).sorted()
            for number in mine {
                guard let index = waiting.firstIndex(where: { $0.number == number }) else { continue }
                let list = Self.list(priority, waiting[index].completes)
                let old = waiting[index].list
                if list == old { continue }
                turn += 1
                (waiting[index].list, waiting[index].turn) = (list, turn)
                if !waiting.contains(where: { $0.list == old }) { passedOver[old] = 0 }
            }
        }

        mutating func next() -> Int? {
            let lists = Set(waiting.map(\.list)).sorted(by: >)
            let patient = lists.first { passedOver[$0, default: 0] >= WorkQueue.patience }
            guard let chosen = patient ?? lists.first else { return nil }
            for list in lists where list != chosen { passedOver[list, default: 0] += 1 }
            passedOver[chosen] = 0
            let first = waiting.filter { $0.list == chosen }.min { $0.turn < $1.turn }
            waiting.removeAll { $0.number == first?.number }
            return first?.number
        }
    }

    @Test(arguments: [1, 2, 3]) func theQueueAgreesWithAModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let owners = (0..<5).map { _ in Owner() }
        let last = Guarded(-1)
        var (queue, model) = (WorkQueue(), Model())
        var mismatches = 0
        for number in 0..<4000 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4:
                let priority = LoadPriority.allCases[Int.random(in: 0..<LoadPriority.allCases.count, using: &random)]
                let owner =
                    Int.random(in: 0..<3, using: &random) == 0
                    ? nil : Optional(Int.random(in: 0..<owners.count, using: &random))
                let completes = Int.random(in: 0..<4, using: &random) == 0
                queue.append(priority, owner: owner.map { ObjectIdentifier(owners[$0]) }, completes: completes) {
                    last.withLock { $0 = number }
                }
                model.append(number, priority, owner: owner, completes: completes)
            case 4:
                let owner = Int.random(in: 0..<owners.count, using: &random)
                let priority = LoadPriority.allCases[Int.random(in: 0..<LoadPriority.allCases.count, using: &random)]
                queue.setPriority(priority, of: ObjectIdentifier(owners[owner]))
                model.setPriority(priority, of: owner)
            default:
                let work = queue.next()
                work?()
                let number = model.next()
                if (work == nil) != (number == nil) || (number != nil && last.withLock { $0 } != number) {
                    mismatches += 1
                }
            }
            if queue.count != model.waiting.count { mismatches += 1 }
        }
        #expect(mismatches == 0)
        while queue.next() != nil {}
        #expect(queue.isEmpty)
    }

    /// Thousands of pieces of work come and go three times, so that the queue reuses its places after giving some back.
    @Test func placesAreReusedAfterThousandsOfPiecesOfWork() {
        var queue = WorkQueue()
        let owner = Owner()
        let done = Guarded(0)
        func pass(_ count: Int) -> Int {
            for _ in 0..<count {
                queue.append(.normal, owner: ObjectIdentifier(owner), completes: false) { done.withLock { $0 += 1 } }
            }
            let most = queue.placeCount
            while let work = queue.next() { work() }
            return most
        }
        for _ in 0..<3 {
            #expect(pass(3000) == 3000)
            #expect(queue.placeCount == 0)
        }
        #expect(done.withLock { $0 } == 9000 && queue.isEmpty)
        // The places of a small crowd are kept for the next one.
        for count in [WorkQueue.keptPlaces, 10] {
            #expect(pass(count) == WorkQueue.keptPlaces)
            #expect(queue.placeCount == WorkQueue.keptPlaces)
        }
        #expect(pass(WorkQueue.keptPlaces + 1) == WorkQueue.keptPlaces + 1)
        #expect(queue.placeCount == 0 && queue.isEmpty)
    }

    private final class Owner {}
}
