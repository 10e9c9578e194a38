import FleetCoordination
import ServerGrammar
import Synchronization
import Testing
import WebImage
import WebImageTesting

@testable import ServerImages

@Suite struct MissGateTests {
    @Test func aRequestThatWaitsTooLongTimesOut() async throws {
        // The gate's patience ends when the test opens the clock.
        let clock = Gate()
        let gate = MissGate(
            most: 100, threads: 1, patience: .seconds(10),
            sleep: { _ in
                await clock.opened()
                try Task.checkCancellation()
            })
        var places: [MissGate.Place] = []
        for _ in 0..<18 { places.append(try await gate.enter("slow")) }
        let late = Task { () async -> RequestRefusal? in
            do throws(RequestRefusal) {
                _ = try await gate.enter("slow")
                return nil
            } catch {
                return error
            }
        }
        while gate.waiting == 0 { await Task.yield() }
        clock.open()
        let refusal = await late.value
        #expect(refusal?.status == 503)
        #expect(refusal?.text == "Timeout")
        #expect(gate.waiting == 0)
        for place in places { gate.leave(place, .init(work: 0.01)) }
        #expect(gate.count == 0)
    }

    /// A request that has used up a part of its time elsewhere waits no longer than the rest.
    @Test func aRequestWaitsNoLongerThanItSays() async throws {
        let asked = Mutex<[Duration]>([])
        let gate = MissGate(
            most: 100, threads: 1, patience: .seconds(10),
            sleep: { duration in
                asked.withLock { $0.append(duration) }
                throw CancellationError()
            })
        var places: [MissGate.Place] = []
        for _ in 0..<18 { places.append(try await gate.enter("a")) }
        let waiting = [Duration.seconds(3), .seconds(30)].map { patience in
            Task { try await gate.enter("a", patience: patience) }
        }
        while asked.withLock({ $0.count }) < 2 { await Task.yield() }
        #expect(asked.withLock { $0.sorted() } == [.seconds(3), .seconds(10)])
        for place in places { gate.leave(place, nil) }
        for task in waiting { gate.leave(try await task.value, nil) }
        #expect(gate.count == 0)
    }

    /// What cannot be decoded with some options may be decodable with others.
    @Test(arguments: [(RequestRefusal.SourceFault.broken, false), (.noPicture, true)])
    func theOtherServersLearnWhetherAFailureIsOfTheSource(_ fault: RequestRefusal.SourceFault, isOfSource: Bool) {
        var refusal = RequestRefusal(status: 422, text: "text", kind: .processing, detail: "detail")
        refusal.fault = fault
        let shared = SharedOutcome.shared(.failure(refusal), source: "https://a/b", most: 1000, now: 0)
        #expect(shared?.ofSource == isOfSource)
    }

    /// A momentary answer of an origin, or a file that one server lacks, once kept all servers from the source for a
    /// minute.
    @Test(arguments: [401, 403, 404, 407, 408, 410, 421, 425, 429, 451, 500])
    func theOtherServersLearnOnlyOfLastingRefusals(_ status: Int) throws {
        let refusal = RequestRefusal(
            WebImageError(.badStatus, "status \(status)", status: status), source: "https://a/b")
        #expect(refusal.kind == .download)
        func shared(_ source: String) -> Fleet.Shared? {
            SharedOutcome.shared(.failure(refusal), source: source, most: 1000, now: 0)
        }
        let isMomentary = [401, 407, 408, 421, 425, 429].contains(status)
        #expect(shared("https://a/b")?.life == (isMomentary ? nil : status == 500 ? 5000 : 60_000))
        #expect(shared("local:///b") == nil)
    }

    /// One server with a broken name server made a source fail on all.
    @Test(arguments: [WebImageError.Code.dnsFailed, .connectionRefused, .tlsFailed, .circuitOpen, .firstByteTimeout])
    func theOtherServersTryForThemselvesWhereOneCannotReachTheOrigin(_ code: WebImageError.Code) {
        let refusal = RequestRefusal(WebImageError(code, "text"), source: "https://a/b")
        #expect(refusal.kind == .download && refusal.isSourceDown)
        let shared = SharedOutcome.shared(.failure(refusal), source: "https://a/b", most: 1000, now: 0)
        // Those that waited for the same picture need not wait for the same silence again.
        #expect(shared?.kind == (code == .firstByteTimeout ? .failure : .unshared))
        #expect(shared?.life == 1000 && shared?.ofSource == false)
    }

    @Test func aCancelledRequestLeavesTheQueue() async throws {
        let gate = MissGate(most: 100, threads: 1, patience: .seconds(1000))
        var places: [MissGate.Place] = []
        for _ in 0..<18 { places.append(try await gate.enter("a")) }
        let waiting = Task { try await gate.enter("a") }
        let next = Task { try await gate.enter("a") }
        while gate.waiting < 2 { await Task.yield() }
        waiting.cancel()
        #expect(await waiting.failure == .clientGone)
        gate.leave(places.removeLast(), nil)
        places.append(try await next.value)
        // A picture that begins when the threads have enough work from its host comes after those of other hosts.
        #expect(gate.isLate(places[17]))
        #expect(!gate.isLate(try await gate.enter("b")))
    }

    /// A burst has room. Under a lasting overload, only as many requests are admitted as keep the threads busy.
    @Test(arguments: [(0.0, 4), (0.01, 6), (1.0, 20)])
    func anOverloadKeepsTheQueueShortUntilItIsOver(_ fetch: Double, _ useful: Int) async throws {
        let time = Mutex(ContinuousClock.now)
        let gate = MissGate(most: 20, threads: 2, patience: .seconds(1000), now: { time.withLock { $0 } })
        let spent = MissGate.Spent(work: 0.01, fetch: fetch)
        for _ in 0..<200 { gate.leave(try await gate.enter("a"), spent) }
        var places: [MissGate.Place] = []
        for _ in 0..<20 { places.append(try await gate.enter("a")) }
        // A burst is no overload as long as no picture of it has been made.
        #expect(await Task { try await gate.enter("a") }.failure?.status == 429)
        #expect(!gate.isFull)
        gate.leave(places.removeFirst(), spent)
        places.append(try await gate.enter("a"))
        #expect(await Task { try await gate.enter("a") }.failure?.status == 429)
        #expect(gate.isFull)
        // Requests that were admitted stay. Later ones are admitted again, but fewer at a time than before.
        while gate.count > useful { gate.leave(places.removeFirst(), spent) }
        #expect(await Task { try await gate.enter("a") }.failure?.status == 429)
        gate.leave(places.removeFirst(), spent)
        places.append(try await gate.enter("a"))
        // The overload ends when none is left, some time after the last refusal.
        while !places.isEmpty { gate.leave(places.removeFirst(), spent) }
        for _ in 0..<useful { places.append(try await gate.enter("a")) }
        if useful < 20 { #expect(await Task { try await gate.enter("a") }.failure?.status == 429) }
        while !places.isEmpty { gate.leave(places.removeFirst(), spent) }
        time.withLock { $0 += .seconds(2) }
        #expect(!gate.isFull)
        for _ in 0..<20 { places.append(try await gate.enter("a")) }
        #expect(gate.count == 20)
    }

    /// Requests for a dead origin hold their places for long, which must not count against other hosts.
    @Test func anOverloadOfOneHostDoesNotRefuseOthers() async throws {
        let now = ContinuousClock.now
        let gate = MissGate(most: 20, threads: 2, patience: .seconds(1000), now: { now })
        for _ in 0..<200 { gate.leave(try await gate.enter("fast"), .init(work: 0.01)) }
        var dead: [MissGate.Place] = []
        for _ in 0..<20 { dead.append(try await gate.enter("dead")) }
        gate.leave(dead.removeFirst(), .init(work: 0.01))
        dead.append(try await gate.enter("dead"))
        #expect(await Task { try await gate.enter("dead") }.failure?.status == 429)
        for _ in 0..<6 { gate.leave(dead.removeFirst(), .init(work: 0.01)) }
        // The dead host has more places than the threads can use, and gets no more. Other hosts are admitted.
        #expect(await Task { try await gate.enter("dead") }.failure?.status == 429)
        var others: [MissGate.Place] = []
        for number in 0..<6 { others.append(try await gate.enter("\(number)")) }
        #expect(gate.count == 20)
    }

    /// A host that sends nothing may fill all places while the threads are idle.
    @Test func aHostThatSendsNothingIsNoOverload() async throws {
        let time = Mutex(ContinuousClock.now)
        let gate = MissGate(most: 30, threads: 2, patience: .seconds(1000), now: { time.withLock { $0 } })
        for _ in 0..<200 { gate.leave(try await gate.enter("fast"), .init(work: 0.01)) }
        var dead: [MissGate.Place] = []
        for _ in 0..<20 { dead.append(try await gate.enter("dead")) }
        var waiting = (0..<10).map { _ in Task { try await gate.enter("dead") } }
        while gate.waiting < 10 { await Task.yield() }
        // There is no overload, neither at once nor after the first requests have failed.
        for seconds in [0, 1] {
            time.withLock { $0 += .seconds(seconds) }
            #expect(await Task { try await gate.enter("dead") }.failure?.status == 429)
            #expect(!gate.isFull)
            gate.leave(dead.removeFirst(), nil, hasFailed: true)
            waiting.append(Task { try await gate.enter("dead") })
            while gate.waiting < 10 { await Task.yield() }
        }
        // Other hosts take the places of the dead one, and their pictures are made.
        for number in 0..<10 {
            let place = try await gate.enter("\(number)")
            time.withLock { $0 += .milliseconds(10) }
            gate.leave(place, .init(work: 0.01))
        }
        #expect(!gate.isFull)
        for task in waiting { task.cancel() }
    }

    /// When slow hosts hold even the spare places, other hosts are refused.
    @Test func slowHostsThatHoldAllPlacesFillTheGate() async throws {
        let time = Mutex(ContinuousClock.now)
        let gate = MissGate(most: 4, threads: 2, patience: .seconds(1000), now: { time.withLock { $0 } })
        for number in 0..<68 { _ = try await gate.enter("\(number)") }
        time.withLock { $0 += .seconds(60) }
        #expect(await Task { try await gate.enter("other") }.failure?.status == 429)
        #expect(gate.isFull)
    }

    /// A failed request also tells the gate how long its source is waited for.
    @Test func slowFailuresLetMoreIn() async throws {
        let time = Mutex(ContinuousClock.now)
        let gate = MissGate(most: 20, threads: 2, patience: .seconds(1000), now: { time.withLock { $0 } })
        for _ in 0..<200 { gate.leave(try await gate.enter("a"), .init(work: 0.01)) }
        var places: [MissGate.Place] = []
        for _ in 0..<20 { places.append(try await gate.enter("a")) }
        gate.leave(places.removeFirst(), .init(work: 0.01))
        places.append(try await gate.enter("a"))
        #expect(await Task { try await gate.enter("a") }.failure?.status == 429)
        #expect(gate.isFull)
        time.withLock { $0 += .seconds(5) }
        for _ in 0..<10 { gate.leave(places.removeFirst(), nil, hasFailed: true) }
        for _ in 0..<10 { places.append(try await gate.enter("a")) }
        #expect(gate.count == 20)
    }

    @Test func requestsThatCannotBeInTimeAreRefusedAtOnce() async throws {
        let gate = MissGate(most: 1000, threads: 1, patience: .seconds(10))
        // The gate learns that each picture takes 4 s.
        for _ in 0..<100 { gate.leave(try await gate.enter("a"), .init(work: 4)) }
        for _ in 0..<3 { _ = try await gate.enter("a") }
        let refused = await Task { try await gate.enter("a") }.failure
        #expect(refused?.status == 429)
        #expect(refused?.retryAfter == 12)
        // A picture of another host waits for only one picture of the first host, and can be made in time.
        _ = try await gate.enter("b")
    }

    /// The pictures cost almost no work. They wait for an origin that takes 4 s for each and sends 18 at a time.
    @Test func requestsTooManyForASlowHostAreRefusedAtOnce() async throws {
        let time = Mutex(ContinuousClock.now)
        let gate = MissGate(most: 200, threads: 1, patience: .seconds(10), now: { time.withLock { $0 } })
        let first = try await gate.enter("slow")
        for _ in 0..<17 { _ = try await gate.enter("slow") }
        // A burst, whose duration is not known yet.
        let burst = (0..<40).map { _ in Task { try await gate.enter("slow") } }
        while gate.waiting < 40 { await Task.yield() }
        time.withLock { $0 += .seconds(4) }
        gate.leave(first, .init(work: 0.001, fetch: 4))
        // One begins. Of the others, which have waited for 4 s, nine can be made within 10 s: they begin within 2 s,
        // and each takes 4 s.
        #expect(gate.waiting == 9)
        // New requests may wait for 6 s: there is room for 27.
        let more = (0..<18).map { _ in Task { try await gate.enter("slow") } }
        while gate.waiting < 27 { await Task.yield() }
        let late = await Task { try await gate.enter("slow") }.failure
        #expect(late?.status == 429)
        #expect(late?.retryAfter == 11)
        // This is no overload for other hosts.
        #expect(!gate.isFull)
        _ = try await gate.enter("other")
        for waiter in burst + more { waiter.cancel() }
        var refused = 0
        for waiter in burst where await waiter.failure?.status == 429 { refused += 1 }
        #expect(refused == 30)
    }
}

extension Task where Success: Sendable, Failure == any Error {
    fileprivate var failure: RequestRefusal? {
        get async {
            guard case .failure(let error) = await result else { return nil }
            return error as? RequestRefusal
        }
    }
}

@Suite struct RateLimiterTests {
    /// A clock in seconds that the test moves.
    private final class Clock: Sendable {
        let seconds = Mutex(0.0)
    }

    @Test func theRateLimiterAllowsABurstAndThenTheRate() {
        let clock = Clock()
        let limiter = RateLimiter(perSecond: 2, burst: 3) { clock.seconds.withLock { $0 } }
        #expect((0..<3).allSatisfy { _ in limiter.take("a") == nil })
        #expect(limiter.take("a") == 0.5)
        #expect(limiter.take("b") == nil)
        clock.seconds.withLock { $0 = 0.5 }
        #expect(limiter.take("a") == nil)
        #expect(limiter.take("a") == 0.5)
        // Refused requests do not count.
        clock.seconds.withLock { $0 = 100 }
        #expect((0..<3).allSatisfy { _ in limiter.take("a") == nil })
        #expect(limiter.take("a") != nil)
    }

    @Test func theRateLimiterRemembersFewClients() {
        let limiter = RateLimiter(perSecond: 1, burst: 1, maxClients: 2) { 0 }
        #expect(limiter.take("a") == nil)
        #expect(limiter.take("a") == 1)
        for name in ["b", "c"] { #expect(limiter.take(name) == nil) }
        #expect(limiter.take("a") == 1)
        for name in ["d", "e", "f", "g"] { #expect(limiter.take(name) == nil) }
        #expect(limiter.take("a") == nil)
    }
}
