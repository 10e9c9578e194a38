import Testing

@testable import FleetCoordination

/// Many walks through a simulated fleet. Every request is answered. No request gets a version that was purged before
/// the request came. Two servers never believe at the same time that they lead. Where nothing goes wrong, the work is
/// done once.
struct FleetWalkTests {
    @Test func withoutTroubleWorkIsDoneOnce() {
        for seed in 0..<10_000 as Range<UInt64> {
            var walk = FleetWalk(seed: seed, servers: 1 + Int(seed % 5), requests: 1 + Int(seed % 9), .init())
            walk.run()
            #expect(walk.problems.isEmpty && walk.works == 1, "seed \(seed): \(walk.problems), \(walk.works) works")
        }
    }

    @Test(arguments: [
        FleetWalk.Trouble(lostMessages: 50), .init(lostMessages: 100), .init(lostCommands: 20, slowCommands: 20),
        .init(deaths: 2), .init(silentWorkers: 50), .init(lostMessages: 50, purges: 3),
        .init(lostCommands: 10, lostMessages: 50, slowCommands: 10, deaths: 1, purges: 4, silentWorkers: 20),
        .init(lostMessages: 20, deaths: 1, wipes: 2, purges: 3, silentWorkers: 10),
        .init(lostMessages: 20, deaths: 1, purges: 4, setBacks: 2),
    ])
    func everyRequestIsAnsweredRightlyDespiteTrouble(_ trouble: FleetWalk.Trouble) {
        var shared = 0
        for seed in 0..<11_250 as Range<UInt64> {
            var walk = FleetWalk(seed: seed, servers: 2 + Int(seed % 4), requests: 2 + Int(seed % 8), trouble)
            walk.run()
            shared += walk.shared
            #expect(walk.problems.isEmpty, "seed \(seed): \(walk.problems)")
        }
        // Results were shared in many walks: the checks above did apply.
        #expect(shared > 4000)
    }

    /// Each deliberate mistake is noticed by some walk. Otherwise the walks above would prove nothing.
    @Test(arguments: FleetWalk.Flaw.allCases) func walksFindFlaws(_ flaw: FleetWalk.Flaw) {
        let trouble = FleetWalk.Trouble(
            lostCommands: 5, lostMessages: 50, slowCommands: 10, deaths: 1, purges: 4, silentWorkers: 50,
            setBacks: flaw == .trustsTheClock ? 2 : 0)
        let found = (0..<5000 as Range<UInt64>).first { seed in
            var walk = FleetWalk(seed: seed, servers: 4, requests: 8, trouble, flaw)
            walk.run()
            return !walk.problems.isEmpty
        }
        #expect(found != nil)
    }
}
