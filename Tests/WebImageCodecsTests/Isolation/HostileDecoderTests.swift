import HostileCoder
import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageCodecs

/// Attacks by a decoder that an attacker has taken over. Each ends in a typed error within seconds, and the next
/// picture is decoded well.
@Suite(.enabled(if: Workers.areAvailable)) struct HostileDecoderTests {
    private static let isRegistered: Bool = {
        HostileCoder.register()
        return true
    }()

    /// The outcome of an attack, in a process that has decoded nothing else.
    private func outcome(of attack: Attack, limit: Duration = .seconds(2)) throws -> (WebImageError?, PixelBufferSink) {
        #expect(Self.isRegistered)
        let pool = DecoderPool(DecoderIsolation(.all, memory: .mebibytes(512)))
        let end = Guarded<ContinuousClock.Instant?>(nil)
        let options = DecodeOptions { () throws(WebImageError) in
            // The time limit begins when the process has started.
            let end = end.withLock { end in
                end = end ?? (pool.report.state == .unused ? nil : .now + limit)
                return end
            }
            if let end, ContinuousClock.now > end { throw WebImageError(.limitExceeded, "the time is up") }
        }
        let sink = PixelBufferSink()
        let coder = try #require(pool.isolating(HostileCoder()) as? IsolatedCoder)
        let decoder = try coder.makeDecoder(options) { _ in DecodePlan(sink: sink) }
        var failure: WebImageError?
        do throws(WebImageError) {
            let bytes = Array(attack.rawValue.utf8)
            _ = try bytes.withUnsafeBufferPointer { bytes throws(WebImageError) in
                try decoder.push(UnsafeRawBufferPointer(bytes))
            }
            try decoder.finish()
        } catch {
            failure = error
        }
        try expectNextPicture(pool)
        return (failure, sink)
    }

    private func expectNextPicture(_ pool: DecoderPool) throws {
        let file = try #require(SmallPictures.all().first { $0.format == .png })
        let outcome = DecodeOutcome(IsolatedCoder(coder: PNGCoder(), pool: pool), file.bytes)
        #expect(outcome.error == nil && outcome.rows == 20)
    }

    @Test(
        .enabled(if: Workers.areConfined),
        arguments: [
            Attack.readPasswords, .readEnvironment, .createFile, .changeLimits, .makeMemoryFile, .removeFile,
            .executableMemory, .ownPriority, .changeMode, .truncateFile, .signalsToParent,
        ]) func callsThatTheSandboxDeniesFailWithAnError(attack: Attack) throws
    {
        let error = try #require(try outcome(of: attack).0)
        #expect(error.message == "done: errno 13" || error.message == "done: errno 38", "\(error)")
    }

    @Test(
        .enabled(if: Workers.areConfined),
        arguments: [
            Attack.socket, .fork, .execute, .kill, .trace, .readOthersMemory, .ioUring, .unshare, .oldCalls,
            .interrupt,
        ]) func callsThatTheSandboxForbidsEndTheProcess(attack: Attack) throws
    {
        let error = try #require(try outcome(of: attack).0)
        #expect(error.code == .decoderCrashed && error.message.contains("sandbox forbids"), "\(error)")
    }

    @Test(
        .enabled(if: Workers.areConfined),
        arguments: [
            (Attack.crash, "SIGSEGV"), (.abort, "SIGABRT"), (.illegal, "SIG"), (.deepStack, "SIGSEGV"),
            (.exit, "status 0"),
        ]) func aCrashIsAnErrorOfThePicture(attack: Attack, word: String) throws
    {
        let error = try #require(try outcome(of: attack).0)
        #expect(error.code == .decoderCrashed && error.message.contains(word), "\(error)")
    }

    @Test(.enabled(if: Workers.areConfined)) func memoryHasALimit() throws {
        let error = try #require(try outcome(of: .tooMuchMemory, limit: .seconds(60)).0)
        #expect(error.message == "done: limited", "\(error)")
    }

    @Test(arguments: [Attack.spin, .sleep, .stop, .silence, .halfMessage]) func aProcessThatDoesNotAnswerIsEnded(
        attack: Attack
    )
        throws
    {
        let error = try #require(try outcome(of: attack, limit: .milliseconds(200)).0)
        #expect(error.code == .limitExceeded || error.code == .decoderCrashed, "\(error)")
    }

    /// Two decodes that never end hold up no other decode.
    @Test func endlessDecodesHoldUpNoOtherDecode() throws {
        #expect(Self.isRegistered)
        let pool = DecoderPool(.all)
        let isOver = Guarded(false)
        let spinning = (0..<2).map { _ in
            let end = BlockingAnswer<WebImageError?>()
            _ = startThread(named: "spins") {
                let options = DecodeOptions { () throws(WebImageError) in
                    if isOver.withLock({ $0 }) { throw WebImageError(.limitExceeded, "the time is up") }
                }
                let outcome = DecodeOutcome(
                    IsolatedCoder(coder: HostileCoder(), pool: pool), Array(Attack.spin.rawValue.utf8), options)
                end.give(outcome.error)
            }
            return end
        }
        for _ in 0..<5 { try expectNextPicture(pool) }
        isOver.withLock { $0 = true }
        for end in spinning { #expect(end.value()?.code == .limitExceeded) }
        try expectNextPicture(pool)
        #expect(pool.report.ended == 2 && pool.report.crashed == 0)
        pool.shutDown()
    }

    @Test(arguments: [Attack.spin, .sleep, .silence]) func aDecodeEndedByShutdownFailsWithShutDown(attack: Attack)
        throws
    {
        #expect(Self.isRegistered)
        let pool = DecoderPool(.all)
        let options = DecodeOptions {
            if pool.report.running == 1, !pool.processNumbers.isEmpty { pool.shutDown() }
        }
        let coder = IsolatedCoder(coder: HostileCoder(), pool: pool)
        let outcome = DecodeOutcome(coder, Array(attack.rawValue.utf8), options)
        #expect(outcome.error?.code == .shutDown)
        #expect(pool.report.ended == 1 && pool.report.crashed == 0 && pool.report.running == 0)
    }

    @Test(arguments: Attack.allCases.filter { $0.isOfTheProtocol && $0 != .silence && $0 != .halfMessage })
    func violationsOfTheProtocolCountAsCrashes(attack: Attack) throws {
        let (failure, sink) = try outcome(of: attack)
        let error = try #require(failure)
        #expect(error.code == .decoderCrashed, "\(attack): \(error)")
        if let complaint = attack.complaint { #expect("\(error)".contains(complaint), "\(attack): \(error)") }
        #expect(sink.rowsDone == 0 || attack == .secondBegin, "\(attack)")
    }
}
