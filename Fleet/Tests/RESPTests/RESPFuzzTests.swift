import FleetTesting
import Foundation
import NIOCore
import RESP
import Testing

@Suite struct RESPFuzzTests {
    private static let rounds = 20_000

    /// A random value of at most this depth, which the parser accepts.
    private func value(_ depth: Int, _ numbers: inout SeededNumbers) -> RESPValue {
        func members(_ numbers: inout SeededNumbers) -> [RESPValue] {
            (0..<Int.random(in: 0...3, using: &numbers)).map { _ in value(depth - 1, &numbers) }
        }
        func bytes(_ numbers: inout SeededNumbers) -> ByteBuffer {
            ByteBuffer(
                bytes: (0..<Int.random(in: 0...12, using: &numbers)).map { _ in
                    UInt8.random(in: 0...255, using: &numbers)
                })
        }
        switch Int.random(in: 0...(depth > 0 ? 12 : 8), using: &numbers) {
        case 0: return .simpleString("OK")
        case 1: return .error("ERR a")
        case 2: return .number(Int64.random(in: .min ... .max, using: &numbers))
        case 3: return .double(Double(Int.random(in: -999...999, using: &numbers)) / 8)
        case 4: return .null
        case 5: return .boolean(Bool.random(using: &numbers))
        case 6: return .bigNumber("123456789012345678901234567890")
        case 7: return .bulkString(bytes(&numbers))
        case 8: return .verbatimString(format: "txt", bytes(&numbers))
        case 9: return .array(members(&numbers))
        case 10: return .set(members(&numbers))
        case 11: return .push(members(&numbers))
        default:
            return .map(
                (0..<Int.random(in: 0...2, using: &numbers)).map { _ in
                    RESPPair(value(depth - 1, &numbers), value(depth - 1, &numbers))
                })
        }
    }

    /// The result of parsing these pieces one after another: the values before the first error, and that error.
    private func outcome(_ pieces: [ArraySlice<UInt8>], _ limits: RESPLimits) -> (
        values: [RESPValue], error: RESPError?
    ) {
        var parser = RESPParser(limits)
        var values: [RESPValue] = []
        do throws(RESPError) {
            for piece in pieces {
                parser.append(ByteBuffer(bytes: piece))
                while let value = try parser.next() { values.append(value) }
            }
            return (values, nil)
        } catch {
            return (values, error)
        }
    }

    private func split(_ bytes: [UInt8], _ numbers: inout SeededNumbers) -> [ArraySlice<UInt8>] {
        var (pieces, rest) = ([ArraySlice<UInt8>](), bytes[...])
        while !rest.isEmpty {
            let length = Int.random(in: 1...max(1, min(rest.count, 9)), using: &numbers)
            pieces.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return pieces
    }

    private func damage(_ bytes: inout [UInt8], _ numbers: inout SeededNumbers) {
        for _ in 0..<Int.random(in: 1...3, using: &numbers) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &numbers)
            switch Int.random(in: 0...4, using: &numbers) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &numbers)
            case 1: bytes.remove(at: place)
            case 2: bytes.removeSubrange(place...)
            case 3: bytes.insert(contentsOf: "99999".utf8, at: place)
            default: bytes[place] = Array("+-:_#,($!=*~>%|?\r\n0".utf8).randomElement(using: &numbers) ?? 0
            }
        }
    }

    /// A parser gives the same result for damaged values in pieces of any size as for the whole. It neither crashes nor
    /// buffers more than it has received.
    @Test func splittingChangesNothingEvenOfDamagedValues() { check(seed: 21) }

    /// The same with random seeds for WEBIMAGE_FUZZ_SECONDS seconds. A failure names its seed.
    @Test(.enabled(if: fuzzSeconds > 0, "only with WEBIMAGE_FUZZ_SECONDS")) func splittingChangesNothingForLong() {
        let (clock, seconds) = (ContinuousClock(), Self.fuzzSeconds)
        let end = clock.now + .seconds(seconds)
        var seeds = 0
        while clock.now < end {
            check(seed: UInt64.random(in: 0 ... .max))
            seeds += 1
        }
        print("RESP: \(seeds * Self.rounds) rounds in \(seconds) s")
    }

    private static let fuzzSeconds =
        ProcessInfo.processInfo.environment["WEBIMAGE_FUZZ_SECONDS"].flatMap { Int($0) } ?? 0

    private func check(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        var limits = RESPLimits()
        (limits.line, limits.string, limits.depth, limits.members, limits.frame) = (256, 4096, 6, 64, 8192)
        var (refused, read) = (0, 0)
        for round in 0..<Self.rounds {
            var buffer = ByteBuffer()
            for _ in 0..<Int.random(in: 1...3, using: &numbers) { RESPWriter.write(value(3, &numbers), to: &buffer) }
            var bytes = Array(buffer.readableBytesView)
            if round % 4 != 0 { damage(&bytes, &numbers) }
            let whole = outcome([bytes[...]], limits)
            let pieces = outcome(split(bytes, &numbers), limits)
            #expect(
                whole.values == pieces.values && whole.error == pieces.error, "seed \(seed), round \(round): \(bytes)")
            if round % 4 == 0 { #expect(whole.error == nil, "seed \(seed), round \(round)") }
            refused += whole.error == nil ? 0 : 1
            read += whole.values.count
        }
        #expect(refused > Self.rounds / 10)
        #expect(read > Self.rounds / 2)
    }
}
