import Testing
import WebImageCore
import WebImageTesting

@testable import WebImageCodecs

/// The host's side of the protocol alone, with a fake worker that sends the packets of a test.
@Suite(.enabled(if: Workers.areAvailable)) struct ImitatedWorkerTests {
    private let header = ImageHeader(format: .png, size: PixelSize(width: 9, height: 7))

    private func outcome(_ packets: [[UInt8]]) throws -> DecodeOutcome {
        DecodeOutcome(try #require(ImitatedWorker.coder(PNGCoder(), saying: packets)), [1, 2, 3])
    }

    private var conversation: [[UInt8]] { ImitatedWorker.conversation(about: header) }

    @Test func aWorkerThatKeepsToTheProtocolGivesAPicture() throws {
        let outcome = try outcome(conversation)
        #expect(outcome.error == nil && outcome.faults.isEmpty && outcome.rows == 7 && outcome.header == header)
    }

    @Test func framesOfAnAnimationAreReceived() throws {
        let header = ImageHeader(format: .webp, size: PixelSize(width: 9, height: 7))
        let packets = ImitatedWorker.conversation(aboutAnimation: header, frames: 3)
        let coder = try #require(ImitatedWorker.coder(WebPCoder(), saying: packets))
        let decoder = try #require(try coder.makeAnimationDecoder(.webp, DecodeOptions()))
        try [UInt8](repeating: 1, count: 3).withUnsafeBytes { try decoder.push($0) }
        #expect(decoder.storedDelays.count == 3)
        for index in 0..<3 { #expect(try decoder.frame(at: index).size == header.size) }
    }

    /// The memory cache would make room for it, and lose all pictures.
    @Test func impossibleWorkingMemoryIsNotBelieved() throws {
        var state = AnimationState()
        state.header = ImageHeader(format: .webp, size: PixelSize(width: 9, height: 7))
        state.newDelays = [.milliseconds(50), .milliseconds(50)]
        state.workingByteCount = 1 << 40
        let packets = [ImitatedWorker.message(.animation, state.wireBytes, 1)]
        let coder = try #require(ImitatedWorker.coder(WebPCoder(), saying: packets))
        let decoder = try #require(try coder.makeAnimationDecoder(.webp, DecodeOptions()))
        try [1].withUnsafeBytes { try decoder.push($0) }
        #expect(decoder.storedDelays.count == 2 && 1...(40 << 20) ~= decoder.workingByteCount)
    }

    /// Memory that the worker has not written must not become a picture.
    @Test func missingRowsAreAnError() throws {
        for missing in [[2], [1, 2], [0, 1, 2], [1]] {
            let packets = conversation.indices.filter { !missing.contains($0) }.map { conversation[$0] }
            let outcome = try outcome(packets)
            #expect(outcome.error?.code == .decoderCrashed, "without \(missing)")
        }
    }

    /// Found by `make fuzz TARGET=wire`: the rows begin too far down and end at the right place.
    @Test func rowsThatBeginTooFarDownAreAnError() throws {
        var packets = conversation
        // Five rows, from row 2 on.
        packets[2].replaceSubrange(8..<24, with: [2, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0])
        let outcome = try outcome(packets)
        #expect(outcome.error?.code == .decoderCrashed && outcome.rows == 0)
    }

    /// Found by `make fuzz TARGET=wire`: the worker claims that only the header was wanted, or ends without asking for
    /// a plan.
    @Test func anEndAtTheHeaderOrWithoutAPlanIsAnError() throws {
        var stopped = StillState()
        stopped.hasStoppedAtHeader = true
        var unplanned = StillState()
        unplanned.header = header
        for (packets, state) in [([conversation[0]], stopped), ([], unplanned)] {
            let end = ImitatedWorker.message(.still, state.wireBytes, 1)
            let outcome = try outcome(packets + [end, end])
            #expect(outcome.error?.code == .decoderCrashed)
        }
    }

    @Test func aConversationThatBreaksOffIsAnError() throws {
        for count in 0..<conversation.count {
            #expect(try outcome(Array(conversation.prefix(count))).error?.code == .decoderCrashed)
        }
    }

    /// A short run of the same fuzz test as `make fuzz TARGET=wire`.
    @Test func anyWordsEndInAPictureOrATypedError() throws {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<1500 {
            var packets = conversation
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<packets.count, using: &generator)
                switch Int.random(in: 0..<5, using: &generator) {
                case 0: packets.remove(at: index)
                case 1: packets.insert(packets[index], at: index)
                case 2: packets[index] += [0, 0, 0]
                default:
                    guard !packets[index].isEmpty else { break }
                    let place = Int.random(in: 0..<packets[index].count, using: &generator)
                    packets[index][place] = UInt8.random(in: 0...255, using: &generator)
                }
                if packets.isEmpty { break }
            }
            let outcome = try outcome(packets)
            let faults = outcome.faults.filter { !$0.contains("decoderCrashed") }
            #expect(faults.isEmpty, "\(faults)")
        }
    }
}
