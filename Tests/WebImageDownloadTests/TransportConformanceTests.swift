import HTTPTypes
import Synchronization
import Testing
import WebImageCore
import WebImageSystem
import WebImageTesting

@testable import WebImageDownload

/// Makes a transport and a server that it can reach, for tests that every transport must pass.
struct TransportFixture: CustomTestStringConvertible, Sendable {
    struct Reach {
        let transport: any HTTPTransport
        /// Sets the server's answer for a path. `Answer.gate` holds it back after `gateOffset` bytes of the body, or
        /// before the head if that is nil.
        let serve: (_ path: String, _ answer: Answer) -> Void
        let url: (_ path: String) -> String
    }

    struct Answer {
        var status = 200
        var body: [UInt8] = []
        var fields: [(name: String, value: String)] = []
        var gate: Gate?
        var gateOffset: Int?
        var cutAfter: Int?
    }

    let testDescription: String
    let make: @Sendable () throws -> Reach

    static let curl = TransportFixture(testDescription: "CurlTransport") {
        let server = try OriginServer()
        return Reach(
            transport: CurlTransport(),
            serve: { path, answer in
                var response = OriginResponse(status: answer.status, headers: answer.fields, body: answer.body)
                if let gate = answer.gate {
                    response = response.with(.hold(gate, at: answer.gateOffset.map { .byte($0) } ?? .beforeHead))
                }
                if let offset = answer.cutAfter { response = response.with(.cut(at: .byte(offset))) }
                server.serve(path, response)
            },
            url: { server.url($0) })
    }

    static func fake(_ delivery: FakeTransport.Delivery) -> TransportFixture {
        TransportFixture(testDescription: "FakeTransport, \(delivery)") {
            let transport = FakeTransport(delivery)
            return Reach(
                transport: transport,
                serve: { path, answer in
                    var fields = HTTPFields()
                    for (name, value) in answer.fields { HTTPField.Name(name).map { fields[$0] = value } }
                    var fake = FakeAnswer.status(answer.status, body: answer.body, headers: fields)
                        .from(address: "127.0.0.1")
                    if let gate = answer.gate { fake = fake.held(by: gate, after: answer.gateOffset) }
                    if let offset = answer.cutAfter {
                        fake = fake.failing(after: offset, with: WebImageError(.truncatedBody, "cut"))
                    }
                    transport.answer("http://fake.test\(path)", fake)
                },
                url: { "http://fake.test\($0)" })
        }
    }

    static let all = [curl, fake(.ownThread), fake(.inline)]
}

/// The promises that every ``HTTPTransport`` must keep.
@Suite struct TransportConformanceTests {
    private func start(
        _ path: String, on reach: TransportFixture.Reach, method: HTTPRequest.Method = .get,
        _ receiver: RecordingReceiver
    ) -> any TransportTransfer {
        reach.transport.start(TransportRequest(url: reach.url(path), method: method), receiver: receiver)
    }

    @Test(arguments: TransportFixture.all)
    func anAnswerComesInOrder(_ fixture: TransportFixture) async throws {
        let reach = try fixture.make()
        let body = pattern(300_000)
        reach.serve("/a", .init(body: body, fields: [("Content-Type", "image/png")]))
        let receiver = RecordingReceiver()
        _ = start("/a", on: reach, receiver)
        let record = await receiver.finish()
        #expect(record.faults == [])
        #expect(record.events.first == "connect" && record.events.last == "finish")
        #expect(record.head?.status == 200)
        #expect(record.head?[.contentType] == "image/png")
        #expect(record.head?[.contentLength] == "300000")
        #expect(record.head?.headers[.contentType] == "image/png")
        #expect(record.head?.remoteAddress == "127.0.0.1")
        #expect(record.body == body)
        #expect(try record.result?.get().bodyBytes == 300_000)
    }

    @Test(arguments: TransportFixture.all)
    func anAnswerWithoutABodyHasAHead(_ fixture: TransportFixture) async throws {
        let reach = try fixture.make()
        reach.serve("/none", .init(status: 204))
        reach.serve("/empty", .init())
        reach.serve("/head", .init(body: [1, 2, 3]))
        for (path, method, status) in [
            ("/none", HTTPRequest.Method.get, 204), ("/empty", .get, 200), ("/head", .head, 200),
        ] {
            let receiver = RecordingReceiver()
            _ = start(path, on: reach, method: method, receiver)
            let record = await receiver.finish()
            #expect(record.faults == [] && record.body == [] && record.result?.name == "ok")
            #expect(record.head?.status == status)
        }
    }

    @Test(arguments: TransportFixture.all)
    func redirectsAndErrorsAreAnswersLikeOthers(_ fixture: TransportFixture) async throws {
        let reach = try fixture.make()
        reach.serve("/moved", .init(status: 302, body: [9], fields: [("Location", "/elsewhere")]))
        reach.serve("/gone", .init(status: 410, body: [8, 8]))
        for (path, status, body) in [("/moved", 302, [9]), ("/gone", 410, [8, 8])] as [(String, Int, [UInt8])] {
            let receiver = RecordingReceiver()
            _ = start(path, on: reach, receiver)
            let record = await receiver.finish()
            #expect(record.faults == [] && record.result?.name == "ok")
            #expect(record.head?.status == status && record.body == body)
        }
    }

    @Test(arguments: TransportFixture.all)
    func theBytesBeforeAFailureArriveFirst(_ fixture: TransportFixture) async throws {
        let reach = try fixture.make()
        reach.serve("/cut", .init(body: pattern(50_000), cutAfter: 20_000))
        let receiver = RecordingReceiver()
        _ = start("/cut", on: reach, receiver)
        let record = await receiver.finish()
        #expect(record.faults == [] && record.result?.name == "truncatedBody")
        #expect(record.body == Array(pattern(50_000)[..<20_000]))
    }

    @Test(arguments: TransportFixture.all)
    func aCodedBodyIsUnpacked(_ fixture: TransportFixture) async throws {
        let reach = try fixture.make()
        let packed = DeflateWriter.gzip(pattern(5000))
        let coding = [("Content-Encoding", "gzip")]
        reach.serve("/whole", .init(body: packed, fields: coding))
        reach.serve("/short", .init(body: Array(packed.dropLast(4)), fields: coding))
        reach.serve("/broken", .init(body: Array(packed.dropFirst(10)), fields: coding))
        reach.serve("/unknown", .init(body: packed, fields: [("Content-Encoding", "utf-8")]))
        for (path, end, body) in [
            ("/whole", "ok", pattern(5000)), ("/short", "truncatedBody", nil), ("/broken", "protocolError", nil),
            ("/unknown", "ok", packed),
        ] {
            let receiver = RecordingReceiver()
            _ = start(path, on: reach, receiver)
            let record = await receiver.finish()
            #expect(record.faults == [] && record.result?.name == end && record.head?.status == 200, "\(path)")
            if let body { #expect(record.body == body && (try? record.result?.get().bodyBytes) == body.count) }
        }
    }

    @Test(arguments: TransportFixture.all)
    func anAddressThatThePolicyRefusesIsNotAsked(_ fixture: TransportFixture) async throws {
        let reach = try fixture.make()
        reach.serve("/a", .init(body: [1]))
        for (policy, end) in [
            (AddressPolicy(name: "not here") { $0 != "127.0.0.1" }, "addressRefused"),
            (AddressPolicy(name: "here") { $0 == "127.0.0.1" }, "ok"),
        ] {
            let receiver = RecordingReceiver()
            let request = TransportRequest(url: reach.url("/a"), addressPolicy: policy)
            _ = reach.transport.start(request, receiver: receiver)
            let record = await receiver.finish()
            #expect(record.faults == [] && record.result?.name == end)
            #expect(record.events.contains("connect") == (end == "ok") && record.body == (end == "ok" ? [1] : []))
        }
    }

    @Test(arguments: TransportFixture.all)
    func aHeadOverTheLimitIsAnError(_ fixture: TransportFixture) async throws {
        let reach = try fixture.make()
        reach.serve("/a", .init(body: [1], fields: [("X-Long", String(repeating: "a", count: 2000))]))
        for (limit, end) in [(ByteCount(1000), "protocolError"), (.kibibytes(4), "ok")] {
            let receiver = RecordingReceiver()
            _ = reach.transport.start(
                TransportRequest(url: reach.url("/a"), headLimit: limit), receiver: receiver)
            let record = await receiver.finish()
            #expect(record.faults == [] && record.result?.name == end && (record.head == nil) == (end != "ok"))
        }
    }

    @Test(arguments: TransportFixture.all)
    func aCancelEndsATransferOnceInEveryPhase(_ fixture: TransportFixture) async throws {
        let reach = try fixture.make()
        let gate = Gate()
        defer { gate.open() }
        reach.serve("/no-head", .init(body: pattern(100), gate: gate))
        reach.serve("/half", .init(body: pattern(50_000), gate: gate, gateOffset: 20_000))
        for (path, count) in [("/no-head", 0), ("/half", 20_000)] {
            let receiver = RecordingReceiver()
            let transfer = start(path, on: reach, receiver)
            await receiver.received(count)
            transfer.cancel()
            transfer.cancel()
            let record = await receiver.finish()
            #expect(record.faults == [] && record.result?.name == "cancelled")
            #expect(record.body.count == count)
            transfer.cancel()
            transfer.resume()
            transfer.pause()
            #expect(receiver.now.events.filter { $0 == "finish" }.count == 1)
        }
    }

    @Test(arguments: TransportFixture.all)
    func aReceiverMayCancelFromACallback(_ fixture: TransportFixture) async throws {
        let reach = try fixture.make()
        reach.serve("/a", .init(body: pattern(3 << 20)))
        let handle = Guarded<(any TransportTransfer)?>(nil)
        let handleIsThere = Gate()
        let receiver = RecordingReceiver { count in
            // A transport that delivers inline passes the first piece before `start` has returned the transfer.
            handle.withLock { $0 }?.cancel()
            return handleIsThere.isOpen ? .proceed : .pause
        }
        let transfer = start("/a", on: reach, receiver)
        handle.withLock { $0 = transfer }
        handleIsThere.open()
        transfer.resume()
        let record = await receiver.finish()
        #expect(record.faults == [] && record.result?.name == "cancelled")
        #expect(record.body.count < 3 << 20)
    }

    @Test(arguments: TransportFixture.all)
    func aPausedTransferStandsUntilItIsResumed(_ fixture: TransportFixture) async throws {
        let reach = try fixture.make()
        let body = pattern(2 << 20)
        reach.serve("/a", .init(body: body))
        let stops = Counter()
        let receiver = RecordingReceiver { count in
            if count > 100_000, stops.value == 0 {
                stops.increment()
                return .pause
            }
            return .proceed
        }
        let transfer = start("/a", on: reach, receiver)
        await receiver.received(100_000)
        let standing = receiver.now
        #expect(standing.body.count < 1 << 20 && standing.result == nil)
        // Another transfer completes meanwhile, so the transport itself is not blocked.
        reach.serve("/b", .init(body: [1]))
        let other = RecordingReceiver()
        _ = start("/b", on: reach, other)
        #expect(await other.finish().body == [1])
        #expect(receiver.now.body.count == standing.body.count)
        transfer.resume()
        let record = await receiver.finish()
        #expect(record.faults == [] && record.body == body && record.result?.name == "ok")
    }

    @Test(arguments: TransportFixture.all)
    func aPauseFromOutsideHoldsToo(_ fixture: TransportFixture) async throws {
        let reach = try fixture.make()
        let gate = Gate()
        reach.serve("/a", .init(body: pattern(50_000), gate: gate, gateOffset: 20_000))
        reach.serve("/b", .init(body: [1]))
        let receiver = RecordingReceiver()
        let transfer = start("/a", on: reach, receiver)
        await receiver.received(20_000)
        transfer.pause()
        gate.open()
        let other = RecordingReceiver()
        _ = start("/b", on: reach, other)
        #expect(await other.finish().body == [1])
        #expect(receiver.now.result == nil)
        transfer.resume()
        #expect(await receiver.finish().body == pattern(50_000))
    }

    @Test(arguments: TransportFixture.all)
    func aShutDownEndsRunningAndLaterTransfers(_ fixture: TransportFixture) async throws {
        let reach = try fixture.make()
        let gate = Gate()
        defer { gate.open() }
        reach.serve("/a", .init(body: pattern(50_000), gate: gate, gateOffset: 20_000))
        let running = RecordingReceiver()
        let transfer = start("/a", on: reach, running)
        await running.received(20_000)
        reach.transport.shutDown()
        reach.transport.shutDown()
        #expect(await running.finish().result?.name == "shutDown")
        let late = RecordingReceiver()
        _ = start("/a", on: reach, late)
        #expect(await late.finish().result?.name == "shutDown")
        #expect(running.now.faults == [] && late.now.faults == [])
        transfer.cancel()
    }

    @Test(arguments: TransportFixture.all)
    func manyTransfersAtOnceAllArrive(_ fixture: TransportFixture) async throws {
        let reach = try fixture.make()
        for index in 0..<40 { reach.serve("/\(index)", .init(body: pattern(5000 + index, seed: UInt64(index)))) }
        let receivers = (0..<40).map { _ in RecordingReceiver() }
        for (index, receiver) in receivers.enumerated() { _ = start("/\(index)", on: reach, receiver) }
        for (index, receiver) in receivers.enumerated() {
            let record = await receiver.finish()
            #expect(record.faults == [] && record.body == pattern(5000 + index, seed: UInt64(index)))
        }
    }
}
