import FleetConnections
import NIOCore
import Testing

@Suite struct CircuitTests {
    /// A circuit that has just opened.
    private func open() -> Circuit {
        var circuit = Circuit()
        for _ in 0..<5 { _ = circuit.fail() }
        return circuit
    }

    @Test func fiveFailuresInARowOpenTheCircuit() {
        var circuit = Circuit()
        for _ in 0..<4 { #expect(circuit.fail() == .nothing) }
        #expect(circuit.succeed() == .nothing)
        for _ in 0..<4 { #expect(circuit.fail() == .nothing) }
        #expect(!circuit.isOpen)
        #expect(circuit.fail() == .open(probeAfter: .seconds(1)))
        #expect(circuit.isOpen)
        // A command that was already sent fails too. Its failure schedules no second probe.
        #expect(circuit.fail() == .nothing)
    }

    @Test func eachProbeThatFailsDoublesThePauseUpToHalfAMinute() {
        var circuit = open()
        for seconds in [2, 4, 8, 16, 30, 30] as [Int64] {
            #expect(circuit.endProbe(succeeded: false) == .probe(after: .seconds(seconds)))
        }
        #expect(circuit.succeed() == .nothing)
        #expect(circuit.isOpen)
        #expect(circuit.endProbe(succeeded: true) == .nothing)
        #expect(!circuit.isOpen)
    }

    @Test func fiveSuccessesInARowEndTheTrial() {
        var circuit = open()
        _ = circuit.endProbe(succeeded: true)
        for _ in 0..<4 { #expect(circuit.succeed() == .nothing) }
        #expect(circuit.fail() == .nothing)
        for _ in 0..<4 { #expect(circuit.succeed() == .nothing) }
        #expect(circuit.succeed() == .recovered)
        #expect(circuit.succeed() == .nothing)
        // The circuit starts afresh: it opens after five failures, and the first pause is one second.
        for _ in 0..<4 { #expect(circuit.fail() == .nothing) }
        #expect(circuit.fail() == .open(probeAfter: .seconds(1)))
    }

    /// For example a Redis whose memory is full: it answers PING and refuses every other command.
    @Test func aServerThatAnswersProbesOnlyIsAskedLessAndLess() {
        var circuit = open()
        for seconds in [2, 4, 8, 16, 30, 30] as [Int64] {
            #expect(circuit.endProbe(succeeded: true) == .nothing)
            for _ in 0..<4 { #expect(circuit.fail() == .nothing) }
            #expect(circuit.fail() == .probe(after: .seconds(seconds)))
        }
    }
}
