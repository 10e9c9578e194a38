import FleetConnections
import NIOCore
import Testing

@Suite struct CircuitTests {
    @Test func fiveFailuresInARowOpenIt() {
        var circuit = Circuit()
        for _ in 0..<4 { #expect(circuit.fail() == .nothing) }
        circuit.succeed()
        for _ in 0..<4 { #expect(circuit.fail() == .nothing) }
        #expect(!circuit.isOpen)
        #expect(circuit.fail() == .probe(after: .seconds(1)))
        #expect(circuit.isOpen)
        // What was on its way fails too, and asks for no second probe.
        #expect(circuit.fail() == .nothing)
    }

    @Test func eachProbeThatFailsDoublesThePauseUpToHalfAMinute() {
        var circuit = Circuit()
        for _ in 0..<5 { _ = circuit.fail() }
        for seconds in [2, 4, 8, 16, 30, 30] as [Int64] {
            #expect(circuit.endProbe(succeeded: false) == .probe(after: .seconds(seconds)))
        }
        circuit.succeed()
        #expect(circuit.isOpen)
        #expect(circuit.endProbe(succeeded: true) == .nothing)
        #expect(!circuit.isOpen)
        // It begins anew: five failures, and a pause of a second.
        for _ in 0..<4 { #expect(circuit.fail() == .nothing) }
        #expect(circuit.fail() == .probe(after: .seconds(1)))
    }
}
