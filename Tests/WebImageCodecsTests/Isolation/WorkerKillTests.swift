import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageCodecs

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Workers are killed at random moments. Each picture ends exactly once, the other pictures are right, and no process
/// or file is left over.
@Suite(.serialized, .enabled(if: Workers.areAvailable)) struct WorkerKillTests {
    private static var rounds: Int { getenv("WEBIMAGE_SOAK") == nil ? 30 : 1000 }

    private struct Tally {
        var whole = 0
        var crashed = 0
        var other: [WebImageError] = []
        var wrong = 0
        var isOver = false
    }

    @Test func everyPictureEndsOnceAndNothingIsLeft() throws {
        let files = SmallPictures.all().filter { [.webp, .png, .jpeg].contains($0.format) }
        let expected = try files.map { file in
            let coder = try file.bytes.withUnsafeBytes { bytes in
                try CoderRegistry.standard.coder(for: ImageFormat(sniffing: bytes), prefix: bytes)
            }
            return (bytes: file.bytes, coder: coder, outcome: DecodeOutcome(coder, file.bytes))
        }
        let pool = DecoderPool(.all)
        let tally = Guarded(Tally())
        let ends = (0..<3).map { lane in
            let end = BlockingAnswer<Bool>()
            _ = startThread(named: "decodes") {
                var index = 0
                while !tally.withLock({ $0.isOver }) {
                    index += 1
                    let (bytes, coder, good) = expected[(index + lane) % expected.count]
                    var outcome = DecodeOutcome(IsolatedCoder(coder: coder, pool: pool), bytes, length: { 97 })
                    outcome.faults = outcome.faults.filter { !$0.contains("decoderCrashed") }
                    tally.withLock { tally in
                        switch outcome.error?.code {
                        case nil: tally.whole += 1
                        case .decoderCrashed: tally.crashed += 1
                        default: outcome.error.map { tally.other.append($0) }
                        }
                        if !outcome.faults.isEmpty || (outcome.error == nil && !outcome.hasSamePixels(as: good)) {
                            tally.wrong += 1
                        }
                    }
                }
                end.give(true)
            }
            return end
        }
        let killer = BlockingAnswer<Int>()
        _ = startThread(named: "kills") {
            var (killed, generator) = (Set<Int32>(), SeededGenerator(seed: 8))
            while killed.count < Self.rounds {
                let turns = Int.random(in: 0...400, using: &generator)
                for _ in 0..<turns { sched_yield() }
                // Workers whose end has not been noticed are still listed.
                let alive = pool.processNumbers.filter { !killed.contains($0) }
                if let worker = alive.randomElement(using: &generator) {
                    Self.send(SIGKILL, to: worker)
                    killed.insert(worker)
                }
            }
            tally.withLock { $0.isOver = true }
            killer.give(killed.count)
        }
        #expect(killer.value() == Self.rounds)
        for end in ends { #expect(end.value()) }
        let result = tally.withLock { $0 }
        #expect(result.wrong == 0 && result.other.isEmpty, "\(result.other)")
        #expect(result.whole > 0 && result.crashed <= Self.rounds)
        // Once the last kills have been noticed, the next picture is decoded well.
        for _ in 0..<3
        where DecodeOutcome(IsolatedCoder(coder: expected[0].coder, pool: pool), expected[0].bytes).error != nil {}
        #expect(DecodeOutcome(IsolatedCoder(coder: expected[0].coder, pool: pool), expected[0].bytes).error == nil)
        let numbers = pool.processNumbers
        pool.shutDown()
        let end = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < end, pool.report.running > 0 || numbers.contains(where: { Self.isAvailable($0) }) {
            sched_yield()
        }
        #expect(pool.report.running == 0)
        for number in numbers { #expect(!Self.isAvailable(number), "neither running nor waiting to be reaped") }
    }

    private static func send(_ signal: Int32, to process: pid_t) { _ = kill(process, signal) }

    private static func isAvailable(_ process: pid_t) -> Bool { kill(process, 0) == 0 }
}
