import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImage

@Suite struct ListPreloaderTests {
    @Test func negativeDistancesPreloadNothing() {
        var window = PreloadWindow(ahead: -1, most: -5)
        #expect(window.show(0..<5, of: 100, now: 0).begin.isEmpty)
    }

    /// The largest number, which means all rows, once crashed the process.
    @Test func theLargestDistancePreloadsTheWholeList() {
        var window = PreloadWindow(ahead: .max, most: .max)
        #expect(window.show(2..<5, of: 8, now: 0).begin == [5, 6, 7, 1, 0])
        #expect(window.show(5..<8, of: 8, now: 0.1).begin == [4, 3, 2])
    }

    /// The sums of such numbers once crashed the process.
    @Test func anEndlessListPreloadsAFewRows() {
        var window = PreloadWindow(ahead: 2, most: 4)
        let middle = Int.max / 2
        #expect(window.show(0..<5, of: .max, now: 0).begin == [5, 6])
        #expect(window.show(middle..<middle + 5, of: .max, now: 0.1).begin == (5..<9).map { middle + $0 })
        #expect(window.show(middle..<middle + 5, of: .max, now: 9).begin.isEmpty)
        #expect(window.show(.max - 5 ..< .max, of: .max, now: 9.1).begin.isEmpty)
        let lists = PrefetchProgress(total: .max) + PrefetchProgress(total: 3)
        #expect(lists.total == .max && !lists.isFinished)
    }

    @Test func theNearestRowsComeFirstAndAFewBehind() {
        var window = PreloadWindow(ahead: 8, most: 40)
        #expect(window.show(10..<14, of: 100, now: 0) == .init(begin: Array(14..<22) + [9, 8]))
        #expect(window.show(10..<14, of: 100, now: 1) == .init())
    }

    @Test func theWindowTurnsWithTheListAndCancelsRowsFarAway() {
        var window = PreloadWindow(ahead: 8, most: 8)
        _ = window.show(50..<54, of: 100, now: 0)
        let down = window.show(54..<58, of: 100, now: 1)
        #expect(window.direction == 1)
        #expect(down.begin == [62, 63, 64, 65, 53, 52])
        // Rows 49 and 48, which were loaded behind the visible ones, are too far away now.
        #expect(down.cancel == [48, 49])
        let up = window.show(50..<54, of: 100, now: 2)
        #expect(window.direction == -1)
        #expect(up.begin == [49, 48, 47, 46, 45, 44, 43, 42])
        #expect(up.cancel == Array(56..<66))
    }

    /// A list that shows more or fewer rows was once taken for one that scrolls.
    @Test func aListThatChangesItsSizeStandsStill() {
        var smaller = PreloadWindow(ahead: 20, most: 100)
        _ = smaller.show(40..<60, of: 1000, now: 0)
        _ = smaller.show(40..<50, of: 1000, now: 1)
        #expect(smaller.direction == 1 && smaller.wanted.max() == 69)
        // It still moves in either direction.
        _ = smaller.show(39..<49, of: 1000, now: 1.5)
        #expect(smaller.direction == -1)
        var larger = PreloadWindow(ahead: 20, most: 100)
        _ = larger.show(0..<12, of: 1000, now: 0)
        _ = larger.show(0..<40, of: 1000, now: 0.016)
        #expect(larger.speed == 0 && larger.wanted.max() == 59)
    }

    /// Both ends of a grid move by a whole line, but not at the same time.
    @Test(arguments: [1, -1]) func aGridScrolls(direction: Int) {
        var window = PreloadWindow(ahead: 8, most: 100)
        func show(_ range: Range<Int>, _ time: Double) {
            let range = direction > 0 ? range : 1000 - range.upperBound..<1000 - range.lowerBound
            _ = window.show(range, of: 1000, now: time)
        }
        for (range, time) in [(400..<416, 0), (400..<424, 0.1), (408..<424, 0.2), (408..<432, 0.3), (416..<432, 0.4)] {
            show(range, time)
        }
        #expect(window.direction == direction && abs(abs(window.speed) - 40) < 1)
    }

    @Test func fasterScrollingPreloadsFurtherAhead() {
        var window = PreloadWindow(ahead: 8, most: 40)
        _ = window.show(0..<4, of: 1000, now: 0)
        _ = window.show(8..<12, of: 1000, now: 0.25)
        // At 32 rows a second, the rows of the next second are wanted.
        #expect(window.speed == 32 && window.wanted.max() == 12 + 32 - 1)
        _ = window.show(28..<32, of: 1000, now: 0.35)
        #expect(window.speed > 100 && window.wanted.max() == 32 + 40 - 1)
        // The list stands still.
        let still = window.show(28..<32, of: 1000, now: 1)
        #expect(window.speed == 0 && window.wanted.max() == 32 + 8 - 1 && still.begin.isEmpty)
    }

    @Test(arguments: [(0..<0, 0), (0..<5, 5), (0..<5, 3), (90..<120, 100), (500..<510, 100)])
    func preloadedRowsStayWithinTheList(visible: Range<Int>, count: Int) {
        var window = PreloadWindow(ahead: 8, most: 40)
        let change = window.show(visible, of: count, now: 0)
        #expect(change.begin.allSatisfy { $0 >= 0 && $0 < count && !visible.contains($0) })
        #expect(Set(change.begin).count == change.begin.count)
        #expect(window.clear().count == change.begin.count && window.wanted.isEmpty)
    }

    /// On any way through a list, the wanted rows are those that were begun and not cancelled.
    @Test(arguments: UInt64(1)...10) func aWalkBeginsAndCancelsInPairs(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var window = PreloadWindow(ahead: random.below(20), most: 10 + random.below(60))
        var (alive, now, first) = (Set<Int>(), 0.0, 0)
        for _ in 0..<2000 {
            now += Double(random.below(100)) / 100
            first = max(0, first + random.below(21) - 10)
            let count = 300 + random.below(20)
            let change = window.show(first..<first + 1 + random.below(8), of: count, now: now)
            for index in change.cancel {
                let wasAlive = alive.remove(index) != nil
                #expect(wasAlive)
            }
            for index in change.begin {
                let isNew = alive.insert(index).inserted
                #expect(isNew && index < count)
            }
            #expect(alive == window.wanted && alive.count <= 100)
        }
    }

    /// While a row is begun, another thread may scroll the list away and back, so that the row is begun twice.
    @Test func aRowThatIsBegunTwiceIsCancelledTwice() async throws {
        let prefetcher = ImagePrefetcher(manager: TestBench().manager)
        prefetcher.isPaused = true
        let held = Guarded<ListPreloader?>(nil)
        let preloader = ListPreloader(prefetcher, ahead: 4, most: 4, clock: ManualClock()) { index in
            let list = held.withLock { held in
                defer { held = nil }
                return held
            }
            if let list {
                list.show(50..<55, of: 100)
                list.show(0..<5, of: 100)
            }
            return [ImageRequest("http://rows.test/\(index)")]
        }
        held.withLock { $0 = preloader }
        preloader.show(0..<5, of: 100)
        preloader.stop()
        #expect(prefetcher.runningLists == 0)
    }

    @Test func rowsThatScrolledAwayAreNotLoaded() async throws {
        let folder = try TemporaryFolder()
        let bench = TestBench(disk: folder.path)
        let gate = Gate()
        let png = try Fixture.png(8, 8)
        bench.transport.answerAll { _ in .bytes(png, contentType: "image/png").held(by: gate) }
        let prefetcher = ImagePrefetcher(manager: bench.manager)
        let clock = ManualClock()
        let preloader = ListPreloader(prefetcher, ahead: 8, most: 8, clock: clock) { index in
            [ImageRequest("http://rows.test/\(index)")]
        }
        preloader.show(0..<4, of: 1000)
        #expect(await eventually { bench.transport.running == 3 })
        #expect(Set(bench.transport.requests.map(\.url)) == Set((4..<7).map { "http://rows.test/\($0)" }))
        clock.advance(by: .seconds(10))
        preloader.show(500..<504, of: 1000)
        for index in 4..<7 { #expect(await bench.transport.waitForCancels("http://rows.test/\(index)")) }
        #expect(await bench.transport.waitForHits("http://rows.test/504"))
        gate.open()
        await prefetcher.finished()
        let asked = Set(bench.transport.requests.map(\.url))
        let wanted = (4..<7).map { $0 } + (498..<500).map { $0 } + (504..<512).map { $0 }
        #expect(asked == Set(wanted.map { "http://rows.test/\($0)" }))
        preloader.show(400..<404, of: 1000)
        preloader.stop()
        await prefetcher.finished()
        #expect(preloader.direction == -1)
    }
}
