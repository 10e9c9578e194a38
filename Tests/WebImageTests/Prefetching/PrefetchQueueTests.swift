import Testing
import WebImageCore
import WebImageTesting

@testable import WebImage

/// The order in which the queue, a value, works through lists.
@Suite struct PrefetchQueueTests {
    private func queue(_ change: (inout PrefetchOptions) -> Void = { _ in }) -> PrefetchQueue {
        var options = PrefetchOptions()
        change(&options)
        return PrefetchQueue(options)
    }

    private func loaded(_ bytes: Int = 10) -> PrefetchedItem.Outcome { .loaded(from: .network, ByteCount(bytes)) }

    @Test func noMoreThanTheWidthRunInTheOrderOfTheLists() {
        var queue = queue { $0.width = 2 }
        let (one, two) = (queue.add(count: 2), queue.add(count: 2))
        #expect(queue.next(now: .zero) == .load(one, index: 0))
        #expect(queue.next(now: .zero) == .load(one, index: 1))
        #expect(queue.next(now: .zero) == .nothing)
        #expect(queue.end(one, index: 1, loaded(), now: .zero)?.finished == 1)
        #expect(queue.next(now: .zero) == .load(two, index: 0))
        #expect(queue.takeEnded(one) == nil)
        #expect(queue.end(one, index: 0, .skipped, now: .zero)?.skipped == 1)
        #expect(queue.takeEnded(one)?.isFinished == true && queue.takeEnded(one) == nil)
        #expect(queue.listCount == 1)
    }

    @Test func aPausedListLetsTheNextOneGoFirst() {
        var queue = queue()
        let (one, two) = (queue.add(count: 1), queue.add(count: 1))
        queue.setPaused(true, one)
        #expect(queue.next(now: .zero) == .load(two, index: 0))
        #expect(queue.next(now: .zero) == .nothing)
        queue.setPaused(false, one)
        queue.isPaused = true
        #expect(queue.next(now: .zero) == .nothing)
        queue.isPaused = false
        #expect(queue.next(now: .zero) == .load(one, index: 0))
    }

    /// Each step once took time proportional to the number of lists, and these lists took minutes.
    @Test func manyShortListsCostAsMuchAsOneLongOne() {
        let count = 200_000
        var queue = queue { $0.width = 1 }
        let paused = (0..<1000).map { _ in queue.add(count: 1) }
        for id in paused { queue.setPaused(true, id) }
        let ids = (0..<count).map { _ in queue.add(count: 1) }
        // In reverse order, so that no list is found at the front of the queue.
        for id in ids[(count / 2)...].reversed() {
            _ = queue.cancel(id)
            _ = queue.takeEnded(id)
        }
        for id in ids[..<(count / 2)] {
            #expect(queue.next(now: .zero) == .load(id, index: 0))
            _ = queue.end(id, index: 0, .skipped, now: .zero)
            _ = queue.takeEnded(id)
        }
        #expect(queue.next(now: .zero) == .nothing && queue.listCount == 1000)
        queue.setPaused(false, paused[7])
        queue.setPaused(false, paused[3])
        #expect(queue.next(now: .zero) == .load(paused[3], index: 0), "it has kept its place")
    }

    @Test func anEmptyListHasEnded() {
        var queue = queue()
        let id = queue.add(count: 0)
        #expect(queue.takeEnded(id) == PrefetchProgress(total: 0))
        #expect(PrefetchProgress(total: 0).fraction == 1)
    }

    @Test func cancellingDropsRunningAndWaitingPictures() {
        var queue = queue { $0.width = 2 }
        let id = queue.add(count: 5)
        _ = queue.next(now: .zero)
        _ = queue.next(now: .zero)
        _ = queue.end(id, index: 0, .failed(.cancelled), now: .zero)
        #expect(queue.cancel(id) == [1])
        #expect(queue.runningCount == 0)
        let end = queue.takeEnded(id)
        #expect(end?.dropped == 4 && end?.failed == 1 && end?.finished == 5)
        // A late end of a dropped picture is not counted again.
        #expect(queue.end(id, index: 1, loaded(), now: .zero) == nil)
    }

    @Test func onePictureCanBeTakenOut() {
        var queue = queue { $0.width = 1 }
        let id = queue.add(count: 4)
        #expect(queue.next(now: .zero) == .load(id, index: 0))
        let cancels = [1, 1, 3, 7, -1].map { queue.cancel(id, index: $0) }
        #expect(cancels == [false, false, false, false, false])
        #expect(queue.progress(of: id)?.dropped == 2)
        let ran = queue.cancel(id, index: 0)
        #expect(ran)
        #expect(queue.next(now: .zero) == .load(id, index: 2))
        #expect(queue.next(now: .zero) == .nothing)
        _ = queue.end(id, index: 2, loaded(), now: .zero)
        #expect(queue.takeEnded(id)?.dropped == 3)
    }

    @Test func aListThatHasUsedUpItsBytesBeginsNothingMore() {
        var queue = queue {
            $0.width = 2
            $0.byteBudget = 100
        }
        let (one, two) = (queue.add(count: 10), queue.add(count: 1))
        _ = (queue.next(now: .zero), queue.next(now: .zero))
        #expect(queue.end(one, index: 0, loaded(99), now: .zero)?.dropped == 0)
        #expect(queue.next(now: .zero) == .load(one, index: 2))
        #expect(queue.end(one, index: 2, loaded(1), now: .zero)?.dropped == 7)
        #expect(queue.takeEnded(one) == nil)
        // The byte budget belongs to one list, so the other list goes on.
        #expect(queue.next(now: .zero) == .load(two, index: 0))
        _ = queue.end(one, index: 1, loaded(50), now: .zero)
        let end = queue.takeEnded(one)
        #expect(end?.bytes == 150 && end?.loaded == 3 && end?.dropped == 7)
    }

    /// They came over the network all the same.
    @Test func bytesOfPicturesThatCouldNotBeKeptCount() {
        var queue = queue { $0.byteBudget = 100 }
        let list = queue.add(count: 10)
        _ = queue.next(now: .zero)
        let failed = PrefetchedItem.Outcome.failed(WebImageError(.cacheMiss, "not kept"))
        let progress = queue.end(list, index: 0, failed, transferred: ByteCount(120), now: .zero)
        #expect(progress?.bytes == 120 && progress?.failed == 1 && progress?.dropped == 9)
    }

    @Test func sumsOfEndlessListsDoNotTrap() {
        var endless = PrefetchProgress(total: .max)
        (endless.loaded, endless.dropped) = (5, .max - 2)
        let sum = endless + endless
        #expect(endless.isFinished && sum.isFinished && sum.total == .max)
    }

    @Test func theRateHoldsOnAverage() {
        var queue = queue {
            $0.width = 1
            $0.bytesPerSecond = 100
        }
        let id = queue.add(count: 4)
        _ = queue.next(now: .zero)
        _ = queue.end(id, index: 0, loaded(50), now: .seconds(1))
        #expect(queue.next(now: .seconds(1)) == .wait(until: .milliseconds(1500)))
        #expect(queue.next(now: .milliseconds(1500)) == .load(id, index: 1))
        // Only bytes from the network count against the rate, and a long wait earns no credit.
        _ = queue.end(id, index: 1, .loaded(from: .tier, 1_000_000), now: .seconds(9))
        #expect(queue.next(now: .seconds(9)) == .load(id, index: 2))
        _ = queue.end(id, index: 2, loaded(100), now: .seconds(9))
        #expect(queue.next(now: .milliseconds(9500)) == .wait(until: .seconds(10)))
    }

    /// After any operations in any order, no picture has begun twice, and the counts add up. No more
    /// pictures run at once than the width allows.
    @Test(arguments: UInt64(1)...20) func aRandomWalkKeepsTheCountsRight(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let width = 1 + random.below(4)
        var queue = queue {
            $0.width = width
            if seed % 3 == 0 { $0.byteBudget = 60 }
            if seed % 4 == 0 { $0.bytesPerSecond = 30 }
        }
        var (now, begun) = (Duration.zero, Set<[Int]>())
        var running: [(id: Int, index: Int)] = []
        var totals: [Int: Int] = [:]
        func checkEnd(_ id: Int) {
            guard let end = queue.takeEnded(id) else { return }
            #expect(end.finished == end.total && end.total == totals[id])
            totals[id] = nil
        }
        for _ in 0..<3000 {
            now += .milliseconds(random.below(200))
            let known = totals.keys.sorted()
            let id = known.isEmpty ? 0 : known[random.below(known.count)]
            switch random.below(12) {
            case 0:
                let count = random.below(12)
                let new = queue.add(count: count)
                totals[new] = count
                checkEnd(new)
            case 1: queue.setPaused(random.below(3) == 0, id)
            case 2: queue.isPaused = random.below(4) == 0
            case 3 where random.below(4) == 0:
                let cancelled = queue.cancel(id)
                #expect(Set(cancelled) == Set(running.filter { $0.id == id }.map(\.index)))
                running.removeAll { $0.id == id }
                checkEnd(id)
            case 4:
                let index = random.below(12)
                let ran = queue.cancel(id, index: index)
                #expect(ran == running.contains { $0 == (id, index) })
                running.removeAll { $0 == (id, index) }
                checkEnd(id)
            case 5...8:
                guard !running.isEmpty else { continue }
                let one = running.remove(at: random.below(running.count))
                let outcomes: [PrefetchedItem.Outcome] = [loaded(), .skipped, .failed(.cancelled)]
                #expect(queue.end(one.id, index: one.index, outcomes[random.below(3)], now: now) != nil)
                checkEnd(one.id)
            default:
                guard case .load(let id, let index) = queue.next(now: now) else { continue }
                #expect(begun.insert([id, index]).inserted)
                running.append((id, index))
            }
            #expect(queue.runningCount == running.count && running.count <= width)
        }
        queue.isPaused = false
        for id in totals.keys.sorted() {
            _ = queue.cancel(id)
            checkEnd(id)
        }
        #expect(totals.isEmpty && queue.listCount == 0)
    }
}
