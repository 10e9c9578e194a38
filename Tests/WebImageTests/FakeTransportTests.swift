import HTTPTypes
import Synchronization
import Testing
import WebImageCore
import WebImageDownload
import WebImageSystem
import WebImageTesting

@Suite(.timeLimit(.minutes(1)))
struct FakeTransportTests {
    static let url = "http://fake.example/a.jpg"
    let body = (0..<1000).map { UInt8($0 % 251) }

    @Test(arguments: [FakeTransport.Delivery.ownThread, .inline])
    func anAnswerComesInOrderAndOnce(delivery: FakeTransport.Delivery) async {
        let transport = FakeTransport(delivery)
        transport.answer(Self.url, .bytes(body, contentType: "image/jpeg").inPieces(of: 400))
        let receiver = Recorder()
        _ = transport.start(TransportRequest(url: Self.url), receiver: receiver)
        await receiver.finished.opened()
        #expect(receiver.calls == ["connect", "head 200 image/jpeg", "400", "400", "200", "done 1000"])
        #expect(receiver.body == body)
        #expect(transport.hits(Self.url) == 1)
        #expect(transport.running == 0)
    }

    @Test func aHeldAnswerTakesNoThreadAndGoesOnWhenItsGateOpens() async {
        let transport = FakeTransport()
        let (head, middle) = (Gate(), Gate())
        transport.answer(Self.url, .bytes(body).held(by: middle, after: 600).held(by: head))
        let (held, free) = (Recorder(), Recorder())
        _ = transport.start(TransportRequest(url: Self.url), receiver: held)
        _ = transport.start(TransportRequest(url: "http://fake.example/other"), receiver: free)
        await free.finished.opened()
        #expect(free.calls.last == "done 0")
        #expect(held.calls == ["connect"])
        head.open()
        await held.batch.opened()
        #expect(held.calls == ["connect", "head 200 application/octet-stream", "600", "batch"])
        middle.open()
        await held.finished.opened()
        #expect(held.body == body)
    }

    @Test func aPausedTransferGivesNothingUntilItIsResumed() {
        let transport = FakeTransport(.inline)
        transport.answer(Self.url, .bytes(body).inPieces(of: 500))
        let receiver = Recorder(pausingAfter: 1)
        let transfer = transport.start(TransportRequest(url: Self.url), receiver: receiver)
        #expect(receiver.calls.suffix(2) == ["500", "batch"])
        transfer.resume()
        #expect(receiver.calls.suffix(2) == ["500", "done 1000"])
    }

    @Test func aCancelledTransferFinishesOnceAndIsCounted() {
        let transport = FakeTransport(.inline)
        transport.answer(Self.url, .bytes(body).held(by: Gate(), after: 100))
        let receiver = Recorder()
        let transfer = transport.start(TransportRequest(url: Self.url), receiver: receiver)
        transfer.cancel()
        transfer.cancel()
        transfer.resume()
        transport.shutDown()
        #expect(receiver.calls.suffix(3) == ["100", "batch", "failed cancelled"])
        #expect(transport.cancels(Self.url) == 1)
    }

    @Test(arguments: [
        ("ftp://fake.example/a", "unsupportedScheme"), ("http:///a", "invalidURL"), ("http://u:p@h/a", "invalidURL"),
        ("http://h/a#b", "invalidURL"), ("http://h/a b", "invalidURL"),
    ])
    func aURLThatCannotBeAskedForIsRefused(url: String, code: String) {
        let transport = FakeTransport(.inline)
        transport.answerAll { _ in .bytes([1]) }
        let receiver = Recorder()
        _ = transport.start(TransportRequest(url: url), receiver: receiver)
        #expect(receiver.calls == ["failed \(code)"])
    }

    @Test func policiesAreAskedOnlyAboutAddressesThatATestHasSet() {
        let transport = FakeTransport(.inline)
        transport.answer(Self.url, .bytes([1]), .bytes([1]).from(address: "10.0.0.1"))
        let receivers = (0..<2).map { _ in
            let receiver = Recorder()
            _ = transport.start(TransportRequest(url: Self.url, addressPolicy: .publicOnly), receiver: receiver)
            return receiver
        }
        #expect(receivers[0].calls.last?.hasPrefix("failed") == false)
        #expect(receivers[1].calls == ["failed addressRefused"])
    }

    /// Such an answer once succeeded without a head, which no server can bring about.
    @Test func anAnswerWithoutAHeadIsAFailure() {
        let transport = FakeTransport(.inline)
        transport.answerAll { _ in FakeAnswer(head: nil, body: [1]) }
        let receiver = Recorder()
        _ = transport.start(TransportRequest(url: Self.url), receiver: receiver)
        #expect(receiver.calls == ["failed connectionLost"])
    }

    @Test func afterTheShutDownEverythingFails() {
        let transport = FakeTransport(.inline)
        let gate = Gate()
        transport.answerAll { [body] _ in .bytes(body).held(by: gate) }
        let (running, late) = (Recorder(), Recorder())
        _ = transport.start(TransportRequest(url: Self.url), receiver: running)
        transport.shutDown()
        _ = transport.start(TransportRequest(url: Self.url), receiver: late)
        gate.open()
        #expect(running.calls == ["connect", "failed shutDown"])
        #expect(late.calls == ["failed shutDown"])
    }

    @Test func answersCanFailMidwayAndComeInTurn() {
        let transport = FakeTransport(.inline)
        transport.answer(Self.url, .bytes(body).failing(after: 300), .failure(.cancelled), .redirect(to: "/b"))
        let receivers = (0..<4).map { _ in Recorder() }
        for receiver in receivers { _ = transport.start(TransportRequest(url: Self.url), receiver: receiver) }
        #expect(receivers[0].calls.suffix(2) == ["300", "failed connectionLost"])
        #expect(receivers[1].calls == ["failed cancelled"])
        #expect(receivers[2].calls.contains("head 302 -"))
        #expect(receivers[3].calls == receivers[2].calls)
    }
}

/// A receiver that records the calls of the transport.
private final class Recorder: TransportReceiver {
    private struct State {
        var calls: [String] = []
        var body: [UInt8] = []
        var pieces = 0
    }

    let finished = Gate()
    let batch = Gate()
    private let state = Guarded(State())
    private let pausingAfter: Int?

    init(pausingAfter: Int? = nil) { self.pausingAfter = pausingAfter }

    var calls: [String] { state.withLock { $0.calls } }
    var body: [UInt8] { state.withLock { $0.body } }

    private func note(_ call: String) { state.withLock { $0.calls.append(call) } }

    func didConnect() { note("connect") }

    func didReceive(head: ResponseHead) { note("head \(head.status) \(head[.contentType] ?? "-")") }

    func didReceive(_ bytes: UnsafeRawBufferPointer) -> TransportFlow {
        state.withLock { state in
            state.calls.append("\(bytes.count)")
            state.body += bytes
            state.pieces += 1
            return state.pieces == pausingAfter ? .pause : .proceed
        }
    }

    func didEndBatch() {
        note("batch")
        batch.open()
    }

    func didFinish(_ result: Result<TransportTimings, WebImageError>) {
        switch result {
        case .success(let timings): note("done \(timings.bodyBytes)")
        case .failure(let error): note("failed \(error.code.name)")
        }
        finished.open()
    }
}
