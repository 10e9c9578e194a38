import FleetTesting
import Testing

@testable import ServerImages

@Suite struct MissQueueTests {
    private static let limits = MissQueue.Limits(most: 12, running: 6, runningPerHost: 2)

    /// The numbers of the waiting pictures in the order in which they begin, if the oldest running picture always ends
    /// first.
    private func order(_ queue: HeldQueue, running: [(number: Int, host: String)], hosts: [Int: String]) -> [Int] {
        var running = running
        var begun: [Int] = []
        while !running.isEmpty {
            let turns = queue.leave(running.removeFirst().host)
            begun += turns.map(\.number)
            running += turns.map { ($0.number, hosts[$0.number] ?? "") }
        }
        return begun
    }

    @Test func hostsTakeTurns() {
        let queue = HeldQueue(.init(most: 100, running: 1, runningPerHost: 1))
        var hosts: [Int: String] = [:]
        for (number, host) in "aaaabbc".enumerated() {
            hosts[number] = String(host)
            _ = queue.enter(number, String(host))
        }
        // One picture of each host has begun at once: a host without a running picture may always begin one.
        let begun = order(queue, running: [(0, "a"), (4, "b"), (6, "c")], hosts: hosts)
        #expect(begun == [1, 5, 2, 3])
        #expect(queue.count == 0)
    }

    @Test func aBusyHostHoldsUpNoOther() {
        let queue = HeldQueue(Self.limits)
        for number in 0..<8 {
            let entry = queue.enter(number, "busy")
            #expect(
                entry
                    == (number < 2 ? .begins(.init(number: number, rank: number), dropped: nil) : .waits(dropped: nil)))
        }
        #expect(queue.enter(8, "other") == .begins(.init(number: 8, rank: 0), dropped: nil))
        #expect(queue.running == 3)
        #expect(queue.waiting == 6)
        #expect(queue.ahead(of: "third") == 2)
        #expect(queue.ahead(of: "busy") == 9)
    }

    @Test func aFullQueueTakesThePlaceOfTheHostThatHasMost() {
        let queue = HeldQueue(Self.limits)
        for number in 0..<12 { _ = queue.enter(number, "busy") }
        #expect(queue.isFull)
        #expect(queue.enter(12, "busy") == .refused)
        #expect(queue.enter(13, "a") == .begins(.init(number: 13, rank: 0), dropped: 11))
        #expect(queue.enter(14, "a") == .begins(.init(number: 14, rank: 1), dropped: 10))
        #expect(queue.enter(15, "a") == .waits(dropped: 9))
        #expect(queue.count == 12)
        // No host loses a place to a host that has as many.
        for number in 16..<18 { #expect(queue.enter(number, "a") == .waits(dropped: 24 - number)) }
        #expect(queue.enter(18, "a") == .waits(dropped: 6))
        #expect(queue.enter(19, "a") == .refused)
    }

    @Test func runningRequestsAreNeverDropped() {
        let queue = HeldQueue(.init(most: 2, running: 2, runningPerHost: 2))
        _ = queue.enter(0, "a")
        _ = queue.enter(1, "a")
        #expect(queue.enter(2, "b") == .refused)
    }

    /// Pictures of slow origins once held all places, so that those of other origins were refused.
    @Test func otherHostsBeginBeyondTheLimitIfAllPlacesRun() {
        let queue = HeldQueue(.init(most: 4, running: 6, runningPerHost: 2, beyond: 2))
        for (number, host) in ["a", "a", "b", "b"].enumerated() { _ = queue.enter(number, host) }
        #expect(queue.running == 4 && !queue.isFull)
        #expect(queue.enter(4, "a") == .refused)
        #expect(queue.enter(5, "c") == .begins(.init(number: 5, rank: 0), dropped: nil))
        #expect(queue.enter(6, "c") == .refused)
        #expect(queue.enter(7, "d") == .begins(.init(number: 7, rank: 0), dropped: nil))
        #expect(queue.isFull && queue.enter(8, "e") == .refused)
    }

    @Test func theWaitIsEstimatedFromTheHostsOwnPictures() {
        let queue = HeldQueue(.init(most: 100, running: 6, runningPerHost: 2))
        for number in 0..<5 { _ = queue.enter(number, "a") }
        // Without a finished picture, the time is unknown.
        #expect(queue.time(toMakeNextOf: "a") == 0)
        _ = queue.leave("a", after: 10)
        // Two wait. Two begin every 10 s, and each takes 10 s.
        #expect(queue.time(toMakeNextOf: "a") == 25)
        #expect(queue.newestWaiting(of: "a")?.number == 4)
        #expect(queue.newestWaiting(of: "a")?.time == 20)
        #expect(queue.time(toMakeNextOf: "b") == 0)
        _ = queue.leave("a", after: 0)
        #expect(queue.time(toMakeNextOf: "a") == 18)
        for _ in 0..<3 { _ = queue.leave("a", after: 0) }
        // The times of a host without pictures are forgotten.
        for number in 5..<10 { _ = queue.enter(number, "a") }
        #expect(queue.time(toMakeNextOf: "a") == 0)
    }

    @Test func removedRequestsNeverBegin() {
        let queue = HeldQueue(.init(most: 10, running: 1, runningPerHost: 1))
        for number in 0..<3 { _ = queue.enter(number, "a") }
        #expect(queue.remove(1, "a"))
        #expect(!queue.remove(1, "a"))
        #expect(!queue.remove(0, "a"))
        #expect(queue.leave("a").map(\.number) == [2])
        #expect(queue.leave("a").isEmpty)
        #expect(queue.count == 0)
    }

    /// Random walks: the limits hold, no picture is lost, and no picture waits that could begin.
    @Test(arguments: 0..<20) func randomWalksKeepTheLimits(seed: Int) {
        var random = SeededNumbers(seed: UInt64(seed))
        let limits = MissQueue.Limits(most: 9, running: 4, runningPerHost: 2)
        let queue = HeldQueue(limits)
        var running: [Int: String] = [:]
        var waiting: [Int: String] = [:]
        for number in 0..<2000 {
            let host = "h\(Int.random(in: 0..<5, using: &random))"
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                switch queue.enter(number, host) {
                case .begins(let turn, let dropped):
                    #expect(turn.number == number)
                    #expect(turn.rank == running.values.count { $0 == host })
                    running[number] = host
                    if let dropped { #expect(waiting.removeValue(forKey: dropped) != nil) }
                case .waits(let dropped):
                    waiting[number] = host
                    if let dropped { #expect(waiting.removeValue(forKey: dropped) != nil) }
                case .refused: break
                }
            case 2:
                guard let done = running.min(by: { $0.key < $1.key }) else { continue }
                running[done.key] = nil
                for turn in queue.leave(done.value) {
                    let host = waiting.removeValue(forKey: turn.number)
                    #expect(host != nil)
                    running[turn.number] = host
                }
            default:
                guard let gone = waiting.max(by: { $0.key < $1.key }) else { continue }
                waiting[gone.key] = nil
                #expect(queue.remove(gone.key, gone.value))
            }
            #expect(queue.running == running.count)
            #expect(queue.waiting == waiting.count)
            #expect(queue.count <= limits.most)
            for host in Set(running.values).union(waiting.values) {
                let runs = running.values.count { $0 == host }
                #expect(runs <= limits.runningPerHost)
                let waits = waiting.values.contains(host)
                #expect(!waits || (runs > 0 && (running.count >= limits.running || runs == limits.runningPerHost)))
            }
        }
    }
}

/// A reference type around the queue, so that its mutating methods can be called within `#expect`.
private final class HeldQueue {
    private var queue: MissQueue

    init(_ limits: MissQueue.Limits) { queue = MissQueue(limits) }

    var count: Int { queue.count }
    var running: Int { queue.running }
    var waiting: Int { queue.waiting }
    var isFull: Bool { queue.isFull }

    func ahead(of host: String) -> Int { queue.ahead(of: host) }
    func enter(_ number: Int, _ host: String) -> MissQueue.Entry { queue.enter(number, host) }
    func leave(_ host: String, after stay: Double = 1) -> [MissQueue.Turn] { queue.leave(host, after: stay) }
    func time(toMakeNextOf host: String) -> Double { queue.time(toMakeNextOf: host) }
    func newestWaiting(of host: String) -> (number: Int, time: Double)? { queue.newestWaiting(of: host) }
    func remove(_ number: Int, _ host: String) -> Bool { queue.remove(number, host) }
}
